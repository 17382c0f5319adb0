"""The mathematics of self-selection, one function per statement.

The source is Horowitz, Sommer, Koren and Rosenfeld, "Classification Under Strategic Self-Selection" (ICML 2024). Where
a statement of the paper does not hold as printed, the function here is the corrected one and says so;
``tests/test_theory.py`` has the counterexamples. Statements have the numbers of the compiled paper, which
``docs/research/theory.md`` lists. Symbols: ``mu`` base rate, ``prc`` precision, ``q`` selection
rate ``P(yhat = 1)``, ``c`` cost, all per group. All functions of numbers take arrays and broadcast.
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
from .behaviour import SLACK
from .costs import Cost, Subsidies, SubsidyKind, Terms, least_additive, least_proportional
from .counting import ratio, values_by_group
from .publishing import ThresholdCurves


def _numbers(**values: ArrayLike) -> list[FloatArray]:
    """Arrays of numbers in [0, 1], of shapes that go together; only a precision may be NaN (undefined)."""
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
    try:
        np.broadcast_shapes(*(array.shape for array in arrays))
    except ValueError as error:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in zip(values, arrays, strict=True))
        raise ValueError(f"Shapes do not go together: {shapes}.") from error
    return arrays


# ---------------------------------------------------------------------- utility and precision


def expected_utility(selection_rate: ArrayLike, precision: ArrayLike, cost: ArrayLike) -> FloatArray:
    """Utility of a person who applies only when it pays: ``q max(0, prc - c)``.

    At a fixed selection rate it is flat in the precision up to the cost and rises strictly above (Proposition 2 of the
    paper). Across classifiers with different selection rates a higher precision can mean a lower utility (Proposition
    3).

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
        raise ValueError("selection_rate must be at least base_rate * true_positive_rate: these people are selected.")
    return np.minimum(ratio(mu * tpr, q), 1.0)


# ---------------------------------------------------------------------- accuracy and application


