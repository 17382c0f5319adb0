import numpy as np
import pandas as pd
import pytest

from selfselect.counting import CountCurves, GroupCounts

COUNTS = {"n": [4, 2], "positives": [2, 1], "selected": [2, 0], "true_positives": [1, 0]}


def plain_counts():
    return GroupCounts(*map(np.array, COUNTS.values()))


def rows(seed, n_groups=4, n_rows=60):
    rng = np.random.default_rng(seed)
    y, selected = rng.random(n_rows) < 0.4, rng.random(n_rows) < 0.5
    codes, weight = rng.integers(0, n_groups - 1, n_rows), rng.integers(1, 4, n_rows) / 2
    known = selected | (rng.random(n_rows) < 0.6)
    return y, selected, codes, weight, known


def by_loop(y, selected, codes, weight, known, n_groups=4):
    """Counts of each group by a loop over people."""
    sums = [dict.fromkeys([*COUNTS, "untested"], 0.0) for _ in range(n_groups)]
    for qualified, is_selected, code, w, labels_known in zip(y, selected, codes, weight, known, strict=True):
        here = sums[code]
        here["n"] += w
        here["positives"] += w * (qualified and labels_known)
        here["selected"] += w * is_selected
        here["true_positives"] += w * (qualified and is_selected)
        here["untested"] += w * (not labels_known)
    return {name: [group[name] for group in sums] for name in sums[0]}


@pytest.mark.parametrize("seed", range(3))
def test_untested_people_and_squared_weights_are_counted(seed):
    y, selected, codes, weight, known = rows(seed)
    counts = GroupCounts.from_rows(y, selected, codes, 4, weight, known=known)
    assert counts.to_dict() == by_loop(y, selected, codes, weight, known)
    assert counts.squares is not None
    assert counts.squares.to_dict() == by_loop(y, selected, codes, weight**2, known)
    assert GroupCounts.from_rows(y, selected, codes, 4, known=known).squares is None
    assert not counts.labels_known
    assert GroupCounts.from_rows(y, selected, codes, 4, known=np.ones(len(y), bool)).labels_known
    assert GroupCounts.from_rows(y, selected, codes, 4).labels_known


@pytest.mark.parametrize("seed", range(3))
def test_weights_of_one_person_are_added_before_they_are_squared(seed):
    y, selected, codes, weight, _ = rows(seed)
    person = np.random.default_rng(seed).integers(0, 9, len(y))
    counts = GroupCounts.from_rows(y, selected, codes, 4, weight, person=person)
    steps = CountCurves.from_codes(y, selected * 1.0, codes, pd.Index(range(4)), weight, person)
    assert counts.squares is not None
    for z in range(4):
        of_person = [(codes == z) & selected & (person == i) for i in range(9)]
        assert counts.squares.selected[z] == pytest.approx(sum(weight[rows].sum() ** 2 for rows in of_person))
        passed = sum(weight[rows & y].sum() ** 2 for rows in of_person)
        assert counts.squares.true_positives[z] == pytest.approx(passed)
    at_zero = steps.counts_of(steps.step_at(0.0))
    assert at_zero.squares.selected == pytest.approx(counts.squares.selected)
    assert at_zero.squares.true_positives == pytest.approx(counts.squares.true_positives)
    assert steps.squares.n == pytest.approx(counts.squares.n)


def test_each_person_twice_is_as_informative_as_once():
    y, selected, codes, _, _ = rows(0)
    once = GroupCounts.from_rows(y, selected, codes, 4)
    twice = GroupCounts.from_rows(
        *(np.tile(a, 2) for a in (y, selected, codes)), 4, person=np.tile(np.arange(len(y)), 2)
    )
    for effective, plain in zip(twice.effective_trials, once.effective_trials, strict=True):
        assert effective == pytest.approx(plain)


