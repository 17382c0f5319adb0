"""Why is a group's precision low? Its base rate, or what the screen adds, against a reference group."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from .._validation import FloatArray
from ..counting import ratio
from ..publishing import PublishedStatistics


def precision_gaps(table: PublishedStatistics, reference: Any = None) -> pd.DataFrame:
    """Each group's precision less that of a reference group, as a sum of two parts.

    By Bayes' rule precision follows from the base rate and from two rates of the screen: the shares of qualified and of
    other people who pass. ``by_base_rate`` is what the base rate of the group changes, ``by_screen`` what its two rates
    change. Each is the mean over both orders in which the two can be exchanged, so that they add up to the gap.

    Parameters
    ----------
    table : PublishedStatistics
        Counts of the groups.
    reference : group, optional
        The group to compare with; by default the largest one with a precision.

    Returns
    -------
    DataFrame, indexed by group
        base_rate, lift (precision over base rate), precision, gap, by_base_rate, by_screen, and whether it is the
        reference. NaN where somebody's label is unknown, or where nobody, or everybody, is qualified.

    Examples
    --------
    >>> frame = pd.DataFrame(
    ...     {"n": [100, 100], "positives": [50, 20], "selected": [50, 32], "true_positives": [40, 16]}, index=["A", "B"]
    ... )
    >>> gaps = precision_gaps(PublishedStatistics.from_counts(frame))
    >>> gaps.loc["B", ["gap", "by_base_rate", "by_screen"]].astype(float).round(3).tolist()
    [-0.3, -0.3, 0.0]
    """
    counts, groups = table.counts, table.groups
    base, caught, wrong = counts.base_rate, counts.true_positive_rate, counts.false_positive_rate

    def precision(base: Any, caught: Any, wrong: Any) -> FloatArray:
        hits, misses = base * caught, (1 - base) * wrong
        return ratio(hits, hits + misses)

    if reference is None:
        at = int(np.argmax(np.where(np.isnan(counts.precision), -1, counts.n)))
    else:
        at = list(groups).index(reference)
    gap = counts.precision - counts.precision[at]
    own, of_reference = (
        precision(base, *rates) - precision(base[at], *rates) for rates in ((caught, wrong), (caught[at], wrong[at]))
    )
    by_base_rate = (own + of_reference) / 2
    return pd.DataFrame(
        {
            "base_rate": base,
            "lift": ratio(counts.precision, base),
            "precision": counts.precision,
            "gap": gap,
            "by_base_rate": by_base_rate,
            "by_screen": gap - by_base_rate,
            "reference": np.arange(len(groups)) == at,
        },
        index=groups,
    )