def paper_accuracy_bounds(base_rate: ArrayLike, cost: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Accuracies between which, by the paper's Corollary 1, application is unconstrained.

    Below ``1 - mu max(1, 1/c - 1)`` the group cannot apply, from ``1 - mu min(1, 1/c - 1)`` on it must (given that
    someone is selected). Both are true (Proposition 4); that everything in between is free (Corollary 1) is not: see
    :func:`application_region`.

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
    """Least and largest precision that a classifier of a given accuracy can have.

    With ``b = mu / (mu + 1 - acc)`` if ``acc >= mu`` and ``b = acc / (acc + 1 - mu)`` otherwise, the precisions are
    ``[b, 1]`` if ``acc > 1 - mu``, ``[0, b]`` if ``acc < 1 - mu``, and exactly 1/2 if equal. Both are NaN where a
    classifier of that accuracy selects nobody (``mu = 0, acc = 1`` and ``mu = 1, acc = 0``).

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
    """What accuracy alone says about application: ``"applies"``, ``"stays away"``, ``"free"`` or ``"undefined"``.

    A group of base rate ``mu``, judged with accuracy ``acc`` by a classifier that selects someone, must apply iff the
    least precision possible is at least the cost, cannot apply iff the largest is below, and is free otherwise. This
    is exact; the paper's regions (:func:`paper_accuracy_bounds`; Corollary 1, Figure 7) miss some of the forced ones.

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
    """Distinct score values in rising order, people at each, and qualified people at each."""
    y, values = check_binary(y_true, "y_true"), check_floats(score, "score")
    check_same_length(y_true=y, score=values)
    distinct, inverse, n = np.unique(values, return_inverse=True, return_counts=True)
    return distinct, n.astype(np.float64), np.bincount(inverse, weights=y).astype(np.float64)


def is_calibrated_score(y_true: ArrayLike, score: ArrayLike) -> bool:
    """Whether ``P(y = 1 | score > t) >= P(y = 1 | score = t)`` throughout, equivalently: precision never falls with t.

    These are Definition 1 and Lemma 1 of the paper; the test is exact with ties. For groups, see
    :meth:`selfselect.ThresholdCurves.is_calibrated`.

    Examples
    --------
    >>> is_calibrated_score([0, 1, 0, 1, 1], [1, 1, 2, 3, 3])
    True
    """
    return bool(ThresholdCurves.from_scores(y_true, score).is_calibrated().iloc[0])


def is_calibrated_probability(y_true: ArrayLike, score: ArrayLike, *, tolerance: float = 1e-9) -> bool:
    """Whether ``P(y = 1 | score = t) = t``: standard calibration, which implies :func:`is_calibrated_score`.

    That it does is Lemma 2 of the paper.

    Examples
    --------
    >>> is_calibrated_probability([0, 1, 1, 1], [0.5, 0.5, 1.0, 1.0])
    True
    """
    distinct, n, positives = _rates_by_score(y_true, score)
    return bool((np.abs(positives / n - distinct) <= tolerance).all())


def is_monotone_score(y_true: ArrayLike, score: ArrayLike) -> bool:
    """Whether ``P(y = 1 | score = t)`` never falls with t: monotonicity, which implies :func:`is_calibrated_score`.

    It is Definition 2 of the paper, within one group; the implication is Lemma 3, and that there is none the other way
    Lemma 4.

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
    """Keep some groups from applying without a change for anybody else (Corollary 5 of the paper).

    The paper: with an offset per group, any set of groups with ``mu_z < c`` can be blocked by a classifier that agrees
    with the given one elsewhere. True: select everybody of them, and their precision is the base rate. Its proof sets
    the offsets to minus infinity, which selects nobody: then precision is undefined, against the condition of
    Proposition 1, and where people without a precision apply (``BestResponse(undefined="apply")``) nobody is blocked.

    Exactly: a group is given the lowest threshold that selects someone and leaves its precision below what it faces.
    That is everybody if ``mu_z < c_z``; it may be some people if ``mu_z >= c_z``, if the score is not calibrated for
    the group. Where no threshold does it (a calibrated score, by Corollary 4), what is left is to select nobody.

    Parameters
    ----------
    curves : ThresholdCurves
        The score, by group.
    thresholds : float or mapping from group to float
        Thresholds of the classifier to start from.
    groups : iterable of labels
        Groups to block.
    cost, subsidies, subsidy_kind
        As in :meth:`selfselect.PublishedStatistics.applies`.

    Returns
    -------
    DataFrame, indexed by group
        ``threshold``; ``way``: "kept", "select_all", "select_some" or "select_none"; ``precision``, NaN where nobody is
        selected.

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
    step = _blocking_steps(curves, Terms(cost, subsidies, subsidy_kind).effective_cost(labels))
    found = blocked & (step >= 0)
    threshold = np.where(found, curves.threshold[step], np.where(blocked, np.inf, start))
    way = np.select(
        [~blocked, step < 0, step == curves.start[:-1]], ["kept", "select_none", "select_all"], default="select_some"
    )
    at = np.array([curves.step_at(float(value))[code] for code, value in enumerate(threshold)], dtype=np.intp)
    return pd.DataFrame({"threshold": threshold, "way": way, "precision": curves.counts_of(at).precision}, index=labels)


def _blocking_steps(curves: ThresholdCurves, costs: FloatArray) -> NDArray[np.intp]:
    """Lowest step of each group that selects someone and at which it stays away, -1 if there is none."""
    away = np.flatnonzero(~curves.step_applies(costs) & (curves.selected > 0))
    owner, first = np.unique(curves.group[away], return_index=True)
    step = np.full(len(curves.groups), -1, dtype=np.intp)
    step[owner] = away[first]
    return step


@dataclass(frozen=True)
class StrategicOptimum:
    """Best that a firm can do which sets a threshold for each group on a given score.

    Attributes
    ----------
    group : label or None
        The group that applies, the most accurate one if several do; None if no group can be made to.
    accuracy : float
        Induced accuracy, NaN if nobody can be made to apply.
    thresholds : Series, indexed by group
        Thresholds of the applying groups, and those that keep the others out (inf where nobody is selected).
    by_group : DataFrame, indexed by group
        Best accuracy of each group alone, subject to its applying.
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
    """Most accurate way to let groups in, when each group can be given its own offset (Proposition 5 of the paper).

    An average over applying groups is never above its largest member. So where every group can be shut out, one group
    suffices: the one that maximises ``A_z(c)``, the accuracy on z alone subject to someone being selected and
    ``prc_z >= c_z``. The paper drops that constraint and can pick a group which then does not apply.

    If someone of every group must be selected (``shut_out="select_all"``), a group with ``mu_z < c_z`` is shut out by
    selecting everybody, but one with ``mu_z >= c_z`` only at a threshold where its precision is below; under a score
    that is calibrated for it there is none (Corollary 4), and it must be let in. The optimum then lets in those, each
    at its best, and of the others all that are more accurate than the average which results. These can be several: the
    paper's "at most one" of the groups with ``mu_z < c`` does not hold.

    Parameters
    ----------
    curves : ThresholdCurves
        The score, by group.
    cost, subsidies, subsidy_kind
        As in :meth:`selfselect.PublishedStatistics.applies`.
    min_selected : float, default=0
        Leave out thresholds that let a group in while selecting fewer people.
    shut_out : {"select_none", "select_all"}, default="select_none"
        How groups are shut out: nobody of them is selected, which is always possible; or by the lowest threshold that
        does it while selecting someone, as in :func:`block_groups`.

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
        step = _blocking_steps(curves, Terms(cost, subsidies, subsidy_kind).effective_cost(curves.groups))
        out, forced = curves.threshold[step], step < 0
        if np.isnan(accuracy[forced]).any():
            name = curves.groups[int((forced & np.isnan(accuracy)).argmax())]
            raise ValueError(f"Group {name!r} must apply, and has fewer people than min_selected={min_selected:g}.")
    inside = _best_mixture(accuracy, curves.n, forced)
    thresholds = pd.Series(np.where(inside, table["threshold"], out), index=curves.groups, name="threshold")
    if not inside.any():
        return StrategicOptimum(None, np.nan, thresholds, table)
    best = int(np.nanargmax(np.where(inside, accuracy, np.nan)))
    found = accuracy[best] if inside.sum() == 1 else accuracy[inside] @ curves.n[inside] / curves.n[inside].sum()
    return StrategicOptimum(curves.groups[best], float(found), thresholds, table, tuple(curves.groups[inside]))


def _best_mixture(accuracy: FloatArray, n: FloatArray, forced: BoolArray) -> BoolArray:
    """Groups, the forced ones among them, over which the average accuracy is highest; NaN cannot be let in.

    Adding a group raises an average iff the group is above it. So they are taken from the most accurate on, as long as
    they are: no others, and no fewer, can do better.
    """
    inside = forced.copy()
    if not inside.any():
        if not np.isnan(accuracy).all():
            inside[int(np.nanargmax(accuracy))] = True
        return inside
    right, people = float(accuracy[inside] @ n[inside]), float(n[inside].sum())
    for code in np.argsort(-accuracy, kind="stable"):  # NaN comes last
        if inside[code]:
            continue
        if not accuracy[code] * people > right:
            break
        inside[code] = True
        right, people = right + float(accuracy[code] * n[code]), people + float(n[code])
    return inside


# ---------------------------------------------------------------------- independence and order


def parity_precision(base_rate: ArrayLike, overall_base_rate: ArrayLike, overall_precision: ArrayLike) -> FloatArray:
    """Precision of a group under equal selection rates AND equal true-positive rates: ``prc mu_z / mu``.

    Then, and also under equalised odds or an equal lift ``TPR_z / q_z``, precision follows base rates. Equal selection
    rates alone, as in the paper's Proposition 6, do not give this.

    Examples
    --------
    >>> float(parity_precision(0.25, 0.5, 0.75))
    0.375
    """
    mu_z, mu, prc = _numbers(
        base_rate=base_rate, overall_base_rate=overall_base_rate, overall_precision=overall_precision
    )
    return prc * ratio(mu_z, mu)


def parity_is_feasible(base_rates: ArrayLike, true_positive_rate: ArrayLike, selection_rate: ArrayLike) -> Any:
    """Whether all groups can share a selection rate q and a true-positive rate.

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
    """Largest precision each group can have under equal selection and true-positive rates: ``mu_z / mu_max``.

    A group whose ceiling is below the cost can then never apply without a subsidy.

    Examples
    --------
    >>> parity_precision_ceiling([0.1, 0.2, 0.4]).tolist()
    [0.25, 0.5, 1.0]
    """
    (mu,) = _numbers(base_rates=base_rates)
    return ratio(mu, mu.max())


# ---------------------------------------------------------------------- subsidies


def least_subsidy(precision: ArrayLike, cost: ArrayLike) -> FloatArray:
    """Least additive subsidy at which a group applies: ``max(0, c - prc)``, NaN where precision is undefined.

    Examples
    --------
    >>> least_subsidy([0.5, 0.75], 0.75).tolist()
    [0.25, 0.0]
    """
    return least_additive(*_numbers(precision=precision, cost=cost))


def least_proportional_subsidy(precision: ArrayLike, cost: ArrayLike) -> FloatArray:
    """Least share of the cost that must be paid for a group to apply: ``max(0, 1 - prc / c)``.

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
    """Subsidy that places a group level with another of a higher base rate: ``prc (mu_z' - mu_z) / mu``.

    It holds where precision is ``prc mu_z / mu`` (:func:`parity_precision`).

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
    """Base rate whose owner would decide as a subsidised group does: ``mu_z + s mu / prc``.

    It holds where precision is ``prc mu_z / mu``; the paper's formula lacks the factor ``1 / prc``. The result may
    exceed 1.

    Examples
    --------
    >>> float(subsidised_base_rate(0.25, 0.375, 0.5, 0.75))
    0.5
    """
    mu_z, mu, prc = _numbers(
        base_rate=base_rate, overall_base_rate=overall_base_rate, overall_precision=overall_precision
    )
    amount = np.asarray(subsidy, dtype=np.float64)
    if (amount < 0).any():
        raise ValueError("subsidy must not be negative.")
    return mu_z + amount * ratio(mu, prc)


def sufficient_subsidy(base_rate: ArrayLike, cost: ArrayLike) -> FloatArray:
    """Subsidy that brings a group in at any threshold of a score calibrated for it: ``max(0, c - mu_z)``.

    Precision is then never below the base rate, as long as someone is selected (Corollary 4 of the paper).

    Examples
    --------
    >>> float(sufficient_subsidy(0.25, 0.75))
    0.5
    """
    mu, c = _numbers(base_rate=base_rate, cost=cost)
    return np.maximum(c - mu, 0.0)
