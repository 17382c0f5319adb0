"""``selfselect predict``."""

import pandas as pd
import pytest

from applicants import run, trained
from selfselect.tabular.train import load_table_model


@pytest.mark.parametrize("method", ["naive", "semi", "strategic"])
def test_train_then_predict_adds_score_prediction_and_applies(table, tmp_path, people, method):
    model, out = tmp_path / "model.skops", tmp_path / "scored.csv"
    trained(table, model, "--method", method, "--holdout", "0")
    result = run("predict", model, table, "--output", out)
    assert result.exit_code == 0, result.output
    scored = pd.read_csv(out)
    assert list(scored.columns) == [*people.columns, "score", "prediction", "applies"]
    assert ((scored["score"] > 0) == scored["prediction"]).all()
    loaded = load_table_model(model)
    in_sample = loaded.classifier.published_in_sample_
    counted = scored.groupby("z")["prediction"].sum()
    assert counted.to_dict() == dict(zip(in_sample.groups, in_sample.counts.selected, strict=True))
    decided = loaded.classifier.applies()
    assert (scored["applies"] == scored["z"].map(decided)).all()


@pytest.fixture
def naive(table, tmp_path):
    trained(table, tmp_path / "model.skops", "--method", "naive", "--ignore", "same")
    return tmp_path / "model.skops"


def test_groups_that_training_never_saw_are_left_open(naive, tmp_path):
    new = tmp_path / "new.csv"
    new.write_text("id,z,age,job,pay,same\nq,A,30,clerk,20,1\nr,Z,30,clerk,20,1\n")
    result = run("predict", naive, new)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[1].split(",")[-1] in "01"
    assert lines[2].split(",")[-1] == ""
    assert "'Z'" in result.stderr


BROKEN = {
    "empty": (lambda new: new.assign(age=None), "Column 'age' is empty in every row"),
    "nearly empty": (
        lambda new: new.assign(age=new["age"].where(new.index < 30)),
        "of rows, and was in 0.0% of training rows",
    ),
    "cents": (lambda new: new.assign(pay=100 * new["pay"]), "Column 'pay' holds numbers unlike those of training"),
    "thousands": (lambda new: new.assign(pay=new["pay"] / 1000), "instead of"),
    "case": (lambda new: new.assign(job=new["job"].str.upper()), "'CLERK' for 'clerk'"),
    "blanks": (lambda new: new.assign(job=new["job"] + "\u00a0"), "in another way in"),
    "accents": (lambda new: new.assign(job=new["job"].str.replace("e", "\u00e9")), "'cl\u00e9rk' for 'clerk'"),
    "other words": (lambda new: new.assign(job="plumber"), "not known from training in 100.0% of rows: 'plumber'"),
    "groups": (lambda new: new.assign(z=new["z"].str.lower()), "'a' for 'A'"),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_a_column_unlike_that_of_training_is_named_and_with_strict_refused(naive, tmp_path, people, broken):
    spoil, words = BROKEN[broken]
    new, out = tmp_path / "new.csv", tmp_path / "out.csv"
    people.sample(200, random_state=1).to_csv(new, index=False)
    plain = run("predict", naive, new, "--strict", "--output", tmp_path / "plain.csv")
    assert (plain.exit_code, "Warning" in plain.output) == (0, False), plain.output
    spoil(people.sample(200, random_state=1)).to_csv(new, index=False)
    told = run("predict", naive, new, "--output", out)
    assert told.exit_code == 0
    assert words in told.stderr
    refused = run("predict", naive, new, "--strict", "--output", out, "--force")
    assert refused.exit_code == 2
    assert words in refused.output
    assert "prediction 1 means hired = True" in told.stderr


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("z,age,job\nA,30,clerk\n", "no column 'pay', which the model needs"),
        ("z,age,job,pay\nA,30,clerk,20\nA,old,clerk,20\n", "row 3, column 'age': 'old' is not a finite number"),
        ("z,age,job,pay\nA,1e200,clerk,20\n", "row 2, column 'age': '1e200' is too large"),
        ("z,age,job,pay\n,30,clerk,20\n", "row 2, column 'z': the group is empty; fill or drop such rows.\n"),
        ("z,age,job,pay\n", "no row"),
        ("z,age,job,pay,score\nA,30,clerk,20,1\n", "--prefix"),
    ],
)
def test_predict_refuses_a_table_that_does_not_fit_and_says_where(naive, tmp_path, content, words):
    new = tmp_path / "new.csv"
    new.write_text(content)
    result = run("predict", naive, new)
    assert result.exit_code == 2
    assert words in result.output
    assert "--missing" not in result.output  # which predict does not have


def test_predict_writes_no_formulas_but_leaves_numbers_alone(naive, tmp_path):
    new = tmp_path / "new.csv"
    new.write_text('z,age,job,pay,remark\nA,-30,clerk,+20,"=HYPERLINK(""x"")"\n')
    result = run("predict", naive, new)
    assert result.stdout.splitlines()[1].startswith("A,-30,clerk,+20,\"'=HYPERLINK")


def test_a_file_that_is_no_model_is_refused_with_its_name(table, tmp_path):
    result = run("predict", table, table)
    assert result.exit_code == 2
    assert f"{table} is not a skops file" in result.output
    assert run("predict", tmp_path / "nowhere.skops", table).exit_code == 2
