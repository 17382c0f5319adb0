"""An existing model's outputs: who would stay away, and what follows. Works on any model, from its counts per group."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ._validation import check_binary, check_floats, check_fraction
from .behaviour import Cost, Subsidies, SubsidyKind, group_costs
from .curves import ThresholdCurves
from .formatting import amount, amount_down, amount_up, count, listed, percent
from .groups import encode_groups
from .metrics import Outcome, outcome
from .statistics import PublishedStatistics
from .theory import least_subsidy

#: A group of which fewer people pass screening carries a warning: its published precision is mostly chance.
FEW_SELECTED = 30
#: More groups than this are counted in a verdict, not named.
MOST_NAMED = 5


def group_names(labels: pd.Index) -> list[str]:
    """One text per group: combinations of several columns are joined by " / ".

    Examples
    --------
    >>> group_names(pd.MultiIndex.from_tuples([("A", 1), ("B", 2)]))
    ['A / 1', 'B / 2']
    """
    if labels.nlevels == 1:
        return [str(label) for label in labels]
    names = [" / ".join(map(str, label)) for label in labels]
    if len(set(names)) < len(names):  # the separator is part of a value
        names = [json.dumps([str(part) for part in label], ensure_ascii=False) for label in labels]
    return names


@dataclass(frozen=True)
class Source:
    """Where the numbers come from, as a report states it.

    Attributes
    ----------
    title : str
        What is audited, usually a file name.
    command : str
        What was typed to get here.
    sha256 : str
        Hash of the data file.
    label, groups, score : str
        Names of columns.
    """

    title: str = ""
    command: str = ""
    sha256: str = ""
    label: str = ""
    groups: str = ""
    score: str = ""


@dataclass(frozen=True, eq=False)
class Audit:
    """Who would apply to a screening model, and what follows. Made by :func:`audit`.

    Attributes
    ----------
    published : PublishedStatistics
        What people see and decide by.
    population : PublishedStatistics
        The people whose accuracy and social cost are counted (the same, unless another set was given).
    costs : tuple of float or of mappings
        The costs looked at; the first is the main one.
    subsidies, subsidy_kind
        What groups are paid.
    threshold : float or None
        Threshold on the score; None if predictions were given.
    curves, population_curves : ThresholdCurves or None
        What every other threshold would do; None if predictions were given.
    source : Source
        Where the numbers come from.
    """

    published: PublishedStatistics
    population: PublishedStatistics
    costs: tuple[Cost, ...]
    subsidies: Subsidies = None
    subsidy_kind: SubsidyKind = "additive"
    threshold: float | None = None
    curves: ThresholdCurves | None = None
    population_curves: ThresholdCurves | None = None
    source: Source = field(default_factory=Source)

    # ------------------------------------------------------------------ what follows

    @property
    def cost(self) -> Cost:
        """The main cost."""
        return self.costs[0]

    @cached_property
    def names(self) -> list[str]:
        """One text per group."""
        return group_names(self.published.groups)

    @cached_property
    def applies(self) -> pd.Series:
        """Whether each group applies at the main cost."""
        return self.published.applies(self.cost, self.subsidies, subsidy_kind=self.subsidy_kind)

    @cached_property
    def outcome(self) -> Outcome:
        """Accuracy, application rate and social cost at the main cost."""
        return outcome(self.population, self.applies)

    def at(self, cost: Cost) -> Audit:
        """The same audit with another main cost."""
        return replace(self, costs=(cost,))

    def to_frame(self) -> pd.DataFrame:
        """Everything about each group at the main cost.

        Returns
        -------
        DataFrame, indexed by group
            The columns of :meth:`PublishedStatistics.to_frame`, and ``cost`` (what the group faces after subsidies),
            ``applies``, ``subsidy_needed`` (the least further amount at which it applies; NaN if nobody passes
            screening, so that none can help) and ``utility`` (of a person of the group).
        """
        frame = self.published.to_frame()
        costs = group_costs(self.published.groups, self.cost, self.subsidies, self.subsidy_kind)
        needed = least_subsidy(frame["precision"], costs)
        frame["cost"] = costs
        frame["applies"] = self.applies
        frame["subsidy_needed"] = np.where(self.applies, 0.0, needed)
        frame["utility"] = self.published.applicant_utility(self.cost, self.subsidies, subsidy_kind=self.subsidy_kind)
        return frame

    def by_cost(self) -> pd.DataFrame:
        """Outcome at each of the costs, one row per cost."""
        rows = [self.at(cost).outcome.to_dict() for cost in self.costs]
        names = [cost if isinstance(cost, int | float) else np.nan for cost in self.costs]
        return pd.DataFrame(rows, index=pd.Index(names, name="cost"))

    # ------------------------------------------------------------------ in words

    def verdict(self) -> str:
        """What it comes to, in one sentence."""
        result, total = self.outcome, len(self.names)
        at = f"At a cost of {amount(self.cost)}," if isinstance(self.cost, int | float) else "At the costs given,"
        staying = [name for name, applies in zip(self.names, self.applies, strict=True) if not applies]
        if result.applying_groups == 0:
            return (
                f"{at} nobody applies: no group finds it worth being tested, and there is nobody to be accurate about."
            )
        if not staying:
            everyone = "everybody applies" if total == 1 else f"all {total} groups apply"
            return f"{at} {everyone}: the model is right for {percent(result.assumed_accuracy)} of them, as assumed."
        who = listed(staying) if len(staying) <= MOST_NAMED else f"{len(staying)} of {total} groups"
        stay = "stays" if len(staying) == 1 else "stay"
        return (
            f"{at} {who} {stay} away: the model is right for {percent(result.induced_accuracy)} of those "
            f"who apply, not {percent(result.assumed_accuracy)} as assumed, and {percent(result.social_cost)} of "
            "qualified people stay away."
        )

    def sentences(self) -> list[str]:
        """One plain sentence per group."""
        frame = self.to_frame()
        return [
            group_sentence(name, row.cost, row.applies, row.selected, row.precision, row.subsidy_needed)
            for name, row in zip(self.names, frame.itertuples(), strict=True)
        ]

    # ------------------------------------------------------------------ as data

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values; NaN becomes None. With several costs, the others are under ``by_cost``."""
        first = self._one_cost()
        if len(self.costs) > 1:
            first["by_cost"] = [self.at(cost)._one_cost() for cost in self.costs]
        return first

    def _one_cost(self) -> dict[str, Any]:
        frame = self.to_frame()
        columns = (
            "n base_rate selected precision precision_low precision_high cost applies subsidy_needed accuracy "
            "selection_rate utility"
        ).split()
        groups = [
            {"group": name, **{column: _plain(value) for column, value in zip(columns, row, strict=True)}}
            for name, row in zip(self.names, frame[columns].itertuples(index=False), strict=True)
        ]
        cost: Any = self.cost
        if not isinstance(cost, int | float):
            listed_costs = group_costs(self.published.groups, cost)
            cost = {name: float(value) for name, value in zip(self.names, listed_costs, strict=True)}
        return {
            "cost": cost,
            "threshold": _plain(self.threshold),
            "n": _plain(self.population.counts.n.sum()),
            **{name: _plain(value) for name, value in self.outcome.to_dict().items()},
            "subsidy_kind": self.subsidy_kind,
            "groups": groups,
        }

    def to_json(self) -> str:
        """JSON text of :meth:`to_dict`."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    def to_html(self) -> str:
        """Report: one HTML page that needs nothing else. Needs the extra ``report``."""
        from .report import render

        return render(self)

    def _repr_html_(self) -> str:
        from html import escape

        frame = self.to_frame()[["n", "base_rate", "precision", "cost", "applies", "subsidy_needed"]]
        return f"<p>{escape(self.verdict())}</p>{frame._repr_html_()}"

    def __repr__(self) -> str:
        return f"{self.verdict()}\n{self.to_frame()}"


def group_sentence(
    name: str, cost: float, applies: bool, selected: float, precision: float, subsidy_needed: float
) -> str:
    """Say of one group whether it applies, why, and what would change that.

    Examples
    --------
    >>> group_sentence("B", 0.7, False, 100, 0.62, 0.08)
    'B stays away at a cost of 0.70: 62.0% of those who pass screening are hired; it would come at 0.62 or with a
    subsidy of 0.08.'
    """
    if selected == 0:
        if applies:
            return f"{name} applies at a cost of {amount(cost)}, although nobody in it passes screening."
        return f"{name} stays away: nobody in it passes screening, so no subsidy can bring it in."
    hired = f"{percent(precision)} of those who pass screening are hired"
    if applies:
        return f"{name} applies at a cost of {amount(cost)}: {hired}."
    if precision == 0:
        return f"{name} stays away at a cost of {amount(cost)}: nobody of those who pass screening is hired."
    return (
        f"{name} stays away at a cost of {amount(cost)}: {hired}; it would come at {amount_down(precision)} or with a "
        f"subsidy of {amount_up(subsidy_needed)}."
    )


def group_warning(selected: float, precision_low: float, precision_high: float, cost: float) -> str:
    """Why the number of a group should be taken with care; empty if there is no reason."""
    if selected == 0:
        return ""
    if selected < FEW_SELECTED:
        return f"only {count(selected)} pass screening, mostly chance"
    if precision_low < cost <= precision_high:
        return "the interval holds the cost"
    return ""


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return None
    if isinstance(value, float) and value.is_integer() and abs(value) > 2**53:
        return value
    return value


def default_threshold(lowest: float, highest: float) -> float:
    """One half for scores that can be probabilities; others must come with their threshold.

    Examples
    --------
    >>> default_threshold(0.1, 0.9)
    0.5
    """
    if lowest >= 0 and highest <= 1:
        return 0.5
    raise ValueError(
        f"Scores run from {lowest:g} to {highest:g}, so they are no probabilities and 0.5 is no obvious threshold; "
        "pass a threshold (--threshold; 0 is usual for a decision function)."
    )


def audit(
    y_true: ArrayLike,
    *,
    score: ArrayLike | None = None,
    threshold: float | None = None,
    y_pred: ArrayLike | None = None,
    sensitive_features: Any = None,
    cost: Cost | Sequence[float],
    subsidies: Subsidies = None,
    subsidy_kind: SubsidyKind = "additive",
    missing: str = "error",
    source: Source | None = None,
) -> Audit:
    """Find out who would not bother to apply to a screening model, and how wrong its assumed accuracy is.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Labels of 0 and 1, 1 = qualified.
    score : array-like of shape (n_rows,), optional
        Scores of any model; a person passes screening when the score is above ``threshold``.
    threshold : float, optional
        By default 0.5, if all scores lie between 0 and 1.
    y_pred : array-like of shape (n_rows,), optional
        Predictions of 0 and 1, instead of scores.
    sensitive_features : array-like, Series, DataFrame or dict of columns, optional
        Group of each row; combinations if there are several columns.
    cost : float, mapping from group to float, or list of floats
        Cost of being tested, in [0, 1]. Of several, the first is the main one.
    subsidies : float, or mapping from group to float, optional
        What groups are paid.
    subsidy_kind : {"additive", "proportional"}, default="additive"
        ``c_z = c - s_z`` or ``c_z = c (1 - s_z)``.
    missing : {"error", "own_group"}, default="error"
        What to do with rows whose group is missing.
    source : Source, optional
        What a report should say about the data.

    Returns
    -------
    Audit
        With ``verdict()``, ``to_frame()``, ``to_json()``, ``to_html()``.

    Examples
    --------
    >>> found = audit([1, 1, 0, 1, 0, 0], y_pred=[1, 1, 1, 1, 1, 0], sensitive_features=list("AAABBB"), cost=0.6)
    >>> found.verdict()
    'At a cost of 0.60, B stays away: the model is right for 66.7% of those who apply, not 66.7% as assumed, and 33.3%
    of qualified people stay away.'
    >>> found.sentences()[1]
    'B stays away at a cost of 0.60: 50.0% of those who pass screening are hired; it would come at 0.50 or with a
    subsidy of 0.10.'
    """
    if (score is None) == (y_pred is None):
        raise TypeError("Pass either score or y_pred.")
    costs: tuple[Cost, ...]
    if isinstance(cost, Mapping | pd.Series) or np.ndim(cost) == 0:
        costs = (cost if isinstance(cost, Mapping | pd.Series) else check_fraction(cost, "cost"),)
    else:
        costs = tuple(check_fraction(value, "cost") for value in cost)  # type: ignore[union-attr]
    if not costs:
        raise ValueError("cost is empty; pass at least one.")
    curves = None
    published: PublishedStatistics
    if score is not None:
        y, values = check_binary(y_true, "y_true"), check_floats(score, "score")
        groups = encode_groups(sensitive_features, n_rows=len(y), missing=missing)
        if len(values) != len(y):
            raise ValueError(f"Lengths differ: y_true has {len(y)}, score has {len(values)}.")
        if threshold is None:
            threshold = default_threshold(float(values.min()), float(values.max()))
        curves = ThresholdCurves.from_codes(y, values, groups.codes, groups.labels)
        published = curves.at(threshold)
    else:
        if threshold is not None:
            raise TypeError("threshold belongs to score; y_pred holds decisions already.")
        decided: Any = y_pred
        published = PublishedStatistics.from_predictions(
            y_true, decided, sensitive_features=sensitive_features, missing=missing
        )
    for value in costs:
        published.applies(value, subsidies, subsidy_kind=subsidy_kind)  # complains early about costs and subsidies
    return Audit(
        published=published,
        population=published,
        costs=costs,
        subsidies=subsidies,
        subsidy_kind=subsidy_kind,
        threshold=threshold,
        curves=curves,
        population_curves=curves,
        source=source or Source(),
    )
