"""``selfselect frontier``: what it says, writes, and when it fails."""

import json

import numpy as np
import pandas as pd
import pytest

from applicants import run


@pytest.fixture
def scored(tmp_path):
    """Two groups; B applies at a cost of 0.7 only if the threshold is high."""
    rng = np.random.default_rng(0)
    z, score = rng.choice(["A", "B"], 800), rng.random(800).round(3)
    y = rng.random(800) < np.where(z == "A", 0.3 + 0.7 * score, 0.8 * score)
    path = tmp_path / "t.csv"
    rows = [f"{int(a)},{b},{c}" for a, b, c in zip(y, z, score, strict=True)]
    path.write_text("\n".join(["y,z,s", *rows]) + "\n")
    return path


def command(path, *more):
    return ("frontier", path, "--label", "y", "--group", "z", "--score", "s", "--cost", "0.7", *more)


def test_it_recommends_a_threshold_that_the_audit_confirms(scored, tmp_path):
    result = run(*command(scored, "--max-social-cost", "0.3", "--json", tmp_path / "f.json"))
    assert result.exit_code == 0, result.output
    best = json.loads((tmp_path / "f.json").read_text())["recommended"]["one"]
    assert best["met"]
    assert f"{best['threshold']}" in result.stdout.splitlines()[0]
    common = ("audit", scored, "--label", "y", "--group", "z", "--score", "s", "--cost", "0.7", "--json", "-")
    found = json.loads(run(*common, "--threshold", best["threshold"]).stdout)
    for name in ("induced_accuracy", "social_cost", "application_rate"):
        assert found[name] == pytest.approx(best[name])
    assert found["social_cost"] <= 0.3
    assert "unlawful" in result.output


def test_a_limit_that_no_threshold_keeps_ends_with_1_and_what_comes_nearest(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("y,z,s\n" + "1,A,0.9\n0,A,0.4\n" * 20 + "1,B,0.6\n0,B,0.6\n" * 20)
    result = run(*command(path, "--max-social-cost", "0.1"))
    assert result.exit_code == 1
    assert "Condition failed" in result.stderr
    assert "10.0%" in result.stderr


def test_files_hold_both_frontiers_and_a_picture_is_drawn(scored, tmp_path):
    pytest.importorskip("matplotlib")
    names = ("f.json", "f.csv", "f.html", "f.png", "f.svg")
    as_json, as_csv, page, png, svg = (tmp_path / name for name in names)
    result = run(*command(scored, "--json", as_json, "--csv", as_csv, "--report", page, "--figure", png))
    assert result.exit_code == 0, result.output
    assert f"Picture: {png}" in result.output
    made = json.loads(as_json.read_text())
    lines = as_csv.read_text().splitlines()
    assert lines[0].startswith("thresholds,threshold,induced_accuracy,social_cost")
    assert len(lines) == 2 + len(made["one"]) + len(made["per_group"])
    assert lines[1].startswith("now,0.5,")
    assert png.read_bytes().startswith(b"\x89PNG")
    assert page.exists()
    first = run(*command(scored, "--figure", svg))
    assert first.exit_code == 0
    drawn = svg.read_bytes()
    assert run(*command(scored, "--figure", svg)).exit_code == 2  # it exists
    assert run(*command(scored, "--figure", svg, "--force")).exit_code == 0
    assert svg.read_bytes() == drawn  # the same picture, byte for byte
    assert run(*command(scored, "--figure", tmp_path / "f.doc")).exit_code == 2


def test_where_lower_scores_pass_thresholds_are_on_the_scale_of_the_user(scored, tmp_path):
    frame = pd.read_csv(scored)
    frame["s"] = (1 - frame["s"]).round(6)
    risk = tmp_path / "risk.csv"
    frame.to_csv(risk, index=False)
    made = []
    for path, options in ((scored, ()), (risk, ("--lower-passes", "--threshold", "0.5"))):
        out = tmp_path / "o.json"
        assert run(*command(path), *options, "--json", out, "--force").exit_code == 0
        made.append(json.loads(out.read_text()))
    higher, lower = ([point["threshold"] for point in each["one"]] for each in made)
    assert len(higher) == len(lower)
    assert all(0 <= threshold <= 1 for threshold in lower)
    assert lower == pytest.approx([1 - threshold for threshold in higher], abs=0.02)
