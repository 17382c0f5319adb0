"""Groups whose interval of precision includes their cost, so that chance decides whether they apply.

``report/scripts/undecided.js`` has the same rules.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from scipy.special import chdtr, gammaln, xlogy

from .._validation import BoolArray, FloatArray
from ..behaviour import BestResponse, Shares
from ..costs import Terms
from ..counting import GroupCounts, ratio
from ..outcomes import outcome_bounds
from ..statistics import SLACK, Precision

#: Of each number, the shares of each group that apply at its lower end and at its upper end.
Decisions: TypeAlias = dict[str, tuple[Shares, Shares]]
#: Numbers that have an interval.
MEASURED = ("assumed_accuracy", "induced_accuracy", "application_rate", "social_cost")
#: Deviance of a precision from a cost above which chance does not explain the difference: four standard errors.
CERTAIN = 16.0


def either_way(counts: GroupCounts, applies: BoolArray, undecided: BoolArray) -> dict[str, Any]:
    """Ranges of accuracy among applicants and social cost over all decisions of the undecided groups, exactly.

    Accuracy among applicants is a ratio of sums. If adding a group raises it, so does adding any group with a higher
    accuracy. So at the highest accuracy, the undecided groups with the highest accuracy apply; at the lowest, those
    with the lowest. Each group that stays away adds to social cost. Both ends include the bounds over labels of people
    who were not tested; ``nobody`` says whether it is possible that nobody applies. Of qualified people who are
    rejected, those whose label is known are counted.
    """
    certain, possible = applies & ~undecided, applies | undecided
    fewest, most = (outcome_bounds(counts, who.astype(np.float64))["social_cost"] for who in (possible, certain))
    missed, n = counts.positives - counts.true_positives, counts.n.sum()
    low, high = (
        _extreme_accuracy(counts, correct, certain, undecided, sign)
        for correct, sign in zip(counts.correct_bounds, (-1, 1), strict=True)
    )
    return {
        "induced_accuracy": (low, high),
        "social_cost": (float(fewest[0]), float(most[1])),
        "application_rate": tuple(float(ratio(counts.n[who].sum(), n)) for who in (certain, possible)),
        "qualified_rejected": tuple(
            float(ratio(missed[who].sum(), counts.positives.sum())) for who in (certain, possible)
        ),
        "nobody": not certain.any(),
    }


def _extreme_accuracy(
    counts: GroupCounts, correct: FloatArray, certain: BoolArray, undecided: BoolArray, sign: int
) -> float:
    """Lowest (sign -1) or highest (1) accuracy among applicants, NaN if nobody can apply."""
    order = np.flatnonzero(undecided & (counts.n > 0))
    order = order[np.argsort(-sign * correct[order] / counts.n[order], kind="stable")]
    sums = np.concatenate([[correct[certain].sum()], correct[order]]).cumsum()
    people = np.concatenate([[counts.n[certain].sum()], counts.n[order]]).cumsum()
    accuracy = sign * ratio(sums, people)
    return float(sign * np.nanmax(accuracy)) if not np.isnan(accuracy).all() else float("nan")


def decision_ranges(groups: pd.Index, counts: GroupCounts, terms: Terms, confidence: float) -> Decisions | None:
    """Decisions at the lower and at the upper end of each number, over all that the data do not exclude.

    A group whose precision lies near its cost may decide otherwise in the population than in the sample. To assume this
    of a group costs its deviance, twice the difference of the log-likelihoods of its precision and of its cost. The sum
    of deviances of all groups that decide otherwise in the population is below :func:`deviance_quantile` with the given
    confidence, however many groups there are. So each end is the extreme over all sets of groups within this budget;
    the last group of a set may count in part. If people decide by another statistic than precision, decisions are those
    of the published table at both ends; where a share of each group applies, those of each resample (None).
    """
    shares = terms.shares(groups, counts)
    if shares.dtype != bool or type(terms.behaviour) is not BestResponse:
        return None
    if type(terms.statistic) is not Precision:
        return dict.fromkeys(MEASURED, (shares, shares))
    deviance = deviances(counts, terms.effective_cost(groups))
    reach = deviance <= CERTAIN
    budget = deviance_quantile(int(reach.sum()), confidence)
    price = np.where(reach & (deviance <= budget), deviance, np.inf)
    n = counts.n.astype(np.float64)

    def extreme(weights: FloatArray, sign: int, people: FloatArray | None = None) -> FloatArray:
        return extreme_shares(shares, price, budget, weights, sign, people)

    fewest, most = (extreme(counts.positives + counts.unknown, sign) for sign in (-1, 1))
    low, high = counts.correct_bounds
    return {
        "assumed_accuracy": (shares, shares),
        "induced_accuracy": (extreme(low, -1, n), extreme(high, 1, n)),
        "application_rate": (extreme(n, -1), extreme(n, 1)),
        "social_cost": (most, fewest),
    }


def deviances(counts: GroupCounts, costs: FloatArray) -> FloatArray:
    """Deviance of each group's precision from its cost; infinite if applying is free.

    Where nobody passes, it is that of a group whose people pass as often as all people do: a small group may have
    people who pass in the population, a large one is taken to have none, as are all if nobody passes anywhere.
    """
    hits, passed = (np.asarray(part, dtype=np.float64) for part in counts.effective_trials)
    limits, misses = np.clip(costs, 0, 1), passed - hits
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = xlogy(hits, hits / (passed * limits)) + xlogy(misses, misses / (passed * (1 - limits)))
        nobody = -counts.n * counts.people_per_weight * np.log1p(-counts.selected.sum() / counts.n.sum())
        nobody = np.where(counts.selected.any(), nobody, np.inf)
    deviance = 2 * np.maximum(np.where(passed > 0, parts, nobody), 0)
    return np.where(limits > 0, np.nan_to_num(deviance, nan=np.inf, posinf=np.inf), np.inf)


def deviance_quantile(n_groups: int, confidence: float) -> float:
    """Quantile of the sum of deviances of the groups that fall on the wrong side of their cost, all being at it.

    Each does with a chance of one half, and then adds a chi-squared variable.
    """
    if n_groups == 0:
        return 0.0
    count = np.arange(n_groups + 1)
    chance = np.exp(gammaln(n_groups + 1) - gammaln(count + 1) - gammaln(n_groups - count + 1) - n_groups * np.log(2))
    low, high = 0.0, 20.0 + 10 * n_groups
    while high - low > 1e-12 * high:  # bisection: scipy.optimize would take longer to import
        middle = (low + high) / 2
        # chdtr is the distribution function of the chi-squared distribution; without any group the sum is 0
        if chance[0] + chance[1:] @ chdtr(count[1:], middle) < confidence:
            low = middle
        else:
            high = middle
    return high


def extreme_shares(
    applies: BoolArray, price: FloatArray, budget: float, weights: FloatArray, sign: int, people: FloatArray | None
) -> FloatArray:
    """Shares with the highest (sign 1) or lowest (-1) sum of weights, or ratio of it to the people who apply.

    ``price`` is what turning the decision of a group costs. A ratio is maximised by Dinkelbach's method.
    """
    value, turn = (1 - sign) / 2, np.where(applies, -1.0, 1.0)
    shares = applies.astype(np.float64)
    for _ in range(1 if people is None else 50):
        gain = sign * turn * (weights if people is None else weights - value * people)
        open_ = np.flatnonzero((gain > SLACK) & (price <= budget))
        order = open_[np.argsort(-ratio(gain[open_], price[open_] + SLACK), kind="stable")]
        before = np.cumsum(price[order]) - price[order]
        turned = applies.astype(np.float64)
        turned[order] += turn[order] * np.clip(ratio(budget - before, price[order] + SLACK), 0, 1)
        if people is None:
            return turned
        applicants = float(turned @ people)
        if applicants <= SLACK or abs(turned @ weights / applicants - value) < SLACK:
            break
        shares, value = turned, float(turned @ weights) / applicants
    return shares
