"""Counts that a database adds up give what the rows give."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from selfselect import Audit, ThresholdCurves, audit, threshold_frontier
from selfselect.planning import frontier_for
from selfselect.publishing import PublishedStatistics

ROOT = Path(__file__).parents[2]


@pytest.fixture
def loans():
    return pd.read_csv(ROOT / "examples" / "loans.csv")


def of_rows(loans, **options):
    y = loans["repaid"] == "yes"
    return audit(y, score=loans["score"], sensitive_features=loans["region"], cost=0.7, **options)


def test_the_sql_of_the_guide_gives_the_audit_of_the_rows(loans, monkeypatch):
    pytest.importorskip("duckdb")
    monkeypatch.chdir(ROOT / "examples")
    page = (ROOT / "docs" / "guide" / "warehouse.md").read_text()
    scope = {}
    for block in re.findall(r"```\{python\}\n(.*?)```", page, re.DOTALL):
        exec(block, scope)
    expected = of_rows(loans)
    assert scope["result"].to_dict() | {"threshold": 0.5} == expected.to_dict()  # decisions have no threshold
    curves = scope["curves"]
    for threshold in (0.25, 0.5, 0.731):  # of three decimals
        assert curves.at(threshold) == expected.curves.at(threshold)


def test_counts_by_score_give_the_curves_and_frontier_of_the_rows(loans):
    loans["y"] = loans["repaid"] == "yes"
    frame = loans.groupby(["region", "score"])["y"].agg(n="size", positives="sum").reset_index("score")
    curves = ThresholdCurves.from_counts(frame.sample(frac=1, random_state=0))
    expected = of_rows(loans)
    assert curves.to_frame().equals(expected.curves.to_frame())
    audited = Audit.from_counts(curves, cost=0.7)
    assert audited.to_json() == expected.to_json()
    rows = threshold_frontier(loans["y"], loans["score"], sensitive_features=loans["region"], cost=0.7)
    pd.testing.assert_frame_equal(frontier_for(audited).to_frame(), rows.to_frame())


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        ({"n": [1], "positives": [0]}, "lacks column"),
        ({"score": [0.5], "n": [1], "positives": [2]}, r"more positives than people in group\(s\) 'A'"),
        ({"score": [0.5], "n": [-1], "positives": [-2]}, "a negative count"),
        ({"score": [np.inf], "n": [1], "positives": [1]}, "infinite"),
    ],
)
def test_counts_that_cannot_be_are_refused(columns, problem):
    with pytest.raises(ValueError, match=problem):
        ThresholdCurves.from_counts(pd.DataFrame(columns, index=["A"]))


def test_decisions_have_no_threshold():
    table = PublishedStatistics.from_predictions([1, 0], [1, 0])
    with pytest.raises(TypeError, match="threshold belongs to ThresholdCurves"):
        Audit.from_counts(table, cost=0.5, threshold=0.5)
