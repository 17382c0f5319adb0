"""What is published about a group: a statistic of its counts, which people compare with their cost.

A statistic is any object with a method ``value``, from counts to one number per group. :class:`Precision` is the
paper's. :class:`LowerBound` publishes less than was observed, so that new people are likely to get what is published.
Everything here is pure and works on arrays of counts of any shape: K groups, or every threshold of a score.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import SimpleNamespace
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, betaincinv

from ._validation import BoolArray, FloatArray, check_fraction
from .counting.intervals import ROUNDING, effective_trials, ratio

#: Slack of the comparison ``true_positives >= cost * selected``, per selected person: .8 - .1 is not .7 in floating
#: point.
SLACK = ROUNDING


class Counts(Protocol):
    """Counts that a statistic is computed from; :class:`selfselect.GroupCounts` is one."""

    @property
    def true_positives(self) -> NDArray[Any]:
        """Selected people who are qualified."""
        ...

    @property
    def selected(self) -> NDArray[Any]:
        """Selected people."""
        ...


@runtime_checkable
class Statistic(Protocol):
    """What is published about each group."""

    def value(self, counts: Counts) -> FloatArray:
        """One number per group; NaN where nothing is published."""
        ...


@dataclass(frozen=True)
class Precision:
    """Share of the selected people who are qualified, ``TP / PP``; nothing where nobody is selected.

    Examples
    --------
    >>> from selfselect import GroupCounts
    >>> counts = GroupCounts(*map(np.array, ([20, 20], [15, 9], [10, 0], [7, 0])))
    >>> Precision().value(counts)
    array([0.7, nan])
    """

    def value(self, counts: Counts) -> FloatArray:
        """Precision of each group."""
        return ratio(counts.true_positives, counts.selected)

    def reaches(self, counts: Counts, limit: FloatArray) -> BoolArray:
        """Whether the precision reaches a limit. Counts are compared, not ratios."""
        return np.asarray((counts.selected > 0) & (counts.true_positives >= (limit - SLACK) * counts.selected))


@dataclass(frozen=True)
class LowerBound:
    """One-sided lower Clopper-Pearson bound of the precision, and never more than the precision itself.

    If the counts are of people who were not used for training or selection, the true precision of a group is below its
    bound with probability at most ``1 - confidence``.

    Parameters
    ----------
    confidence : float, default=0.9
        Level of the bound, in (0, 1).

    Examples
    --------
    >>> from selfselect import GroupCounts
    >>> counts = GroupCounts(*map(np.array, ([20, 20], [15, 15], [15, 15], [15, 14])))
    >>> LowerBound(0.9).value(counts).round(3)
    array([0.858, 0.764])
    """

    confidence: float = 0.9

    def __post_init__(self) -> None:
        check_fraction(self.confidence, "confidence", inclusive=False)

    def value(self, counts: Counts) -> FloatArray:
        """Lower bound of each group."""
        k, n = trials(counts)
        bound = betaincinv(k, n - k + 1, 1 - self.confidence)  # may be NaN at k = 0, where the precision is 0
        # at a confidence below one half the bound may lie above the precision
        return np.where(n > 0, np.fmin(bound, ratio(k, n)), np.nan)

    def reaches(self, counts: Counts, limit: FloatArray) -> BoolArray:
        """Whether the bound reaches a limit.

        It does if and only if ``P(at least TP successes | limit) <= 1 - confidence``. This probability is much faster
        to compute than the bound.
        """
        reaches = Precision().reaches(counts, limit)
        k, n, limits = np.broadcast_arrays(*trials(counts), np.asarray(limit, float))
        k, n, limits = k[reaches], n[reaches], limits[reaches]
        # NaN for a limit outside [0, 1], and possibly without a true positive: then only a limit of 0 is reached
        p_value = betainc(k, n - k + 1, limits - SLACK)
        reaches[reaches] = (p_value <= 1 - self.confidence + SLACK) | (limits <= SLACK)
        return reaches


def trials(counts: Counts) -> tuple[FloatArray, FloatArray]:
    """True positives and selected people as numbers of people, whatever their weights."""
    if getattr(counts, "squares", None) is not None:
        return effective_trials(counts)
    return np.asarray(counts.true_positives, dtype=np.float64), np.asarray(counts.selected, dtype=np.float64)


@dataclass(frozen=True)
class Guaranteed:
    """A statistic of the groups that passed the test of a guarantee; nothing is published about the others."""

    statistic: Statistic
    passed: tuple[bool, ...]

    def value(self, counts: Counts) -> FloatArray:
        """Value of each group; NaN for those that did not pass."""
        self._check_shape(counts)
        return np.where(self.passed, self.statistic.value(counts), np.nan)

    def reaches(self, counts: Counts, limit: FloatArray) -> BoolArray:
        """Whether the value of a group that passed reaches a limit."""
        self._check_shape(counts)
        return np.asarray(Published(counts, self.statistic).reaches(limit) & np.array(self.passed, dtype=bool))

    def _check_shape(self, counts: Counts) -> None:
        shape = np.shape(counts.selected)
        if shape[-1:] != (len(self.passed),):
            raise ValueError(
                f"{len(self.passed)} group(s) were tested at the thresholds in use, got counts of shape {shape}: "
                "nothing is guaranteed at other thresholds."
            )


def with_unpublished(statistic: Statistic, n_groups: int) -> Statistic:
    """A statistic for so many groups: nothing is guaranteed to those after the groups that were tested."""
    if not isinstance(statistic, Guaranteed):
        return statistic
    return replace(statistic, passed=statistic.passed + (False,) * (n_groups - len(statistic.passed)))


def check_statistic(statistic: Any) -> None:
    """Refuse anything that is no statistic."""
    if isinstance(statistic, type) or not hasattr(statistic, "value"):
        raise TypeError(
            f"statistic must be an object with a method value(counts), such as LowerBound(0.9), got {statistic!r}."
        )


def confidence_of(statistic: Statistic) -> float | None:
    """Confidence of a published lower bound; None if another statistic is published."""
    inner = statistic.statistic if isinstance(statistic, Guaranteed) else statistic
    return inner.confidence if isinstance(inner, LowerBound) else None


class Published:
    """What people see about each group: the value of a statistic, and the counts it comes from.

    Parameters
    ----------
    counts : GroupCounts or other counts
        ``true_positives`` and ``selected``.
    statistic : Statistic, optional
        By default the precision.
    groups : Index, optional
        Name of each group; needed by behaviours that differ between groups.
    codes : ndarray of int, optional
        Position in ``groups`` of each entry of the counts; by default there is one entry per group, in order.

    Attributes
    ----------
    value : ndarray
        NaN where nothing is published.
    """

    def __init__(
        self,
        counts: Counts,
        statistic: Statistic | None = None,
        groups: pd.Index | None = None,
        codes: NDArray[np.intp] | None = None,
    ) -> None:
        self.counts = counts
        self.statistic: Statistic = Precision() if statistic is None else statistic
        self.groups, self.codes = groups, codes

    @cached_property
    def value(self) -> FloatArray:
        """The published numbers."""
        return np.asarray(self.statistic.value(self.counts), dtype=np.float64)

    @property
    def is_defined(self) -> BoolArray:
        """Whether anything is published about each group."""
        if isinstance(self.statistic, Precision | LowerBound):
            return np.asarray(self.counts.selected) > 0
        return ~np.isnan(self.value)

    def reaches(self, limit: ArrayLike) -> BoolArray:
        """Whether the published value reaches a limit, with a slack of 1e-12; False where nothing is published."""
        limits = np.asarray(limit, dtype=np.float64)
        if np.isnan(limits).any():
            raise ValueError("costs has missing values; give every group a cost.")
        fast = getattr(self.statistic, "reaches", None)
        return fast(self.counts, limits) if fast is not None else np.asarray(self.value >= limits - SLACK)

    @classmethod
    def of_value(
        cls,
        value: FloatArray,
        selected: FloatArray,
        groups: pd.Index | None = None,
        codes: NDArray[np.intp] | None = None,
    ) -> Published:
        """A precision of so many selected people, neither of which need be a ratio of whole numbers."""
        counts = SimpleNamespace(true_positives=value * selected, selected=selected)
        return cls(counts, _Known(value), groups, codes)

    def at(self, value: FloatArray, selected: FloatArray) -> Published:
        """The same groups at another precision of other numbers of selected people."""
        return Published.of_value(value, selected, self.groups, self.codes)

    def with_value(self, value: FloatArray) -> Published:
        """The same counts with another value, such as what people believe after seeing them."""
        return Published(self.counts, _Known(value), self.groups, self.codes)

    def by_group(self, values: Any, name: str) -> FloatArray:
        """A number for each entry, from one number or a mapping from group to number."""
        if not isinstance(values, Mapping):
            return np.asarray(values, dtype=np.float64)
        own = np.array([values[label] for label in self._labels(values, name)], dtype=np.float64)
        return own if self.codes is None else own[self.codes]

    def entries_of_groups(self, values: Mapping[Any, Any], name: str) -> Iterator[tuple[Any, NDArray[np.intp]]]:
        """Each group, which must be a key of a mapping, with its entries of the counts."""
        labels = self._labels(values, name)
        codes = np.arange(len(labels)) if self.codes is None else self.codes
        order = np.argsort(codes, kind="stable")
        end = np.searchsorted(codes[order], np.arange(len(labels)), side="right")
        yield from zip(labels, np.split(order, end[:-1]), strict=True)

    def _labels(self, values: Mapping[Any, Any], name: str) -> pd.Index:
        if self.groups is None:
            raise ValueError(f"{name} differs between groups, and the names of the groups are not known here.")
        missing = [label for label in self.groups if label not in values]
        if missing:
            raise ValueError(f"{name} has no entry for group {missing[0]!r}.")
        return self.groups


@dataclass(frozen=True)
class _Known:
    """A statistic whose value is known."""

    known: FloatArray

    def value(self, counts: Counts) -> FloatArray:
        return self.known
