"""Results that nobody fitted: made of counts, for tests of what is done with results."""

from dataclasses import replace
from functools import lru_cache

from selfselect.reproduction.sweep.results import metrics_from_counts, who_applies

#: Costs of the small sweeps.
SMALL_COSTS = (0.7, 0.8)
#: Names of the groups.
GROUPS = ("A", "B", "C")


@lru_cache
def invented_metrics(selected, true_positives, cost):
    groups = GROUPS[: len(selected)]
    counts = {
        "n": [100] * len(groups),
        "positives": [50, 40, 30][: len(groups)],
        "selected": list(selected),
        "true_positives": list(true_positives),
    }
    applies = tuple(who_applies(groups, counts, cost).tolist())
    return counts, applies, *metrics_from_counts(groups, counts, counts, counts, applies)


def invented(result, cell, selected, true_positives):
    """A result with other counts of two groups or three, the same in training and test."""
    counts, applies, train, test = invented_metrics(tuple(selected), tuple(true_positives), cell.cost)
    return replace(
        result, cell=cell, groups=GROUPS[: len(selected)], train_counts=counts, test_counts=counts, train_metrics=train,
        test_metrics=test, published_counts=counts, applies=applies,
    )  # fmt: skip
