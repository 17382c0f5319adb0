"""Merging groups for files: costs, subsidies, behaviours and names of the units that come out."""

import numpy as np
import pandas as pd
import pytest

from selfselect import GroupCounts, PublishedStatistics, Terms
from selfselect.behaviour import BestResponse, BetaBeliefs
from selfselect.publishing.privacy import OTHERS, Cells, Merging, check_min_cell, merge_groups, raise_small_cells
from selfselect.statistics import Guaranteed, LowerBound

GROUPS = pd.Index(["a", "b", "c"], name="g")
MERGING = Merging(GROUPS, np.array([0, 1, 1]), pd.Index(["a", OTHERS], name="g"))


def counts(n, untested=None, squares=None):
    n = np.asarray(n)
    return GroupCounts(n, n // 2, n // 2, n // 4, untested, squares=squares)


@pytest.mark.parametrize("wrong", [-1, 2.5, True, "ten"])
def test_a_number_of_people_is_a_whole_number(wrong):
    with pytest.raises(ValueError, match="min_cell must be a whole number"):
        check_min_cell(wrong)


def test_units_have_the_sums_of_their_groups():
    table = PublishedStatistics(GROUPS, counts([40, 8, 4], np.array([4, 2, 1]), counts([40, 8, 4])))
    merged = MERGING.counts(table).counts
    assert merged.n.tolist() == [40, 12]
    assert merged.untested.tolist() == [4, 3]
    assert MERGING.units_of(GROUPS[1:]).tolist() == [OTHERS]


def test_costs_and_subsidies_of_a_unit_are_means():
    listed = MERGING.terms(Terms(pd.Series([0.5, 0.6, 0.8], index=GROUPS), pd.Series([0.0, 0.1, 0.3], index=GROUPS)))
    assert listed.listed_cost(MERGING.units).tolist() == pytest.approx([0.5, 0.7])
    assert listed.subsidies_for(MERGING.units).tolist() == pytest.approx([0.0, 0.2])
    own = MERGING.terms(Terms(0.6, cost_of={"b": 0.8}))
    assert own.listed_cost(MERGING.units).tolist() == pytest.approx([0.6, 0.7])


def test_a_unit_passed_the_test_of_a_guarantee_if_all_its_groups_did():
    terms = Terms(0.6, statistic=Guaranteed(LowerBound(), passed=(True, True, False)), behaviour=BestResponse())
    assert MERGING.terms(terms).statistic.passed == (True, False)


def test_a_unit_has_the_beliefs_of_its_first_group():
    beliefs = BetaBeliefs({"a": 0.5, "b": 0.6, "c": 0.7}, 10.0)
    assert MERGING.terms(Terms(0.6, behaviour=beliefs)).behaviour.mean == {"a": 0.5, OTHERS: 0.6}


def test_weighted_cells_count_effective_people_and_a_taken_name_gets_a_star():
    weighted = Cells.of(counts([400, 400, 4], squares=counts([400, 400, 4])))
    joined = weighted.join(Cells.of(counts([400, 400, 4])))
    assert joined.squares.shape == joined.people.shape
    named = pd.Index([OTHERS, "b", "c"], name="g")
    assert OTHERS + "*" in list(merge_groups(named, weighted, 10).units)


class OnlyTiny:
    """People apply only to groups of which fewer than ten were counted."""

    def shares(self, published, cost):
        return np.asarray(published.counts.n) < 10


def test_small_counts_are_raised_unless_the_group_would_decide_otherwise():
    large = PublishedStatistics(GROUPS, counts([400, 400, 400]))
    assert raise_small_cells(large, Terms(0.4), 10) is large
    small = PublishedStatistics(GROUPS, counts([400, 400, 8]))
    terms = MERGING.terms(Terms(0.4, behaviour=OnlyTiny()))
    with pytest.raises(ValueError, match="cannot be written"):
        raise_small_cells(small, terms, 10)
