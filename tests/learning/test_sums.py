"""Scores to sums and back: against a loop over rows, finite differences, and sums of parts."""

from dataclasses import fields

import numpy as np
import pytest
from selfselect.learning.sums import People, Slopes, SmoothScores, Sums, smooth_precision

from selfselect.behaviour import applies_rule
from selfselect.learning.paper import PaperScores

K = 4
NAMES = [part.name for part in fields(Sums)]


def test_sums_are_those_of_a_loop_over_rows(data):
    block, X, y, codes, weight, w = data
    score = X @ w[:-1] + w[-1]
    soft, proxy = 1 / (1 + np.exp(-2 * score)), 1 / (1 + np.exp(-5 * score))
    sums = PaperScores(block.people, block.score(w), 2.0, 5.0).sums()
    for z in range(K):
        mine = codes == z
        v, label = weight[mine], y[mine]
        loss = -(label * np.log(soft[mine]) + (1 - label) * np.log(1 - soft[mine]))
        assert sums.n[z] == pytest.approx(v.sum())
        assert sums.positives[z] == pytest.approx(v @ label)
        assert sums.loss[z] == pytest.approx(v @ loss)
        assert sums.hits[z] == pytest.approx(v @ (label * proxy[mine]))
        assert sums.passes[z] == pytest.approx(v @ proxy[mine])
        assert sums.accepted[z] == pytest.approx(v @ soft[mine])
        assert sums.accepted_positives[z] == pytest.approx(v @ (label * soft[mine]))
        assert sums.largest[z] == pytest.approx(soft[mine].max())
        assert sums.hard[0][z] == pytest.approx(v @ (score[mine] > 0))
        assert sums.hard[1][z] == pytest.approx(v @ (label * (score[mine] > 0)))


@pytest.mark.parametrize("temperatures", [(2.0, 5.0), (4.0, 4.0)])
@pytest.mark.parametrize("cuts", [[60], [1, 2, 3, 50, 119], list(range(1, 120))])
def test_sums_of_parts_add_up_to_those_of_the_whole(data, temperatures, cuts):
    block, X, y, codes, weight, w = data
    parts = []
    for rows in np.split(np.arange(len(y)), cuts):  # parts of a single row lack all groups but one
        people, order = People.from_unsorted(y[rows] > 0, codes[rows], weight[rows], K)
        parts.append(SmoothScores(people, (X[rows] @ w[:-1] + w[-1])[order], *temperatures).sums())
    merged = sum(parts[1:], parts[0])
    whole = SmoothScores(block.people, block.score(w), *temperatures).sums()
    for name in NAMES:
        assert getattr(merged, name) == pytest.approx(getattr(whole, name), rel=1e-12), name


def test_a_part_without_anybody_adds_nothing(data):
    block, *_, w = data
    nobody, _ = People.from_unsorted(np.zeros(0, bool), np.zeros(0, np.intp), np.zeros(0), K)
    whole = SmoothScores(block.people, block.score(w), 2.0, 5.0).sums()
    merged = whole + SmoothScores(nobody, np.zeros(0), 2.0, 5.0).sums()
    assert all((getattr(merged, name) == getattr(whole, name)).all() for name in NAMES)


def test_a_largest_score_does_not_add_up_and_says_so(data):
    block, *_, w = data
    sums = PaperScores(block.people, block.score(w), 2.0, 5.0).sums()
    with pytest.raises(TypeError, match="largest score of each group, which does not add up"):
        sums + sums


@pytest.mark.parametrize("temperatures", [(2.0, 5.0), (4.0, 4.0)])
@pytest.mark.parametrize("name", ["loss", "hits", "passes", "accepted", "accepted_positives", "largest", "precision"])
def test_slopes_per_score_are_those_of_finite_differences(data, finite_difference, temperatures, name):
    block, *_, w = data
    people, score = block.people, block.score(w)
    weights = np.array([1.0, -2.0, 0.5, 3.0])  # the value is a weighted sum over groups of one of the sums

    def value(at):
        sums = PaperScores(people, at, *temperatures).sums()
        return float(weights @ (sums.hits / sums.passes if name == "precision" else getattr(sums, name)))

    smooth = PaperScores(people, score, *temperatures)
    slopes = Slopes(**{name: weights}).through_precision(smooth.sums())
    assert smooth.slopes_per_score(slopes) == pytest.approx(finite_difference(value, score), rel=1e-5, abs=1e-7)


def test_slopes_of_a_sum_are_sums_of_slopes():
    one, two = Slopes(hits=np.array([1.0, 2.0])), Slopes(hits=np.ones(2), loss=np.ones(2))
    assert (one + two).hits.tolist() == [2.0, 3.0]
    assert (one + two).loss.tolist() == [1.0, 1.0]
    assert (one + two).largest is None


def test_people_of_one_group_are_a_view_and_of_several_a_copy(data):
    block = data[0]
    assert np.shares_memory(block.of_groups(np.array([2])).X, block.X)
    assert np.shares_memory(block.of_groups(np.array([2])).people.y, block.people.y)
    both = block.of_groups(np.array([0, 2])).people
    assert both.n.tolist() == block.people.n[[0, 2]].tolist()
    assert both.positives.tolist() == block.people.positives[[0, 2]].tolist()


# ---------------------------------------------------------------------- the precision proxy


def test_the_corrected_proxy_decides_exactly_as_the_hard_rule(data):
    block, *_, w = data
    for cost in (0.2, 0.4, 0.5, 0.7, 0.9):  # also below one half, where the paper's form divides by a negative number
        costs = np.full(K, cost)
        sums = PaperScores(block.people, block.score(w), 2.0, 5.0).sums()
        selected, hits = sums.hard
        q, _, _ = smooth_precision(sums, costs, sums.hard)
        some = selected > 0
        assert (q >= costs)[some].tolist() == applies_rule(hits, selected, costs)[some].tolist()


def test_a_group_of_which_nobody_is_selected_has_the_plain_proxy(data):
    block, *_, w = data
    sums = PaperScores(block.people, block.score(np.append(w[:-1], -100.0)), 2.0, 5.0).sums()
    corrected = smooth_precision(sums, np.full(K, 0.7), sums.hard)[0]
    assert corrected == pytest.approx(smooth_precision(sums)[0])
