"""The mathematics of self-selection, one function per statement.

The source is Horowitz, Sommer, Koren and Rosenfeld, "Classification Under Strategic Self-Selection" (ICML 2024). Where
a statement of the paper does not hold as printed, the function here is the corrected one and says so;
``tests/test_theory.py`` has the counterexamples. Statements have the numbers of the compiled paper. Symbols, all per
group: ``mu`` base rate, ``prc`` precision, ``q`` selection rate ``P(yhat = 1)``, ``c`` cost. Functions of numbers take
arrays and broadcast.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from ._validation import (
    BoolArray,
    FloatArray,
    check_binary,
    check_choice,
    check_floats,
    check_same_length,
    check_threshold,
)
from .behaviour import as_decisions
from .costs import Cost, Subsidies, SubsidyKind, Terms, least_proportional
from .counting import ratio, values_by_group
from .publishing import ThresholdCurves
from .statistics import SLACK


def _numbers(**values: ArrayLike) -> list[FloatArray]:
    """Check numbers in [0, 1]; only a precision may be NaN."""
    arrays = []
    for name, value in values.items():
        try:
            array = np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise TypeError(f"{name} must hold numbers, got {value!r}.") from error
        if array.size == 0:
            raise ValueError(f"{name} is empty.")
        if np.isnan(array).any() and name != "precision":
            raise ValueError(f"{name} has missing values.")
        if ((array < 0) | (array > 1)).any():
            raise ValueError(f"{name} must lie in [0, 1], got values from {np.nanmin(array)} to {np.nanmax(array)}.")
        arrays.append(array)
    return arrays


# ---------------------------------------------------------------------- utility and precision


def expected_utility(selection_rate: ArrayLike, precision: ArrayLike, cost: ArrayLike) -> FloatArray:
    """Expected utility of a person: ``q max(0, prc - c)``.

    At a fixed selection rate it is 0 for precisions up to the cost and rises strictly above it (Proposition 2 of the
    paper). With different selection rates, a higher precision can mean a lower utility (Proposition 3).

    Examples
    --------
    >>> float(expected_utility(0.5, 0.8, 0.6)) == 0.5 * (0.8 - 0.6)
    True
    """
    q, prc, c = _numbers(selection_rate=selection_rate, precision=precision, cost=cost)
    return np.where(q > 0, q * np.maximum(prc - c, 0.0), 0.0)


def bayes_precision(base_rate: ArrayLike, true_positive_rate: ArrayLike, selection_rate: ArrayLike) -> FloatArray:
    """Precision by Bayes' rule: ``mu TPR / q``, NaN where nobody is selected.

    Examples
    --------
    >>> float(bayes_precision(0.5, 0.75, 0.5))
    0.75
    """
    mu, tpr, q = _numbers(base_rate=base_rate, true_positive_rate=true_positive_rate, selection_rate=selection_rate)
    if (mu * tpr > q + SLACK).any():
        raise ValueError("selection_rate must be at least base_rate * true_positive_rate, the share of true positives.")
    return np.minimum(ratio(mu * tpr, q), 1.0)


# ---------------------------------------------------------------------- accuracy and application


def paper_accuracy_bounds(base_rate: ArrayLike, cost: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Accuracies between which a group is free to apply or not, according to the paper's Corollary 1.

    If somebody is selected, a group cannot apply at an accuracy below ``1 - mu max(1, 1/c - 1)`` and must apply from
    ``1 - mu min(1, 1/c - 1)`` on. Both are true (Proposition 4). The corollary, that everything in between is free, is
    not: see :func:`application_region`.

    Examples
    --------
    >>> low, high = paper_accuracy_bounds(0.25, 0.5)
    >>> float(low), float(high)
    (0.75, 0.75)
    """
    mu, c = _numbers(base_rate=base_rate, cost=cost)
    odds = np.where(c > 0, ratio(1 - c, c), np.inf)
    with np.errstate(invalid="ignore"):  # 0 * inf: a group without positives at cost 0
        highest = np.where(mu > 0, mu * np.maximum(1.0, odds), 0.0)
    return 1 - highest, 1 - mu * np.minimum(1.0, odds)


