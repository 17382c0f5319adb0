"""``selfselect simulate``."""

import json

import numpy as np
import pandas as pd
import pytest

from applicants import run
from hostile import HOSTILE

PEOPLE = ("--label", "hired", "--group", "z", "--cost", "0.6")


def test_it_shows_who_is_there_round_by_round_and_writes_all_files(table, tmp_path):
    files = [tmp_path / name for name in ("r.html", "r.json", "r.csv")]
    outputs = ("--report", files[0], "--json", files[1], "--csv", files[2])
    result = run("simulate", table, *PEOPLE, "--rounds", "6", "--exploration", "0.05", *outputs)
    assert result.exit_code == 0, result.output
    assert "After 6 rounds" in result.output
    assert "round 1 to 6" in result.output
    frame = pd.read_csv(files[2])
    assert len(frame) == 18
    stored = json.loads(files[1].read_text())["rounds"]
    assert [row["round"] for row in stored] == [1, 2, 3, 4, 5, 6]
    assert [row["share"] for row in stored[-1]["groups"]] == frame["share"].tail(3).tolist()
    assert "Who is still there?" in files[0].read_text()
    again = run("simulate", table, *PEOPLE, "--rounds", "6", "--exploration", "0.05")
    assert again.stdout.splitlines()[:8] == [line for line in result.stdout.splitlines() if "Report" not in line][:8]


def test_costs_of_a_log_go_into_the_rounds(table, tmp_path):
    costs = tmp_path / "costs.json"
    costs.write_text(json.dumps({"costs": {"A": 0.6, "B": 0.7, "C": 0.8}}))
    people = ("--label", "hired", "--group", "z", "--rounds", "2", "--json", "-")
    result = run("simulate", table, *people, "--costs", costs, "--cost-of", "C=0.5", "--subsidy", "A=0.1")
    assert result.exit_code == 0, result.output
    groups = json.loads(result.stdout)["rounds"][0]["groups"]
    assert [row["cost"] for row in groups] == pytest.approx([0.5, 0.7, 0.5])
    missing = run("simulate", table, *people)
    assert (missing.exit_code, "Missing option '--cost'" in missing.stderr) == (2, True)


def test_everybody_gone_in_round_1_is_said_and_is_no_failure(table):
    result = run("simulate", table, "--label", "hired", "--group", "z", "--cost", "1", "--rounds", "5")
    assert result.exit_code == 0
    assert "Nobody applies in round 1" in result.output


def test_options_reach_the_simulation(table):
    plain = run("simulate", table, *PEOPLE, "--rounds", "3").output
    for options in (
        ("--subsidy", "C=0.5"),
        ("--cost-of", "A=1"),
        ("--scale", "0.1"),
        ("--method", "semi"),
        ("--initial", "0.6"),
    ):
        result = run("simulate", table, *PEOPLE, "--rounds", "3", *options)
        assert result.exit_code == 0, result.output
        assert result.output != plain, options
    for options in (("--memory", "0.3"), ("--retrain", "window"), ("--retrain", "weighted", "--exploration", "0.1")):
        assert run("simulate", table, *PEOPLE, "--rounds", "3", *options).exit_code == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--rounds", "0"), "0 is not in the range"),
        (("--exploration", "2"), "--exploration"),
        (("--initial", "0"), "--initial"),
        (("--retrain", "never"), "--retrain"),
        (("--subsidy", "Q=0.1"), "'Q' (--subsidy)"),
        (("--cost-of", "Q=0.1"), "'Q' (--cost-of)"),
        (("--person", "id"), "each row as a person"),
        (("--ignore", "pya"), "Did you mean 'pay'"),
        (("--initial", "0.001"), "too few people to begin"),
        (("--report", "out.txt"), "must end in"),
    ],
)
def test_wrong_options_are_named(table, options, words):
    result = run("simulate", table, *PEOPLE, *options)
    assert result.exit_code == 2
    assert words in result.output


def test_hostile_names_are_shown_as_text(people, tmp_path):
    names = [name for name in HOSTILE if name.strip() and "\x00" not in name and name.isprintable()][:3]
    frame = people.assign(z=people["z"].map(dict(zip("ABC", names, strict=True))))
    path = tmp_path / "hostile.csv"
    frame.to_csv(path, index=False)
    report = tmp_path / "r.html"
    result = run("simulate", path, *PEOPLE, "--rounds", "2", "--report", report)
    assert result.exit_code == 0, result.output
    assert all(char.isprintable() or char == "\n" for char in result.output)
    assert "<img" not in report.read_text()
    assert np.isin(["<script>alert"], [report.read_text()]).sum() == 0
