"""``selfselect check``, and the same check before every other command."""

import json

import pandas as pd
import pytest

from applicants import run


@pytest.fixture
def scored(people, tmp_path):
    """A table with a score, as a function of changes to it."""

    def write(**changes):
        path = tmp_path / "scored.csv"
        frame = people.drop(columns=["id", "same"]).assign(score=(people["age"] - 18) / 52)
        frame.assign(**changes).to_csv(path, index=False)
        return path

    return write


WITH_SCORE = ("--label", "hired", "--group", "z", "--score", "score")


def test_problems_are_shown_and_fail(scored, people):
    path = scored(score=(70 - people["age"]) / 52, outcome=people["hired"].map({True: "good", False: "bad"}))
    result = run("check", path, *WITH_SCORE)
    assert result.exit_code == 1
    assert "Pass --lower-passes." in result.output
    assert "--ignore 'outcome'" in result.output
    assert "2 problems were found in scored.csv" in result.output
    settled = run("check", path, *WITH_SCORE, "--lower-passes", "--ignore", "outcome")
    assert settled.exit_code == 0, settled.output
    assert "No problem was found in scored.csv: 900 people, 7 columns." in settled.output


def test_errors_end_a_command_before_it_says_anything_else(scored, people):
    path = scored(z=[f"p{i}" for i in people.index])
    result = run("audit", path, *WITH_SCORE, "--cost", "0.7")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "900 groups" in result.stderr


def test_where_lower_scores_pass_the_audit_is_that_of_the_score_turned_round(scored, people, tmp_path):
    lower = scored(score=people["age"].max() - people["age"])
    options = ("--cost", "0.7", "--label", "hired", "--group", "z", "--score", "score", "--force")
    turned = run("audit", lower, *options, "--threshold", "30", "--lower-passes", "--json", tmp_path / "lower.json")
    assert turned.exit_code == 0, turned.output
    assert "A person passes screening when score < 30.)" in turned.output
    higher = scored(score=people["age"] - people["age"].max())
    plain = run("audit", higher, *options, "--threshold", "-30", "--json", tmp_path / "higher.json")
    assert plain.exit_code == 0
    found, expected = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("lower", "higher"))
    assert found.pop("provenance")["passes"] == "score < 30"
    assert expected.pop("provenance")["passes"] == "score > -30"
    assert found.pop("threshold") == 30
    assert found.pop("lower_passes") is True
    assert expected.pop("threshold") == -30
    assert found == expected


def test_of_more_than_two_labels_those_named_are_qualified_and_all_others_are_not(scored, people, tmp_path):
    ends = people["hired"].map({True: "kept", False: "left"}).where(people.index % 5 > 0, "promoted")
    path = scored(hired=ends)
    unsaid = run("audit", path, *WITH_SCORE, "--cost", "0.7")
    assert unsaid.exit_code == 2
    assert "--positive VALUE" in unsaid.output
    for named in (["promoted"], ["promoted", "kept"]):
        options = [part for value in named for part in ("--positive", value)]
        result = run("audit", path, *WITH_SCORE, *options, "--cost", "0.7", "--json", "-")
        assert "holds 3 values" in result.stderr
        content = json.loads(result.stdout)
        qualified = sum(group["n"] * group["base_rate"] for group in content["groups"])
        assert round(qualified) == ends.isin(named).sum()


def test_repeated_persons_are_a_note_and_copies_of_their_rows_no_problem(people, tmp_path):
    twice = tmp_path / "twice.csv"
    pd.concat([people, people]).to_csv(twice, index=False)
    command = ("check", twice, "--label", "hired", "--group", "z")
    without, told = run(*command), run(*command, "--person", "id")
    assert f"{len(people)} rows are exact copies of another row." in without.output.replace(",", "")
    assert f"Note: {2 * len(people)} rows are about {len(people)} people" in told.output.replace(",", "")
    assert "copies" not in told.output
    assert "'id'" not in told.output.replace("(column 'id')", "")  # it is no feature


def test_rows_that_are_there_twice_are_reported_by_check_audit_and_train(people, tmp_path):
    scored = people.drop(columns="id").assign(score=people["age"] / 70)
    once, twice = tmp_path / "once.csv", tmp_path / "twice.csv"
    scored.to_csv(once, index=False)
    pd.concat([scored, scored[:100]]).to_csv(twice, index=False)
    common = ("--label", "hired", "--group", "z")
    for command in (
        ("check", twice, *common),
        ("audit", twice, *common, "--score", "score", "--cost", "0.7"),
        ("train", twice, *common, "--cost", "0.7", "--method", "naive", "--model", tmp_path / "model.skops"),
    ):
        assert "100 rows are exact copies of another row." in run(*command).output
        command = [once if part == twice else part for part in command]
        assert "copies" not in run(*command, *(["--force"] if command[0] == "train" else [])).output