def precision_range(base_rate: ArrayLike, accuracy: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Smallest and largest precision that a classifier of a given accuracy can have.

    Let ``b = mu / (mu + 1 - acc)`` if ``acc >= mu`` and ``b = acc / (acc + 1 - mu)`` otherwise. Precisions lie in
    ``[b, 1]`` if ``acc > 1 - mu`` and in ``[0, b]`` if ``acc < 1 - mu``; they are 1/2 if equal. Both ends are NaN where
    a classifier of that accuracy selects nobody (``mu = 0, acc = 1`` and ``mu = 1, acc = 0``).

    Examples
    --------
    >>> low, high = precision_range(0.75, 0.45)
    >>> round(float(low), 3), float(high)
    (0.643, 1.0)
    """
    mu, acc = _numbers(base_rate=base_rate, accuracy=accuracy)
    mu, acc = np.broadcast_arrays(mu, acc)
    bound = np.where(acc >= mu, ratio(mu, mu + 1 - acc), ratio(acc, acc + 1 - mu))
    gap = acc - (1 - mu)
    even = np.abs(gap) <= SLACK
    low = np.where(even, 0.5, np.where(gap > 0, bound, 0.0))
    high = np.where(even, 0.5, np.where(gap > 0, 1.0, bound))
    nobody = even & ((mu == 0) | (mu == 1))
    return np.where(nobody, np.nan, low), np.where(nobody, np.nan, high)


def application_region(base_rate: ArrayLike, accuracy: ArrayLike, cost: ArrayLike) -> NDArray[np.str_]:
    """What accuracy alone implies about application: ``"applies"``, ``"stays away"``, ``"free"`` or ``"undefined"``.

    If somebody is selected, a group must apply iff the smallest possible precision reaches the cost, cannot apply iff
    the largest is below it, and is free otherwise. This is exact. The paper's regions (:func:`paper_accuracy_bounds`;
    Corollary 1, Figure 7) call some free where application is forced.

    Examples
    --------
    >>> str(application_region(0.75, 0.45, 0.6))
    'applies'
    """
    (c,) = _numbers(cost=cost)
    low, high = precision_range(base_rate, accuracy)
    conditions = [np.isnan(low + 0 * c), low >= c - SLACK, high < c - SLACK]
    return np.select(conditions, ["undefined", "applies", "stays away"], default="free")


# ---------------------------------------------------------------------- scores and thresholds


def _rates_by_score(y_true: ArrayLike, score: ArrayLike) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Distinct scores, and the numbers of people and of qualified people at each."""
    y, values = check_binary(y_true, "y_true"), check_floats(score, "score")
    check_same_length(y_true=y, score=values)
    distinct, inverse, n = np.unique(values, return_inverse=True, return_counts=True)
    return distinct, n.astype(np.float64), np.bincount(inverse, weights=y).astype(np.float64)


def is_calibrated_score(y_true: ArrayLike, score: ArrayLike) -> bool:
    """Whether ``P(y = 1 | score > t) >= P(y = 1 | score = t)`` for all t; equivalently, precision never falls with t.

    These are Definition 1 and Lemma 1 of the paper. The test is exact also for ties. For groups, see
    :meth:`selfselect.ThresholdCurves.is_calibrated`.

    Examples
    --------
    >>> is_calibrated_score([0, 1, 0, 1, 1], [1, 1, 2, 3, 3])
    True
    """
    return bool(ThresholdCurves.from_scores(y_true, score).is_calibrated().iloc[0])


def is_calibrated_probability(y_true: ArrayLike, score: ArrayLike, *, tolerance: float = 1e-9) -> bool:
    """Whether ``P(y = 1 | score = t) = t``: standard calibration.

    It implies :func:`is_calibrated_score` (Lemma 2 of the paper).

    Examples
    --------
    >>> is_calibrated_probability([0, 1, 1, 1], [0.5, 0.5, 1.0, 1.0])
    True
    """
    distinct, n, positives = _rates_by_score(y_true, score)
    return bool((np.abs(positives / n - distinct) <= tolerance).all())


def is_monotone_score(y_true: ArrayLike, score: ArrayLike) -> bool:
    """Whether ``P(y = 1 | score = t)`` never falls with t (Definition 2 of the paper, within one group).

    It implies :func:`is_calibrated_score` (Lemma 3), which does not imply it (Lemma 4).

    Examples
    --------
    >>> is_monotone_score([0, 1, 0, 1, 1], [1, 1, 2, 3, 3])
    False
    """
    _, n, positives = _rates_by_score(y_true, score)
    return bool((positives[1:] * n[:-1] >= positives[:-1] * n[1:]).all())


