"""Numbers and sentences, by the table of cases that the page is held to as well (tests/report/test_agreement.py)."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import all_cases
from selfselect import PublishedStatistics, _text
from selfselect import _formats as formats
from selfselect._formats import amount_down, amount_up
from selfselect.auditing import group_names
from selfselect.costs import Terms
from selfselect.outcomes import BoundedOutcome, Outcome
from selfselect.report.sentences import words
from selfselect.statistics import LowerBound, Precision


def as_outcome(numbers):
    return (BoundedOutcome if "untested" in numbers else Outcome)(**numbers)


@pytest.mark.parametrize(("name", "arguments", "options", "text"), all_cases())
def test_the_library_says_what_the_table_of_cases_expects(name, arguments, options, text):
    function = getattr(formats, name, None) or getattr(words, name, None) or getattr(_text, name)
    arguments = [as_outcome(value) if isinstance(value, dict) else value for value in arguments]
    assert function(*arguments, **options) == text


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        (pd.Index(["A", "B"]), ["A", "B"]),
        (pd.Index([False, True]), ["False", "True"]),
        (pd.Index([1, 2.5]), ["1.0", "2.5"]),
        (pd.MultiIndex.from_tuples([("A", 1), ("B", 2)]), ["A / 1", "B / 2"]),
        (pd.MultiIndex.from_tuples([("a / b", "c"), ("a", "b / c")]), ['["a / b", "c"]', '["a", "b / c"]']),
    ],
)
def test_groups_of_any_kind_have_distinct_names(labels, names):
    assert group_names(labels) == names


@given(
    hits=st.integers(1, 200),
    selected=st.integers(1, 200),
    cost=st.floats(0.001, 1) | st.integers(1, 1000).map(lambda thousandths: thousandths / 1000),
    paid=st.integers(0, 300).map(lambda thousandths: thousandths / 1000),
    kind=st.sampled_from(["additive", "proportional"]),
    statistic=st.sampled_from([Precision(), LowerBound(0.5), LowerBound(0.9), LowerBound(0.999)]),
)
def test_what_a_sentence_promises_is_true_after_rounding(hits, selected, cost, paid, kind, statistic):
    hits, paid = min(hits, selected), min(paid, cost)
    frame = pd.DataFrame(
        {"n": [400], "positives": [200], "selected": [selected], "true_positives": [hits]}, index=["B"]
    )
    published, terms = PublishedStatistics.from_counts(frame), Terms(cost, {"B": paid}, kind, statistic=statistic)
    if published.decisions(terms).iloc[0]:
        return
    limit = terms.max_accepted_cost(published.groups, published.counts)
    needed = float(terms.further_subsidy(published.groups, limit)[0])
    for promised in (needed, float(amount_up(needed))):
        assert published.decisions(
            terms.with_subsidies({"B": min(paid + promised, 1.0) if kind == "proportional" else paid + promised})
        ).iloc[0]
    assert published.decisions(Terms(float(amount_down(limit[0])), statistic=statistic)).iloc[0]