@pytest.mark.parametrize("seed", range(3))
def test_counts_of_two_halves_add_up_to_those_of_all(seed):
    every = rows(seed)
    halves = [
        GroupCounts.from_rows(y, selected, codes, 4, weight, known=known)
        for y, selected, codes, weight, known in (
            [column[part] for column in every] for part in (slice(25), slice(25, None))
        )
    ]
    y, selected, codes, weight, known = every
    whole = GroupCounts.from_rows(y, selected, codes, 4, weight, known=known)
    both = halves[0] + halves[1]
    assert both.to_dict() == whole.to_dict()
    assert both.squares.to_dict() == whole.squares.to_dict()
    # where one half has neither untested people nor weights, its people weigh one each
    plain = GroupCounts.from_rows(y, selected, codes, 4)
    mixed = plain + whole
    assert mixed.to_dict()["untested"] == whole.to_dict()["untested"] == (whole + plain).to_dict()["untested"]
    assert mixed.squares.n.tolist() == (plain.n + whole.squares.n).tolist() == (whole + plain).squares.n.tolist()
    assert (plain + plain).squares is None
    assert (plain + plain).untested is None
    assert (plain + plain).n.tolist() == (2 * plain.n).tolist()


def test_counts_can_be_spread_over_more_groups():
    y, selected, codes, weight, known = rows(0, n_groups=3)
    counts = GroupCounts.from_rows(y, selected, codes, 3, weight, known=known)
    spread = counts.reindex(np.array([4, 0, 2]), 5)
    for name, values in counts.to_dict().items():
        assert spread.to_dict()[name] == [values[1], 0, values[2], 0, values[0]]
    assert spread.squares.n[[4, 0, 2]].tolist() == counts.squares.n.tolist()
    plain = plain_counts().reindex(np.array([1, 0]), 2)
    assert plain.to_dict() == {name: values[::-1] for name, values in COUNTS.items()}
    assert plain.squares is None
    assert all(column.dtype.kind == "i" for column in plain.columns)


def possible_rates(counts, group):
    """Rates of a group for every possible number of qualified people among the untested."""
    n, positives, selected, true_positives = (int(column[group]) for column in counts.columns)
    for more in range(int(counts.unknown[group]) + 1):
        qualified = positives + more
        correct = n - qualified - selected + 2 * true_positives
        yield qualified / n, correct / n, correct


def test_bounds_are_the_extremes_over_all_labels_of_untested_people():
    counts = GroupCounts(
        *(np.array(column) for column in ([10, 8, 5, 6], [3, 4, 0, 0], [4, 4, 2, 0], [3, 1, 0, 0], [5, 0, 1, 6]))
    )
    bounds = (counts.base_rate_bounds, counts.accuracy_bounds, counts.correct_bounds)
    for group in range(4):
        for (low, high), values in zip(bounds, zip(*possible_rates(counts, group), strict=True), strict=True):
            assert low[group] == np.nanmin(values)
            assert high[group] == np.nanmax(values)
    for known, value in ((0, np.nan), (1, 0.5), (2, np.nan)):
        np.testing.assert_equal(counts.base_rate[known], value)
    np.testing.assert_equal(counts.accuracy, [np.nan, 0.25, np.nan, np.nan])
    np.testing.assert_equal(counts.correct, [np.nan, 2.0, np.nan, np.nan])
    np.testing.assert_equal(counts.true_positive_rate, [np.nan, 0.25, np.nan, np.nan])
    np.testing.assert_equal(counts.precision, [0.75, 0.25, 0.0, np.nan])
    np.testing.assert_equal(counts.selection_rate, [0.4, 0.5, 0.4, 0.0])


def test_weighted_people_count_with_their_effective_sample_size():
    y, selected = np.array([True, False, True, True]), np.array([True, True, True, False])
    weight = np.array([1.0, 2.0, 3.0, 2.0])
    counts = GroupCounts.from_rows(y, selected, np.zeros(4, np.intp), 2, weight)
    true_positives, selected = counts.effective_trials
    assert selected[0] == pytest.approx(6.0**2 / 14.0)  # (sum w)^2 / sum w^2 of selected people
    assert true_positives[0] / selected[0] == pytest.approx(counts.precision[0])
    assert (true_positives[1], selected[1]) == (0, 0)
    assert counts.people_per_weight.tolist() == pytest.approx([8.0 / 18.0, 0.0])
    trials = [column.tolist() for column in plain_counts().effective_trials]
    assert trials == [COUNTS["true_positives"], COUNTS["selected"]]
    assert plain_counts().people_per_weight.tolist() == [1.0, 1.0]


def test_true_positives_never_exceed_selected_people_by_rounding():
    columns = [np.array([value]) for value in (0.1 + 0.2, 0.1 + 0.2, 0.3, 0.1 + 0.2)]
    true_positives, selected = GroupCounts(*columns, squares=GroupCounts(*columns)).effective_trials
    assert true_positives[0] == selected[0]