def block_groups(
    curves: ThresholdCurves,
    thresholds: Mapping[Any, float] | pd.Series | float,
    groups: Iterable[Any],
    cost: Cost,
    subsidies: Subsidies = None,
    *,
    subsidy_kind: SubsidyKind = "additive",
) -> pd.DataFrame:
    """Keep some groups from applying, without a change for the others (Corollary 5 of the paper).

    With a threshold per group, any groups with ``mu_z < c`` can be blocked: select all of their people, and their
    precision is the base rate. The paper's proof selects nobody instead. Then precision is undefined, against the
    condition of Proposition 1, and under ``BestResponse(undefined="apply")`` nobody is blocked.

    Here a group gets the lowest threshold at which somebody is selected and the precision is below the cost. This
    selects everybody if ``mu_z < c_z``. If ``mu_z >= c_z`` it exists only if the score is not calibrated for the group
    (Corollary 4). If there is none, nobody is selected.

    Parameters
    ----------
    curves : ThresholdCurves
        The score, by group.
    thresholds : float or mapping from group to float
        Thresholds of the given classifier.
    groups : iterable of labels
        Groups to block.
    cost, subsidies, subsidy_kind
        As in :meth:`selfselect.PublishedStatistics.applies`.

    Returns
    -------
    DataFrame, indexed by group
        ``threshold``; ``way``: "kept", "select_all", "select_some" or "select_none"; ``precision``.

    Examples
    --------
    >>> curves = ThresholdCurves.from_scores([1, 0, 1, 0], [2, 1, 1, 2], sensitive_features=list("AABB"))
    >>> block_groups(curves, 1.0, ["A"], cost=0.7)["way"].to_dict()
    {'A': 'select_all', 'B': 'kept'}
    """
    labels = curves.groups
    if isinstance(thresholds, Mapping | pd.Series):
        start = values_by_group(thresholds, labels, "thresholds", default=None)
    else:
        start = np.full(len(labels), check_threshold(thresholds))
    blocked = values_by_group(dict.fromkeys(groups, 1.0), labels, "groups", default=0.0) > 0
    step = _blocking_steps(curves, Terms(cost, subsidies, subsidy_kind))
    threshold = np.where(blocked & (step >= 0), curves.threshold[step], np.where(blocked, np.inf, start))
    way = np.select(
        [~blocked, step < 0, step == curves.start[:-1]], ["kept", "select_none", "select_all"], default="select_some"
    )
    at = np.array([curves.step_at(float(value))[code] for code, value in enumerate(threshold)], dtype=np.intp)
    return pd.DataFrame({"threshold": threshold, "way": way, "precision": curves.counts_of(at).precision}, index=labels)


def _blocking_steps(curves: ThresholdCurves, terms: Terms) -> NDArray[np.intp]:
    """Lowest step of each group that selects somebody and at which the group does not apply, -1 if there is none."""
    away = np.flatnonzero(~as_decisions(curves.step_shares(terms)) & (curves.selected > 0))
    owner, first = np.unique(curves.group[away], return_index=True)
    step = np.full(len(curves.groups), -1, dtype=np.intp)
    step[owner] = away[first]
    return step


@dataclass(frozen=True)
class StrategicOptimum:
    """Highest induced accuracy of any choice of one threshold per group; see :func:`strategic_optimum`.

    Attributes
    ----------
    group : label or None
        The most accurate group that applies; None if none can be made to apply.
    accuracy : float
        Induced accuracy, NaN if nobody can be made to apply.
    thresholds : Series, indexed by group
        Threshold of each group (inf where nobody is selected).
    by_group : DataFrame, indexed by group
        Best threshold of each group, from :meth:`selfselect.ThresholdCurves.best_by_group`.
    groups : tuple of labels
        All groups that apply.
    """

    group: Any
    accuracy: float
    thresholds: pd.Series
    by_group: pd.DataFrame
    groups: tuple[Any, ...] = ()


