"""What a firm publishes: counts per group, and the precision that people decide by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from .._frames import few_rows, from_plain, to_plain
from .._validation import (
    FloatArray,
    as_column,
    check_binary,
    check_floats,
    check_same_length,
    check_same_rows,
    check_threshold,
    check_weights,
    list_some,
)
from ..behaviour import BestResponse, Undefined, as_decisions
from ..costs import Cost, Subsidies, SubsidyKind, Terms
from ..counting.counts import COUNT_NAMES, GroupCounts
from ..counting.groups import Unseen, encode_groups, position_of, with_same_columns
from ..counting.intervals import Interval, precision_interval, ratio
from ..statistics import SLACK


def expected_utility(counts: GroupCounts, cost: FloatArray, shares: FloatArray) -> FloatArray:
    """What applicants of each group gain, ``a (TP - c PP)``, divided by the size of the group."""
    gain = counts.true_positives - cost * counts.selected
    gain = np.where(np.abs(gain) <= SLACK * counts.selected, 0.0, gain)  # a rounding error is not a loss
    return ratio(shares * gain, counts.n)


def read_counts(
    frame: pd.DataFrame, names: Sequence[str], *, required: Sequence[str] = (), optional: Sequence[str] = ()
) -> dict[str, NDArray[Any]]:
    """Columns of counts of a frame that is indexed by group, as whole numbers where they are; no count is negative."""
    wanted = [*required, *names]
    if not isinstance(frame, pd.DataFrame):
        raise TypeError(f"frame must be a DataFrame with columns {', '.join(wanted)}, got {type(frame)}.")
    if absent := [name for name in wanted if name not in frame.columns]:
        raise ValueError(f"frame lacks column(s) {', '.join(absent)}; it needs {', '.join(wanted)}.")
    if len(frame) == 0:
        raise ValueError("frame is empty: there must be at least one group.")
    if frame.index.to_frame().isna().any(axis=None):
        raise ValueError("frame has a missing group name in its index; name every group.")
    columns = {}
    for name in [*names, *(name for name in optional if name in frame.columns)]:
        values = check_floats(frame[name], name)
        whole = values.astype(np.int64) if (np.abs(values) < 2**53).all() else values
        columns[name] = whole if (whole == values).all() else values
    _refuse_wrong_counts(
        frame,
        [
            ("a negative count", np.minimum.reduce(list(columns.values())) < 0),
            ("more positives than people", columns["positives"] > columns["n"]),
        ],
    )
    return columns


def _refuse_wrong_counts(frame: pd.DataFrame, checks: Sequence[tuple[str, NDArray[np.bool_]]]) -> None:
    for problem, wrong in checks:
        if wrong.any():
            raise ValueError(f"frame has {problem} in group(s) {list_some(frame.index[wrong])}.")


class PublishedStatistics:
    """Table of what a firm publishes about each group, and how people respond to it.

    Make one with :meth:`from_predictions`, :meth:`from_scores`, :meth:`from_estimator` or :meth:`from_counts`. Tables
    can be added (``a + b``), also if their groups differ.

    Parameters
    ----------
    groups : Index of shape (n_groups,)
        The groups.
    counts : GroupCounts
        Their counts, in the same order.

    Examples
    --------
    >>> table = PublishedStatistics.from_predictions(
    ...     y_true=[1, 1, 0, 1, 0, 0], y_pred=[1, 1, 1, 1, 1, 0], sensitive_features=list("AAABBB")
    ... )
    >>> table.to_frame()[["n", "selected", "true_positives"]].to_dict("index")
    {'A': {'n': 3, 'selected': 3, 'true_positives': 2}, 'B': {'n': 3, 'selected': 2, 'true_positives': 1}}
    >>> table.applies(cost=0.6).to_dict()
    {'A': True, 'B': False}
    >>> table.applies(cost=0.6, subsidies={"B": 0.1}).to_dict()
    {'A': True, 'B': True}
    """

    def __init__(self, groups: pd.Index, counts: GroupCounts) -> None:
        if len(groups) != len(counts.n):
            raise ValueError(f"{len(groups)} groups, but counts of {len(counts.n)}.")
        if groups.has_duplicates:
            raise ValueError(f"Groups appear twice: {list_some(groups[groups.duplicated()])}.")
        self.groups = groups
        self.counts = counts

    def __getstate__(self) -> dict[str, Any]:
        return {"groups": to_plain(self.groups), "counts": self.counts}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.groups, self.counts = from_plain(state["groups"]), state["counts"]

    # ------------------------------------------------------------------ ways to make one

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        *,
        sensitive_features: Any = None,
        sample_weight: ArrayLike | None = None,
        missing: str = "error",
    ) -> Self:
        """Count labels and predictions.

        Parameters
        ----------
        y_true, y_pred : array-like of shape (n_rows,)
            Labels (1 = qualified) and predictions (1 = selected).
        sensitive_features : array-like, Series, DataFrame or dict of columns, optional
            Group of each row; see :func:`selfselect.encode_groups`.
        sample_weight : array-like of shape (n_rows,), optional
            Weights, taken as repetitions of a row.
        missing : {"error", "own_group"}, default="error"
            Whether rows without a group are an error or a group of their own.
        """
        check_same_rows(
            y_true=y_true, y_pred=y_pred, sensitive_features=sensitive_features, sample_weight=sample_weight
        )
        y = check_binary(y_true, "y_true")
        selected = check_binary(y_pred, "y_pred")
        check_same_length(y_true=y, y_pred=selected)
        weights = check_weights(sample_weight, len(y))
        groups = encode_groups(sensitive_features, n_rows=len(y), missing=missing)
        return cls(groups.labels, GroupCounts.from_rows(y, selected, groups.codes, len(groups.labels), weights))

    @classmethod
    def from_scores(
        cls,
        y_true: ArrayLike,
        score: ArrayLike,
        *,
        threshold: float,
        sensitive_features: Any = None,
        sample_weight: ArrayLike | None = None,
        missing: str = "error",
    ) -> Self:
        """Count labels and scores; a person is selected when the score is above the threshold (``>``)."""
        check_same_rows(score=score, y_true=y_true, sensitive_features=sensitive_features, sample_weight=sample_weight)
        values = check_floats(score, "score")
        check_same_length(y_true=as_column(y_true, "y_true"), score=values)
        return cls.from_predictions(
            y_true,
            values > check_threshold(threshold),
            sensitive_features=sensitive_features,
            sample_weight=sample_weight,
            missing=missing,
        )

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        sensitive_features: Any = None,
        sample_weight: ArrayLike | None = None,
        missing: str = "error",
    ) -> Self:
        """Count labels and the predictions of a fitted classifier for ``X``."""
        check_same_rows(X=X, y=y, sensitive_features=sensitive_features, sample_weight=sample_weight)
        return cls.from_predictions(
            y,
            estimator.predict(X),
            sensitive_features=sensitive_features,
            sample_weight=sample_weight,
            missing=missing,
        )

    @classmethod
    def from_counts(cls, frame: pd.DataFrame) -> Self:
        """Take published counts.

        Parameters
        ----------
        frame : DataFrame, indexed by group
            Columns ``n``, ``positives``, ``selected`` and ``true_positives``, and ``untested`` if labels of people who
            were not selected are unknown. Other columns are ignored, so :meth:`to_frame` can be read back.

        Examples
        --------
        >>> frame = pd.DataFrame(
        ...     {"n": [50, 50], "positives": [20, 10], "selected": [20, 8], "true_positives": [15, 4]},
        ...     index=["A", "B"],
        ... )
        >>> PublishedStatistics.from_counts(frame).applies(cost=0.7).to_dict()
        {'A': True, 'B': False}
        """
        columns = read_counts(frame, COUNT_NAMES, optional=("untested",))
        n, positives, selected, true_positives = (columns[name] for name in COUNT_NAMES)
        counts = GroupCounts(n, positives, selected, true_positives, columns.get("untested"))
        checks = [
            ("more true positives than positives", counts.true_positives > counts.positives),
            ("more true positives than selected", counts.true_positives > counts.selected),
            (
                "more untested people than were rejected",
                (counts.unknown > 0) & (counts.unknown > counts.n - counts.selected),
            ),
            (
                "more false positives than negatives",
                counts.selected - counts.true_positives > counts.n - counts.positives - counts.unknown,
            ),
        ]
        _refuse_wrong_counts(frame, checks)
        return cls(frame.index, counts)

    def __add__(self, other: PublishedStatistics) -> PublishedStatistics:
        if not isinstance(other, PublishedStatistics):
            return NotImplemented
        # columns are aligned first: labels may be equal although their columns are in another order
        aligned = with_same_columns(other.groups, self.groups, "The second table", "the first")
        other = PublishedStatistics(aligned, other.counts)
        if not self.groups.equals(other.groups):
            both = [*self.groups, *other.groups]
            both = pd.MultiIndex.from_tuples(both) if self.groups.nlevels > 1 else both
            labels = encode_groups(both).labels.set_names(self.groups.names)
            self, other = self.reindex(labels), other.reindex(labels)
        return PublishedStatistics(self.groups, self.counts + other.counts)

    def __radd__(self, other: Any) -> PublishedStatistics:
        return self if isinstance(other, int) and other == 0 else NotImplemented  # so that sum() works

    def reindex(self, labels: pd.Index) -> PublishedStatistics:
        """The same table for a given list of groups; those that it does not have get zeros."""
        position = position_of(self.groups, labels, "The table", "the list of groups")
        return PublishedStatistics(labels, self.counts.reindex(position, len(labels)))

    def including(self, labels: pd.Index) -> PublishedStatistics:
        """The same table with zeros for groups that it lacks, at its end: nothing is published about them."""
        labels = with_same_columns(labels, self.groups, "The list of groups", "the table")
        unseen = position_of(labels, self.groups, "The list of groups", "the table", unseen="abstain") < 0
        if not unseen.any():
            return self
        both = [*self.groups, *labels[unseen]]
        names = self.groups.names
        many = self.groups.nlevels > 1
        index = pd.MultiIndex.from_tuples(both) if many else pd.Index(both, tupleize_cols=False)
        return self.reindex(index.set_names(names))

    def __eq__(self, other: object) -> bool:
        """Whether groups and counts are the same, in any order."""
        if not isinstance(other, PublishedStatistics):
            return NotImplemented
        if len(self) != len(other):
            return False
        try:
            ours, theirs = self.counts, other.reindex(self.groups).counts
        except ValueError:  # other columns, or other groups
            return False
        pairs = zip([*ours.columns, ours.unknown], [*theirs.columns, theirs.unknown], strict=True)
        return all(np.array_equal(a, b) for a, b in pairs)

    __hash__ = None  # type: ignore[assignment]

    def __len__(self) -> int:
        return len(self.groups)

    def __repr__(self) -> str:
        with few_rows():
            return f"{type(self).__name__} of {len(self)} group(s)\n{self.to_frame()}"

    def _repr_html_(self) -> str:
        with few_rows():
            return str(self.to_frame()._repr_html_())

    def to_frame(self, *, interval: Interval = "wilson", confidence: float = 0.95) -> pd.DataFrame:
        """The table as a frame, one row per group.

        Parameters
        ----------
        interval, confidence
            Type and level of the interval from ``precision_low`` to ``precision_high``, as in
            :func:`precision_interval`. The frame's ``attrs`` hold both.

        Returns
        -------
        DataFrame
            Columns n, positives, base_rate, selected, true_positives, selection_rate, precision (NaN where nobody is
            selected), precision_low, precision_high, accuracy. If some people were not tested, also untested and the
            bounds base_rate_low, base_rate_high, accuracy_low and accuracy_high over their possible labels. With
            squared weights also effective_selected, Kish's effective number of selected people, which intervals use.
        """
        counts = self.counts
        true_positives, selected = counts.effective_trials
        low, high = precision_interval(true_positives, selected, interval=interval, confidence=confidence)
        frame = pd.DataFrame(
            {
                "n": counts.n,
                "positives": counts.positives,
                "base_rate": counts.base_rate,
                "selected": counts.selected,
                "true_positives": counts.true_positives,
                "selection_rate": counts.selection_rate,
                "precision": counts.precision,
                "precision_low": low,
                "precision_high": high,
                "accuracy": counts.accuracy,
            },
            index=self.groups,
        )
        if not counts.labels_known:
            frame["untested"] = counts.unknown
            frame["base_rate_low"], frame["base_rate_high"] = counts.base_rate_bounds
            frame["accuracy_low"], frame["accuracy_high"] = counts.accuracy_bounds
        if counts.squares is not None:
            frame["effective_selected"] = selected
        frame.attrs.update(interval=interval, confidence=confidence)
        return frame

    @property
    def base_rate(self) -> pd.Series:
        """Share of qualified people in each group."""
        return pd.Series(self.counts.base_rate, index=self.groups, name="base_rate")

    @property
    def precision(self) -> pd.Series:
        """Share of qualified people among the selected people of each group, NaN where nobody is selected."""
        return pd.Series(self.counts.precision, index=self.groups, name="precision")

    # ------------------------------------------------------------------ who applies

    def costs(self, cost: Cost, subsidies: Subsidies = None, *, subsidy_kind: SubsidyKind = "additive") -> pd.Series:
        """Cost that each group faces after subsidies; see :class:`selfselect.Terms`."""
        costs = Terms(cost, subsidies, subsidy_kind).effective_cost(self.groups)
        return pd.Series(costs, index=self.groups, name="cost")

    def shares(self, terms: Terms) -> pd.Series:
        """Share of each group that applies, in [0, 1]."""
        shares = np.asarray(terms.shares(self.groups, self.counts), dtype=np.float64)
        return pd.Series(shares, index=self.groups, name="share")

    def applies(
        self,
        cost: Cost,
        subsidies: Subsidies = None,
        *,
        subsidy_kind: SubsidyKind = "additive",
        undefined: Undefined = "abstain",
    ) -> pd.Series:
        """Whether each group applies.

        Parameters
        ----------
        cost, subsidies, subsidy_kind
            As ``cost``, ``subsidies`` and ``kind`` of :class:`selfselect.Terms`.
        undefined : {"abstain", "apply"}, default="abstain"
            What a group without any selected person does.

        Returns
        -------
        Series of bool, indexed by group
        """
        return self.decisions(Terms(cost, subsidies, subsidy_kind, BestResponse(undefined)))

    def decisions(self, terms: Terms) -> pd.Series:
        """Whether most of each group applies."""
        return pd.Series(as_decisions(terms.shares(self.groups, self.counts)), index=self.groups, name="applies")

    def applies_to(
        self,
        sensitive_features: Any,
        cost: Cost,
        subsidies: Subsidies = None,
        *,
        subsidy_kind: SubsidyKind = "additive",
        undefined: Undefined = "abstain",
        missing: str = "error",
        unseen: Unseen = "error",
    ) -> NDArray[np.bool_]:
        """Whether each person applies, given the published statistics of the person's group.

        Parameters
        ----------
        sensitive_features : array-like, Series, DataFrame or dict of columns
            Group of each person.
        cost, subsidies, subsidy_kind, undefined
            As in :meth:`applies`.
        missing
            As in :meth:`from_predictions`.
        unseen : {"error", "abstain"}, default="error"
            Whether a group that is not in this table is an error or stays away.
        """
        terms = Terms(cost, subsidies, subsidy_kind, BestResponse(undefined))
        return self.decisions_of(sensitive_features, terms, missing=missing, unseen=unseen)

    def decisions_of(
        self, sensitive_features: Any, terms: Terms, *, missing: str = "error", unseen: Unseen = "error"
    ) -> NDArray[np.bool_]:
        """Whether most of each person's group applies."""
        if sensitive_features is None:
            raise TypeError("sensitive_features is None; pass the group of each person.")
        own = encode_groups(sensitive_features, missing=missing)
        where = "the published statistics"
        position = position_of(own.labels, self.groups, "sensitive_features", where, unseen=unseen)
        decisions = np.append(self.decisions(terms).to_numpy(), False)  # position -1: an unseen group
        return np.asarray(decisions[position[own.codes]], dtype=bool)

    def applicant_utility(
        self, cost: Cost, subsidies: Subsidies = None, *, subsidy_kind: SubsidyKind = "additive"
    ) -> pd.Series:
        """Expected utility of a person of each group: ``P(selected | z) max(0, precision_z - c_z)``.

        It is 0, not NaN, for a group of which nobody is selected.
        """
        return self.utility_under(Terms(cost, subsidies, subsidy_kind))

    def utility_under(self, terms: Terms) -> pd.Series:
        """Expected utility under any behaviour: what applicants gain, divided by the size of the group."""
        shares = np.asarray(terms.shares(self.groups, self.counts), dtype=np.float64)
        utility = expected_utility(self.counts, terms.effective_cost(self.groups), shares)
        return pd.Series(utility, index=self.groups, name="applicant_utility")
