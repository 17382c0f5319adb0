"""A table on disk becomes counts, curves or training columns."""

import numpy as np
import pandas as pd
import pytest

from selfselect import audit
from selfselect.tabular.errors import TableError
from selfselect.tabular.loading import (
    DecisionColumn,
    PeopleColumns,
    ScoreColumn,
    read_for_training,
    read_screening_results,
)
from selfselect.tabular.read import open_table

SCORE = ScoreColumn("s")


@pytest.fixture
def screened(tmp_path):
    """Results of a model for a table of some text."""

    def read(content, model=SCORE, groups=("z",), by=(None,), **columns):
        path = tmp_path / "t.csv"
        path.write_text(content)
        with open_table(path) as table:
            return read_screening_results(table, PeopleColumns("y", groups, **columns), model, None, by)[0]

    return read


@pytest.fixture
def people(tmp_path):
    """People of two groups, the last of whom have none."""
    rng = np.random.default_rng(0)
    n = 10_000
    p = rng.random(n).round(3)
    frame = pd.DataFrame({"y": (rng.random(n) < p).astype(int), "z": rng.choice(["A", "B"], n), "p": p})
    frame["d"] = (p > 0.5).astype(int)
    frame["z"] = frame["z"].where((np.arange(n) < n - 4900) | (p > 0.3))
    frame.to_csv(tmp_path / "people.csv", index=False)
    return frame, tmp_path / "people.csv"


@pytest.mark.parametrize("model", [ScoreColumn("p"), DecisionColumn("d")])
def test_a_table_counts_as_the_frame_does_with_groups_in_the_same_order(people, model):
    frame, path = people
    expected = audit(
        frame["y"], y_pred=frame["d"], sensitive_features=frame["z"], cost=0.7, missing="own_group"
    ).published
    with open_table(path) as table:
        (result,), _ = read_screening_results(table, PeopleColumns("y", ("z",), missing="own_group"), model)
    assert result.groups.tolist() == expected.groups.tolist() == ["A", "B", "(missing)"]
    assert result.table == expected


def test_features_are_all_columns_but_the_label_the_ignored_ones_and_optionally_the_groups(people):
    frame, path = people
    columns = PeopleColumns("y", ("z",), missing="own_group")

    def read(**options):
        with open_table(path) as table:
            return read_for_training(table, columns, **options)

    assert list(read().columns) == ["z", "p", "d"]
    training = read(ignore=["d"], learn_from_groups=False)
    assert list(training.columns) == ["p"]
    assert training.columns["p"].astype(float).tolist() == frame["p"].tolist()
    assert training.y.tolist() == (frame["y"] == 1).tolist()
    assert training.groups.labels.names == ["z"]
    labels = training.groups.labels[training.groups.codes]
    assert labels.tolist() == frame["z"].fillna("(missing)").tolist()


@pytest.mark.parametrize(
    ("content", "columns", "words"),
    [
        ("y,z,x\n", ("y", "z"), "no row"),
        ("y,z,x\n1,a,1\n1,b,2\n", ("y", "z"), "column 'y': all rows have the same value"),
        ("y,z\n1,a\n0,b\n", ("y", "z"), "no column is left to learn from"),
        ("y,z,x\n1,a,1\n0,,2\n", ("y", "z"), "row 3, column 'z': the group is empty"),
        ("y,z,x\n1,a,1\n0,b,2\n", ("y", "y"), "same column 'y'"),
    ],
)
def test_a_table_that_nothing_can_be_learnt_from_is_refused(tmp_path, content, columns, words):
    path = tmp_path / "t.csv"
    path.write_text(content)
    label, group = columns
    with pytest.raises(TableError, match=words), open_table(path) as table:
        read_for_training(table, PeopleColumns(label, (group,)), learn_from_groups=False)


def test_a_group_column_is_named_once():
    with pytest.raises(TableError, match="'z' is named twice"):
        PeopleColumns("y", ("z", "z"))


def test_results_by_each_column_are_those_of_the_column_alone(screened):
    def tables(*groups):
        content = "y,team,sex,s\n1,A,f,0.9\n0,A,m,0.6\n1,B,f,0.2\n"
        return [result.table for result in screened(content, groups=groups, by=groups)]

    assert tables("team", "sex") == tables("team") + tables("sex")


@pytest.mark.parametrize("model", [ScoreColumn("s", 0.5), DecisionColumn("p")])
def test_people_without_a_label_must_not_pass(screened, model):
    (result,) = screened("y,z,s,p\n1,a,0.9,1\n,a,0.2,0\n0,a,0.1,0\n", model, untested=True)
    assert result.counts.unknown.tolist() == [1]
    with pytest.raises(TableError, match="row 3, column 'y': the label is empty, but"):
        screened("y,z,s,p\n1,a,0.9,1\n,a,0.7,1\n0,a,0.1,0\n", model, untested=True)


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ("1,-2", "row 3.*'-2' is negative"),
        ("0,0", "every weight is 0"),
        ("1,1e101", "'1e101' is no weight; other than 0 they lie between 1e-100 and"),
    ],
)
def test_weights_that_are_none_are_refused(screened, weights, words):
    rows = "".join(f"{i},a,0.9,{w}\n" for i, w in enumerate(weights.split(",")))
    with pytest.raises(TableError, match=words):
        screened(f"y,z,s,w\n{rows}", weight="w")