def strategic_optimum(
    curves: ThresholdCurves,
    cost: Cost,
    subsidies: Subsidies = None,
    *,
    subsidy_kind: SubsidyKind = "additive",
    min_selected: float = 0,
    shut_out: Literal["select_none", "select_all"] = "select_none",
) -> StrategicOptimum:
    """Highest induced accuracy if each group can have its own threshold (Proposition 5 of the paper).

    An average is never above its largest member. So if every group can be shut out, it is best to let in one group: the
    one with the highest accuracy subject to ``prc_z >= c_z`` and somebody being selected. The paper drops this
    constraint and can choose a group that does not apply.

    If somebody of every group must be selected (``shut_out="select_all"``), groups that :func:`block_groups` can only
    block by selecting nobody must be let in. The optimum lets in these groups, and all others that are more accurate
    than the resulting average. There can be several: the paper's "at most one" group with ``mu_z < c`` does not hold.

    Parameters
    ----------
    curves : ThresholdCurves
        The score, by group.
    cost, subsidies, subsidy_kind
        As in :meth:`selfselect.PublishedStatistics.applies`.
    min_selected : float, default=0
        Smallest number of selected people of a group that is let in.
    shut_out : {"select_none", "select_all"}, default="select_none"
        Shut groups out by selecting nobody, or as :func:`block_groups` does.

    Examples
    --------
    >>> curves = ThresholdCurves.from_scores([1, 0, 1, 0], [2, 1, 1, 2], sensitive_features=list("AABB"))
    >>> strategic_optimum(curves, cost=0.7).group
    'A'
    """
    check_choice(shut_out, "shut_out", ("select_none", "select_all"))
    table = curves.best_by_group(cost, subsidies, subsidy_kind=subsidy_kind, min_selected=min_selected)
    accuracy = table["accuracy"].to_numpy()
    out, forced = np.full(len(curves.groups), np.inf), np.zeros(len(curves.groups), dtype=bool)
    if shut_out == "select_all":
        step = _blocking_steps(curves, Terms(cost, subsidies, subsidy_kind))
        out, forced = curves.threshold[step], step < 0
        if np.isnan(accuracy[forced]).any():
            name = curves.groups[int((forced & np.isnan(accuracy)).argmax())]
            raise ValueError(f"Group {name!r} must apply, but has fewer people than min_selected={min_selected:g}.")
    inside = _best_mixture(accuracy, curves.n, forced)
    thresholds = pd.Series(np.where(inside, table["threshold"], out), index=curves.groups, name="threshold")
    if not inside.any():
        return StrategicOptimum(None, np.nan, thresholds, table)
    best = int(np.nanargmax(np.where(inside, accuracy, np.nan)))
    mean = accuracy[best] if inside.sum() == 1 else accuracy[inside] @ curves.n[inside] / curves.n[inside].sum()
    return StrategicOptimum(curves.groups[best], float(mean), thresholds, table, tuple(curves.groups[inside]))


def _best_mixture(accuracy: FloatArray, n: FloatArray, forced: BoolArray) -> BoolArray:
    """Set of groups, with the forced ones, that has the highest average accuracy; groups with NaN are excluded.

    Adding a group raises an average iff the group is above it. So groups are added from the most accurate down, as
    long as they raise the average.
    """
    inside = forced.copy()
    if not inside.any() and not np.isnan(accuracy).all():
        inside[int(np.nanargmax(accuracy))] = True
        return inside
    order = np.argsort(np.where(forced, np.nan, -accuracy), kind="stable")  # NaN comes last
    correct_before = np.cumsum(np.concatenate([[accuracy[forced] @ n[forced]], (accuracy * n)[order][:-1]]))
    people_before = np.cumsum(np.concatenate([[n[forced].sum()], n[order][:-1]]))
    inside[order[accuracy[order] * people_before > correct_before]] = True
    return inside


# ---------------------------------------------------------------------- independence and order


def _parity_rates(base_rate: ArrayLike, overall_base_rate: ArrayLike, overall_precision: ArrayLike) -> list[FloatArray]:
    return _numbers(base_rate=base_rate, overall_base_rate=overall_base_rate, overall_precision=overall_precision)


def parity_precision(base_rate: ArrayLike, overall_base_rate: ArrayLike, overall_precision: ArrayLike) -> FloatArray:
    """Precision of a group under equal selection rates and equal true-positive rates: ``prc mu_z / mu``.

    So precision follows base rates, as it also does under equalised odds or an equal lift ``TPR_z / q_z``. Equal
    selection rates alone, as in the paper's Proposition 6, are not enough.

    Examples
    --------
    >>> float(parity_precision(0.25, 0.5, 0.75))
    0.375
    """
    mu_z, mu, prc = _parity_rates(base_rate, overall_base_rate, overall_precision)
    return prc * ratio(mu_z, mu)


