"""``selfselect train``."""

import numpy as np
import pandas as pd
import pytest

from applicants import run, text_columns, trained
from selfselect import GroupThresholdClassifier
from selfselect.tabular.train import hold_out, load_table_model


def test_several_group_columns_and_a_subsidy_by_combined_name(table, tmp_path):
    options = ("--group", "job", "--missing", "own-group", "--method", "naive", "--subsidy", "A / clerk=0.6")
    said = trained(table, tmp_path / "model.skops", *options)
    assert "A / clerk" in said
    loaded = load_table_model(tmp_path / "model.skops")
    assert loaded.groups == ("z", "job")
    assert loaded.classifier.applies()[("A", "clerk")]
    result = run("predict", tmp_path / "model.skops", table)
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--label", "hird", "--group", "z"), "Did you mean 'hired'"),
        (("--label", "hired", "--group", "hired"), "same column"),
        (("--label", "hired", "--group", "z", "--ignore", "pya"), "Did you mean 'pay'"),
        (("--label", "hired", "--group", "z", "--method", "naive", "--parity", "0.8"), "strategic"),
        (("--label", "hired", "--group", "z", "--subsidy", "Q=0.1"), "'Q' (--subsidy)"),
    ],
)
def test_train_refuses_what_it_cannot_use(table, tmp_path, options, words):
    result = run("train", table, *options, "--cost", "0.7", "--model", tmp_path / "m.skops")
    assert result.exit_code == 2
    assert words in result.output
    assert not (tmp_path / "m.skops").exists()


def train(table, tmp_path, *options):
    return run("train", table, "--label", "hired", "--group", "z", "--model", tmp_path / "m.skops", *options)


def test_a_model_that_passes_nobody_of_a_group_is_not_written_unless_that_is_allowed(table, tmp_path, people):
    options = ("--cost", "0.7", "--method", "thresholds")  # without demands it lets one group in
    result = train(table, tmp_path, *options)
    assert result.exit_code == 1
    assert not (tmp_path / "m.skops").exists()
    test = hold_out(pd.factorize(people["z"], sort=True)[0] * 2 + people["hired"].to_numpy(), 0.3, 0)
    groups = people[test].groupby("z")["hired"].agg(["size", "sum"]).itertuples()
    lines = [
        f"The model passes none of the {n} held-out people of {name!r}, {qualified} of whom are qualified."
        for name, n, qualified in groups
    ]
    assert sum(line in result.output for line in lines) == 2
    assert "--allow-shut-out" in result.output
    allowed = train(table, tmp_path, *options, "--allow-shut-out")
    assert allowed.exit_code == 0
    assert "Warning: The model passes none of" in allowed.output
    assert (tmp_path / "m.skops").exists()


def test_a_model_with_a_threshold_for_each_group_is_saved_and_predicts_by_the_group(table, tmp_path, people):
    options = ("--method", "thresholds", "--max-social-cost", "0")
    trained(table, tmp_path / "model.skops", *options)
    model = load_table_model(tmp_path / "model.skops")
    assert model.classifier.applies().all()
    assert isinstance(model.classifier, GroupThresholdClassifier)
    assert model.classifier.thresholds_.nunique() == 3
    result = run("predict", tmp_path / "model.skops", table, "--output", tmp_path / "out.csv")
    assert result.exit_code == 0, result.output
    features = model.pipeline[:-1].transform(model.frame(text_columns(people)))
    expected = model.classifier.predict(features, sensitive_features=people["z"])
    assert (pd.read_csv(tmp_path / "out.csv")["prediction"] == expected).all()
    path = tmp_path / "new.csv"
    people.assign(z=np.where(people.index % 2, people["z"], "new")).to_csv(path, index=False)
    result = run("predict", tmp_path / "model.skops", path, "--output", tmp_path / "out.csv", "--force")
    assert "'new'. Their score, prediction and applies are left empty" in result.output
    made = pd.read_csv(tmp_path / "out.csv")[["score", "prediction", "applies"]]
    assert made[::2].isna().all(axis=None)
    assert made[1::2].notna().all(axis=None)
    people.drop(columns="z").to_csv(path, index=False)
    assert "there is no column 'z'" in run("predict", tmp_path / "model.skops", path).output


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--method", "naive", "--require", "A", "--cost", "0.99"), "A does not apply (--require)"),
        (("--method", "naive", "--max-social-cost", "0.2", "--cost", "0.99"), "(--max-social-cost)"),
        (("--method", "naive", "--min-selection-rate", "0.9", "--cost", "0.1"), "fewer than 90.0%"),
        (("--method", "strategic", "--require", "A", "--cost", "1", "--margin", "0"), "Condition failed"),
    ],
)
def test_a_model_that_does_not_meet_what_is_asked_of_it_is_not_written(table, tmp_path, options, words):
    result = train(table, tmp_path, *options)
    assert result.exit_code == 1
    assert words in result.output
    assert "No model is written" in result.output
    assert not (tmp_path / "m.skops").exists()


def test_rows_of_a_person_are_held_out_together_and_counted_as_one(table, people, tmp_path):
    pd.concat([people, people.assign(age=people["age"] + 1)]).to_csv(table, index=False)
    said = trained(table, tmp_path / "m.skops", "--method", "naive", "--person", "id")
    assert f"{2 * len(people):,} rows are about {len(people):,} people" in said
    held_out = hold_out(pd.factorize(people["z"], sort=True)[0] * 2 + people["hired"].to_numpy(), 0.3, 0).sum()
    assert f"about {held_out:,} held-out people" in " ".join(said.split())
    assert "id" not in load_table_model(tmp_path / "m.skops").columns
