"""``selfselect train``."""

import json

import numpy as np
import pandas as pd
import pytest

from applicants import run, text_columns, trained
from selfselect import StrategicClassifier
from selfselect.metrics import induced_accuracy, social_cost
from selfselect.tabular.models import load_table_model
from selfselect.tabular.training import hold_out


def test_the_evaluation_that_is_shown_is_on_people_the_model_has_not_seen(table, tmp_path, people):
    said = trained(table, tmp_path / "model.json", "--method", "naive")
    z, y = people["z"], people["hired"]
    test = hold_out(pd.factorize(z, sort=True)[0] * 2 + y.to_numpy(), 0.3, 0)
    assert f"evaluated on {test.sum()} people it has not seen" in said
    model = load_table_model(tmp_path / "model.json")
    score = model.score(text_columns(people))
    applies = model.classifier.applies_to(z[test])
    expected = social_cost(y[test], applies=applies)
    assert f"{100 * expected:.1f}%" in said
    accuracy = induced_accuracy(y[test], score[test] > 0, applies=applies)
    assert abs(float(said.split("induced accuracy")[1].split("%")[0]) - 100 * accuracy) < 0.06


def test_dropping_the_group_hides_its_columns_from_the_model(table, tmp_path):
    def names(*options):
        trained(table, tmp_path / "model.json", "--method", "naive", "--force", *options)
        return {column["name"] for column in json.loads((tmp_path / "model.json").read_text())["columns"]}

    assert "z" in names()
    assert "z" not in names("--drop-group")
    assert "pay" not in names("--ignore", "pay")


def test_several_group_columns_and_a_subsidy_by_combined_name(table, tmp_path):
    options = ("--group", "job", "--missing", "own-group", "--method", "naive", "--subsidy", "A / clerk=0.6")
    said = trained(table, tmp_path / "model.json", *options)
    assert "A / clerk" in said
    loaded = load_table_model(tmp_path / "model.json")
    assert loaded.groups == ("z", "job")
    assert loaded.classifier.applies()[("A", "clerk")]
    result = run("predict", tmp_path / "model.json", table)
    assert result.exit_code == 0, result.output


def test_a_report_of_training_decides_by_training_and_counts_the_held_out(table, tmp_path):
    trained(table, tmp_path / "model.json", "--method", "semi", "--report", tmp_path / "r.html")
    assert "those of other, new people" in (tmp_path / "r.html").read_text()


def test_what_held_out_people_got_of_what_was_promised_is_shown_beside_it(table, tmp_path):
    said = trained(table, tmp_path / "model.json", "--method", "naive", "--cost", "0.1")
    assert "promise" in said.split("\n\n")[0]  # the verdict
    head = next(line for line in said.splitlines() if line.startswith("group"))
    assert head.split()[-5:] == "delivered 95% interval promise kept".split()
    rows = [line for line in said.splitlines() if line.endswith(("yes", "no", "undecided"))]
    assert rows
    alone = trained(table, tmp_path / "model.json", "--method", "naive", "--holdout", "0", "--force")
    assert "promise" not in alone


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--label", "hird", "--group", "z"), "Did you mean 'hired'"),
        (("--label", "hired", "--group", "hired"), "same column"),
        (("--label", "hired", "--group", "z", "--ignore", "pya"), "Did you mean 'pay'"),
        (("--label", "same", "--group", "z"), "all rows have the same value"),
        (("--label", "hired", "--group", "z", "--method", "naive", "--parity", "1"), "strategic"),
        (("--label", "hired", "--group", "z", "--subsidy", "Q=0.1"), "'Q' (--subsidy)"),
        (("--label", "hired", "--group", "z", "--subsidy", "A=0.1", "--subsidy", "A=0.2"), "named twice"),
    ],
)
def test_train_refuses_what_it_cannot_use(table, tmp_path, options, words):
    result = run("train", table, *options, "--cost", "0.7", "--model", tmp_path / "m.json")
    assert result.exit_code == 2
    assert words in result.output
    assert not (tmp_path / "m.json").exists()


def test_a_word_among_numbers_is_named_before_training(people_csv, tmp_path):
    lines = people_csv.read_text().splitlines()
    lines[7] = lines[7].rsplit(",", 1)[0] + ",high"
    people_csv.write_text("\n".join(lines))
    result = run(
        "train", people_csv, "--label", "outcome", "--positive", "hired", "--group", "team", "--cost", "0.5",
        "--model", tmp_path / "m.json",
    )  # fmt: skip
    assert result.exit_code == 2
    assert "'s' holds numbers except in 1 row(s), first 'high' in row 7" in result.output
    assert "--ignore 's'" in result.output


def test_the_tolerance_is_the_classifiers_own_unless_given(table, tmp_path):
    for options, expected in (((), StrategicClassifier().tolerance), (("--tolerance", "0"), 0.0)):
        trained(table, tmp_path / "model.json", "--method", "strategic", "--force", *options)
        assert load_table_model(tmp_path / "model.json").classifier.tolerance == expected


def test_more_groups_than_fit_on_a_screen_are_counted_without_options_that_train_does_not_have(tmp_path):
    rng = np.random.default_rng(0)
    rows = [f"{rng.integers(2)},{i % 60},{rng.normal():.2f}" for i in range(600)]
    path = tmp_path / "people.csv"
    path.write_text("\n".join(["hired,z,x", *rows]))
    said = trained(path, tmp_path / "model.json", "--method", "naive", "--drop-group")
    assert "... and 10 more." in said
    assert "--csv" not in said