def parity_is_feasible(base_rates: ArrayLike, true_positive_rate: ArrayLike, selection_rate: ArrayLike) -> Any:
    """Whether all groups can have one selection rate and one true-positive rate.

    They can iff ``TPR mu_max <= q <= 1 - mu_max (1 - TPR)``.

    Examples
    --------
    >>> bool(parity_is_feasible([0.2, 0.4], 0.9, 0.3)), bool(parity_is_feasible([0.2, 0.4], 0.9, 0.5))
    (False, True)
    """
    mu, tpr, q = _numbers(base_rates=base_rates, true_positive_rate=true_positive_rate, selection_rate=selection_rate)
    top = mu.max()
    return (tpr * top <= q + SLACK) & (q <= 1 - top * (1 - tpr) + SLACK)


def parity_precision_ceiling(base_rates: ArrayLike) -> FloatArray:
    """Largest precision of each group under equal selection rates and true-positive rates: ``mu_z / mu_max``.

    A group whose ceiling is below the cost cannot apply without a subsidy.

    Examples
    --------
    >>> parity_precision_ceiling([0.1, 0.2, 0.4]).tolist()
    [0.25, 0.5, 1.0]
    """
    (mu,) = _numbers(base_rates=base_rates)
    return ratio(mu, mu.max())


# ---------------------------------------------------------------------- subsidies


def least_subsidy(precision: ArrayLike, cost: ArrayLike) -> FloatArray:
    """Smallest additive subsidy at which a group applies: ``max(0, c - prc)``, NaN without a precision.

    Examples
    --------
    >>> least_subsidy([0.5, 0.75], 0.75).tolist()
    [0.25, 0.0]
    """
    prc, c = _numbers(precision=precision, cost=cost)
    return np.maximum(c - prc, 0.0)


def least_proportional_subsidy(precision: ArrayLike, cost: ArrayLike) -> FloatArray:
    """Smallest proportional subsidy at which a group applies: ``max(0, 1 - prc / c)``.

    Examples
    --------
    >>> least_proportional_subsidy([0.375, 0.75], 0.75).tolist()
    [0.5, 0.0]
    """
    return least_proportional(*_numbers(precision=precision, cost=cost))


def levelling_subsidy(
    base_rate: ArrayLike,
    target_base_rate: ArrayLike,
    overall_base_rate: ArrayLike,
    overall_precision: ArrayLike,
) -> FloatArray:
    """Subsidy that makes a group apply like one of a higher base rate: ``prc (mu_z' - mu_z) / mu``.

    This holds where precision is ``prc mu_z / mu`` (:func:`parity_precision`).

    Examples
    --------
    >>> float(levelling_subsidy(0.25, 0.5, 0.5, 0.75))
    0.375
    """
    own = parity_precision(base_rate, overall_base_rate, overall_precision)
    return np.maximum(parity_precision(target_base_rate, overall_base_rate, overall_precision) - own, 0.0)


def subsidised_base_rate(
    base_rate: ArrayLike, subsidy: ArrayLike, overall_base_rate: ArrayLike, overall_precision: ArrayLike
) -> FloatArray:
    """Base rate of a group that would decide, without a subsidy, like a subsidised one: ``mu_z + s mu / prc``.

    This holds where precision is ``prc mu_z / mu``. The paper's formula omits the factor ``1 / prc``. The result may
    exceed 1.

    Examples
    --------
    >>> float(subsidised_base_rate(0.25, 0.375, 0.5, 0.75))
    0.5
    """
    mu_z, mu, prc = _parity_rates(base_rate, overall_base_rate, overall_precision)
    amount = np.asarray(subsidy, dtype=np.float64)
    if (amount < 0).any():
        raise ValueError("subsidy must not be negative.")
    return mu_z + amount * ratio(mu, prc)


def sufficient_subsidy(base_rate: ArrayLike, cost: ArrayLike) -> FloatArray:
    """Subsidy at which a group applies at any threshold of a score that is calibrated for it: ``max(0, c - mu_z)``.

    Under calibration, precision is never below the base rate while somebody is selected (Corollary 4 of the paper).

    Examples
    --------
    >>> float(sufficient_subsidy(0.25, 0.75))
    0.5
    """
    mu, c = _numbers(base_rate=base_rate, cost=cost)
    return np.maximum(c - mu, 0.0)
