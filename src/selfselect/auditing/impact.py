"""Impact ratios: selection rates over the highest one, by each column of groups and by their combinations.

New York City's Local Law 144 requires them for automated hiring tools; the four-fifths rule of thumb asks for 0.8.
People of unknown category are counted but not compared. Categories with fewer than 2% of the people are shown but never
used as the highest. Weighted people count by Kish's effective sample size.

Intervals are simultaneous over the categories of one table, by the method of Tukey and Kramer on the logarithms of the
rates: with equal rates some interval lies below 1 in at most about 5% of tables (at a confidence of 0.95), although the
highest rate is the highest by chance. With two categories they are Katz's intervals. The ratios themselves are biased
slightly downwards, because the highest rate is partly the highest by chance.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtr

from .._errors import InputError
from .._validation import FloatArray, check_fraction, list_some
from ..counting import MISSING, GroupCounts, precision_interval, ratio
from ..counting.groups import values_by_group
from ..counting.intervals import ROUNDING
from ..publishing import PublishedStatistics
from .screening import group_names

#: Categories with a smaller share of people are set apart.
SMALL_SHARE = 0.02
#: Words for a category that is not known, in lower case.
UNKNOWN = frozenset(
    f"{MISSING} na n/a n.a. nan null none nil ? - -- . unknown missing unspecified undefined #n/a not_available".split()
) | frozenset(
    {
        "",
        "not available",
        "not known",
        "not reported",
        "not stated",
        "not disclosed",
        "no data",
        "no answer",
        "declined to answer",
        "decline to state",
        "prefer not to say",
        "prefer not to answer",
    }
)


def is_unknown(label: Any) -> bool:
    """Whether a group, or one of its parts, is a word for not known."""
    parts = label if isinstance(label, tuple) else (label,)
    return any(str(part).strip().casefold() in UNKNOWN for part in parts)


def ratio_interval(
    selected: FloatArray, people: FloatArray, top_selected: float, top_people: float, deviates: float
) -> tuple[FloatArray, FloatArray]:
    """Interval of ``(selected / people) / (top_selected / top_people)`` on the log scale, ``deviates`` standard errors.

    The variance is Katz's, ``1/x - 1/n + 1/x0 - 1/n0``, or the one at equal rates if that is larger. With half a person
    more on either side where nobody or everybody is selected; never above what a rate of 1 gives.
    """
    odd = (selected <= 0) | (selected >= people) | (top_selected >= top_people)
    x, n = np.where(odd, selected + 0.5, selected), np.where(odd, people + 1, people)
    x0, n0 = np.where(odd, top_selected + 0.5, top_selected), np.where(odd, top_people + 1, top_people)
    middle = np.log(ratio(x, n)) - np.log(ratio(x0, n0))
    katz = ratio(1, x) - ratio(1, n) + ratio(1, x0) - ratio(1, n0)
    equal = (ratio(n + n0, x + x0) - 1) * (ratio(1, n) + ratio(1, n0))
    half = deviates * np.sqrt(np.maximum(katz, equal))
    # no rate is above 1, and so no ratio above that of 1 to the lower end of the highest rate
    least, _ = precision_interval(top_selected, top_people, confidence=float(2 * ndtr(deviates) - 1))
    return np.where(selected <= 0, 0.0, np.exp(middle - half)), np.minimum(np.exp(middle + half), 1 / least)


def impact_table(
    table: PublishedStatistics, confidence: float = 0.95, small_share: float = SMALL_SHARE
) -> pd.DataFrame:
    """Impact ratios of the groups of one table; see :func:`impact_ratios` for the columns."""
    counts, labels = table.counts, list(table.groups)
    people, selected = counts.n.astype(np.float64), counts.selected.astype(np.float64)
    rate, share = counts.selection_rate, ratio(people, people.sum())
    unknown = np.array([is_unknown(label) for label in labels], dtype=bool)
    apart = ~unknown & (share < small_share)
    compared = ~unknown & ~apart & ~np.isnan(rate)
    impact, low, high = (np.full(len(labels), np.nan) for _ in range(3))
    under = np.zeros(len(labels), dtype=bool)
    best = compared & (rate == np.max(rate, where=compared, initial=-1))
    from scipy.stats import studentized_range  # takes long

    top = int(np.argmax(np.where(best, people, -1))) if compared.any() else -1  # of equal rates, that of most people
    if top >= 0 and rate[top] > 0:
        shown = ~unknown & ~np.isnan(rate)
        impact[shown] = rate[shown] / rate[top]
        x, n = selected * counts.people_per_weight, people * counts.people_per_weight
        deviates = studentized_range.ppf(confidence, max(int(shown.sum()), 2), np.inf) / np.sqrt(2)
        low[shown], high[shown] = ratio_interval(x[shown], n[shown], float(x[top]), float(n[top]), deviates)
        low[top] = high[top] = np.nan  # compared with itself: 1, and no interval
        # counts are compared, not ratios: exactly four fifths is not under
        due, got = 4 * counts.selected[top] * counts.n, 5 * counts.selected * counts.n[top]
        rounding = 0 if np.issubdtype(due.dtype, np.integer) else ROUNDING * due
        under = shown & (due - got > rounding)
    names = [str(name) for name in table.groups.names]
    return pd.DataFrame(
        {
            "by": " / ".join(names),
            "category": group_names(table.groups),
            "n": counts.n,
            "share": share,
            "selected": counts.selected,
            "selection_rate": rate,
            "impact_ratio": impact,
            "impact_ratio_low": low,
            "impact_ratio_high": high,
            "under_four_fifths": under,
            "highest": np.arange(len(labels)) == top,
            "set_apart": apart,
            "unknown": unknown,
        }
    )


def _by_column(table: PublishedStatistics, column: int) -> PublishedStatistics:
    """The same people by one of several columns of groups."""
    codes, labels = pd.factorize(table.groups.get_level_values(column), sort=False)

    def added(counts: GroupCounts) -> GroupCounts:
        columns = (
            np.bincount(codes, weights=values, minlength=len(labels)).astype(values.dtype) for values in counts.columns
        )
        return GroupCounts(*columns, squares=None if counts.squares is None else added(counts.squares))

    return PublishedStatistics(
        pd.Index(labels, name=table.groups.names[column], tupleize_cols=False), added(table.counts)
    )


#: What is also shown per potential applicant, by its column per screened person.
PER_POTENTIAL = {"n": "pool"} | {
    name: f"pool_{name}"
    for name in (
        "selection_rate",
        "impact_ratio",
        "impact_ratio_low",
        "impact_ratio_high",
        "under_four_fifths",
        "highest",
    )
}


def check_pool(pool: Any, table: PublishedStatistics) -> pd.Series:
    """How many people of each group could have applied, in the order of the groups."""
    people = values_by_group(pool, table.groups, "pool", default=None)
    counts = table.counts
    if counts.squares is not None:
        raise InputError(
            "A pool counts people, one row each: it does not go with weights or with several rows a person."
        )
    wrong = ~(people >= counts.n)
    if wrong.any():
        first = int(np.flatnonzero(wrong)[0])
        raise InputError(
            f"The pool holds everybody who could have applied, also those who were screened. It is smaller than the "
            f"number of screened people in group(s) {list_some(table.groups[wrong])}: {people[first]:g} against "
            f"{counts.n[first]:g}.",
            key="pool",
        )
    return pd.Series(people, index=table.groups, name="pool")


def impact_ratios(
    table: PublishedStatistics,
    confidence: float = 0.95,
    pool: pd.Series | None = None,
    small_share: float = SMALL_SHARE,
) -> pd.DataFrame:
    """Impact ratios by each column of groups, and by their combinations, with simultaneous intervals.

    Returns
    -------
    DataFrame
        One row per category: ``by`` (the column, or columns), ``category``, ``n``, ``share`` of all people,
        ``selected``, ``selection_rate``, ``impact_ratio`` with ``impact_ratio_low`` and ``impact_ratio_high``
        (simultaneous over the categories of one ``by``), ``under_four_fifths``, ``highest`` (the one that others are
        compared with), ``set_apart`` (under ``small_share`` of people: never the highest) and ``unknown`` (not
        compared). With a ``pool`` also ``pool``, ``application_rate`` (screened people over the pool), and the same
        rates and ratios per potential applicant, as ``pool_selection_rate``, ``pool_impact_ratio`` and so on.
    """
    check_fraction(confidence, "confidence", inclusive=False)
    n_columns = table.groups.nlevels
    tables = [_by_column(table, column) for column in range(n_columns)] if n_columns > 1 else []
    frame = pd.concat([impact_table(part, confidence, small_share) for part in [*tables, table]], ignore_index=True)
    if pool is None:
        return frame
    potential = PublishedStatistics(table.groups, replace(table.counts, n=pool.to_numpy()))
    per_potential = impact_ratios(potential, confidence, small_share=small_share)[list(PER_POTENTIAL)].rename(
        columns=PER_POTENTIAL
    )
    per_potential.insert(1, "application_rate", ratio(frame["n"], per_potential["pool"]))
    return frame.join(per_potential)
