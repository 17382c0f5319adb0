"""A threshold per group: the exact optimum over all steps of a score, under constraints.

At each step t a share ``a_z(t)`` of group z applies; under a best response this is all of the group or nobody. Over one
step per group, the objective is

    maximise  sum_z a_z(t_z) gain_z(t_z) / sum_z a_z(t_z) n_z

which is induced accuracy if the gain is the number of correct decisions. By Dinkelbach's iteration each group has a
best step at every value of the ratio, which does not depend on the other groups (:mod:`.group_sets`). Parity
constraints are met by a search over windows of rates (:mod:`.rate_windows`).

A group applies, yes or no, if at least half of it does. A step at which somebody would apply, but not reliably, is not
used. The exception is a group that has no other step. Its people and its gain are part of the value, but it helps no
constraint, and another group is made to apply if possible.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from .._validation import BoolArray, FloatArray, check_choice, list_some
from ..behaviour import LEAST_SHARE, MAJORITY, Shares, as_decisions
from ..constraints import Constraints, InfeasibleError, RateParity
from ..counting import CountCurves, ratio
from ..statistics import SLACK
from .group_sets import GroupChoices, GroupSet, StepOptions, best_set
from .rate_windows import RateWindows, WindowResult, narrowest_windows

#: Step of a group of which nobody applies: the one that selects the fewest, or everybody (if nobody applies then).
#: With "forbid", the fewest that ``constraints.min_selected`` allows.
ShutOut: TypeAlias = Literal["select_none", "select_all", "forbid"]
#: Work that a search under parity constraints may take, in groups looked at: some seconds.
MAX_WORK = 3e7
#: Thresholds are called exact if no others can be better by more than this.
EXACT_GAP = 1e-9


@dataclass(frozen=True, eq=False)
class OptimalThresholds:
    """A step for each group (a position in the steps of the score), whether at least half applies, and what share does.

    ``value`` is gain over people of those who apply, NaN if nobody does. No other thresholds have a value above
    ``value + gap``; they are ``exact`` if the gap is only rounding.
    """

    step: NDArray[np.intp]
    applying: BoolArray
    value: float
    gap: float
    exact: bool
    share: FloatArray


def optimise_thresholds(
    steps: CountCurves,
    shares: Shares,
    reliable: BoolArray | None = None,
    gain: FloatArray | None = None,
    *,
    shut_out: ShutOut = "select_none",
    constraints: Constraints | None = None,
    only: BoolArray | None = None,
    max_work: float = MAX_WORK,
) -> OptimalThresholds:
    """Give each group the step that makes the whole best, under constraints.

    Parameters
    ----------
    steps : CountCurves
        Counts of each group at every threshold of a score.
    shares, reliable, gain : ndarray of shape (n_steps,)
        Share of the step's group that applies (booleans, or numbers in [0, 1]); whether it can be relied on to apply,
        by default wherever somebody does; and what the step adds to the numerator if the whole group applies, by
        default the number of correct decisions.
    shut_out : {"select_none", "select_all", "forbid"}, default="select_none"
        See :data:`ShutOut`.
    constraints : Constraints, optional
        Those between groups must be :class:`~selfselect.constraints.RateParity`.
    only : ndarray of bool of shape (n_groups,), optional
        Groups that apply if they can, while all others stay away if they can. By default the best set is chosen.
    max_work : float, default=3e7
        Limit of the search under parity constraints. Beyond it, ``exact`` is False.

    Returns
    -------
    OptimalThresholds
        If nobody can apply and no group must, all stay away and the value is NaN. Of equally good sets of whole groups
        the largest is chosen. If a constraint cannot be met, :class:`InfeasibleError` says which, and what came
        nearest.
    """
    constraints = Constraints() if constraints is None else constraints
    check_choice(shut_out, "shut_out", get_args(ShutOut))
    if shut_out == "forbid" and constraints.min_selected is None:
        raise ValueError("shut_out='forbid' needs min_selected: how many of each group must be selected.")
    shares = _check_shares(steps, shares)
    task = _make_task(steps, shares, reliable, gain, constraints, only)
    windows = RateWindows(task.options, task.parities)
    result, finished = windows.search(task.best_set, max_work)
    if result is None:
        result = _nobody_applies(task, windows, finished, max_work)
    somebody, value = bool(result.set.applying.any()), result.set.value
    gap = float(max(result.upper - value, 0.0)) if somebody else 0.0
    step = _steps_of(task, result, select_all=shut_out == "select_all")
    return OptimalThresholds(
        step=step,
        applying=as_decisions(shares[step]),
        value=value if somebody else np.nan,
        gap=gap,
        exact=finished and gap <= EXACT_GAP,
        share=shares[step],
    )


@dataclass(frozen=True, eq=False)
class _Task:
    """Constraints turned into options: all options meet the constraints on single groups."""

    steps: CountCurves
    constraints: Constraints
    options: StepOptions
    parities: list[RateParity]
    need: float

    def best_set(self, choices: GroupChoices, exact: bool) -> GroupSet | None:
        """The best set of groups that keeps social cost within its limit."""
        return best_set(choices, self.need, exact=exact)


def _check_shares(steps: CountCurves, shares: Shares) -> FloatArray:
    shares = np.asarray(shares, dtype=np.float64)
    if shares.shape != steps.group.shape or not ((shares >= 0) & (shares <= 1)).all():
        raise ValueError("shares must have one entry per step, each in [0, 1].")
    return np.where(shares < LEAST_SHARE, 0.0, shares)


def _make_task(
    steps: CountCurves,
    shares: FloatArray,
    reliable: BoolArray | None,
    gain: FloatArray | None,
    constraints: Constraints,
    only: BoolArray | None,
) -> _Task:
    group, n, positives = steps.group, steps.n.astype(np.float64), steps.positives.astype(np.float64)
    gain = np.asarray(steps.correct if gain is None else gain, dtype=np.float64)
    somebody, majority = shares > 0, shares >= MAJORITY
    reliable = somebody if reliable is None else np.asarray(reliable, dtype=bool)
    if not (reliable.shape == gain.shape == group.shape) or not np.isfinite(gain).all():
        raise ValueError("reliable and gain must have one entry per step, and every gain must be finite.")
    for given in (constraints.required, constraints.min_selected):
        if given is not None and given.shape != n.shape:
            raise ValueError(f"Constraints on single groups must have one entry for each of the {len(n)} groups.")
    least = (constraints.min_selection_rate - SLACK) * n
    if constraints.min_selected is not None:
        _check_min_selected(steps, constraints.min_selected)
        least = np.maximum(least, constraints.min_selected - SLACK * n)
    allowed = steps.selected >= least[group]
    usable = allowed & (reliable | ~somebody)

    def has(some: BoolArray) -> BoolArray:
        return np.bincount(group[some], minlength=len(n)) > 0

    required, can_apply = constraints.required_of(len(n)), has(usable & somebody)
    can_have_majority = has(usable & majority)
    if (required & ~can_have_majority).any():
        raise InfeasibleError(_cannot_apply(steps, allowed, np.flatnonzero(required & ~can_have_majority)))
    unavoidable = ~has(usable)
    if only is not None:
        required = required | (only & can_have_majority)
        stays_away = ~only & ~required & has(usable & ~majority)
        usable &= ~(majority & stays_away[group])
    usable &= majority | ~required[group]
    usable |= allowed & unavoidable[group]
    # a group's last step selects the fewest: reverse the steps of each group
    reverse = steps.start[group] + steps.start[group + 1] - 1 - np.arange(len(group))
    step = reverse[usable[reverse]]
    share = shares[step]
    cover = np.where(can_apply, positives, 0.0)
    need = (1 - constraints.max_social_cost - SLACK) * float(positives.sum())
    parities, rates = [], []
    for parity in constraints.between_groups:
        if not isinstance(parity, RateParity) or parity.relative:
            raise ValueError(f"Thresholds per group cannot enforce {parity}.")
        numerator, denominator = parity.rate(steps)
        rate = ratio(numerator, denominator[group])[step]
        if parity.bounds_anything and not np.isnan(rate).all():
            parities.append(parity)
            rates.append(rate)
    gain = np.where(share > 0, share * gain[step], -np.inf)
    options = StepOptions(step, group[step], share, gain, n=n, cover=cover, reliable=can_apply, rates=rates)
    reached = float((np.maximum.reduceat(share, options.start[:-1]) * cover).sum())
    if reached < need:
        out = steps.groups[~can_apply]
        why = f"nothing makes {list_some(out)} apply" if len(out) else "if as many as possible of each group apply"
        raise InfeasibleError(_social_cost_too_high(constraints, 1 - reached / positives.sum(), why))
    return _Task(steps, constraints, options, parities, need)


def _steps_of(task: _Task, result: WindowResult, select_all: bool) -> NDArray[np.intp]:
    """Step of each group: its best if somebody applies, otherwise the preferred one of those at which nobody does."""
    options, applying, group = task.options, result.set.applying, task.options.group
    position = np.arange(len(options.step))
    fits = (position >= result.begin[group]) & (position < result.end[group])
    is_best = (options.gain == result.set.gain[group]) & (options.share * options.n[group] == result.set.n[group])
    inside = np.flatnonzero(fits & applying[group] & is_best & ~options.stays_out)
    outside = np.flatnonzero(fits & ~applying[group] & options.stays_out)
    chosen = np.empty(len(options.n), dtype=np.intp)
    chosen[group[inside]] = inside  # the last assignment wins: of equals, the step that selects the most
    chosen[group[outside[::-1]]] = outside[::-1]  # the step that selects the fewest
    if select_all:
        everybody = outside[options.step[outside] == task.steps.start[group[outside]]]
        chosen[group[everybody]] = everybody
    return options.step[chosen]


# ---------------------------------------------------------------------- where constraints cannot be met


def _nobody_applies(task: _Task, windows: RateWindows, finished: bool, max_work: float) -> WindowResult:
    """Result where no reliable group applies, if constraints allow it; otherwise say what came nearest."""

    def any_set(choices: GroupChoices, exact: bool) -> GroupSet | None:
        return choices.set_of(choices.must_apply, 0.0, 0.0) if choices.possible else None

    def most_cover(choices: GroupChoices, exact: bool) -> GroupSet | None:
        reached = float(choices.cover[choices.may_apply].sum())
        return choices.set_of(choices.may_apply, reached, reached) if choices.possible else None

    result, searched_all = windows.search(most_cover if task.need > 0 else any_set, max_work)
    if result is None:
        raise InfeasibleError(_rates_too_different(task, searched_all))
    if task.need > 0 and result.set.value < task.need:
        nearest = 1 - result.upper / float(task.steps.positives.sum())
        raise InfeasibleError(_social_cost_too_high(task.constraints, nearest, "within the bounds on rates"))
    choices, applying = windows.choices(result.begin, result.end), result.set.applying
    if task.need <= 0 and applying.any():  # of those who cannot be kept out, the best
        unavoidable = replace(choices, gain=np.where(applying, choices.gain, -np.inf), reliable=applying)
        chosen = best_set(unavoidable, 0.0)
        assert chosen is not None
    else:
        chosen = choices.set_of(applying, choices.ratio(applying) if applying.any() else np.nan, np.nan)
    # if the first search was cut short, only the bound over all windows together is known
    bound = None if finished else task.best_set(windows.choices(*windows.run(*windows.whole)), False)
    upper = chosen.value if bound is None else bound.upper
    return WindowResult(chosen, result.begin, result.end, upper)


def _check_min_selected(steps: CountCurves, min_selected: FloatArray) -> None:
    beyond = np.flatnonzero(min_selected > steps.n * (1 + SLACK))
    if len(beyond):
        z = beyond[0]
        raise InfeasibleError(
            f"At least {min_selected[z]:g} people of {list_some(steps.groups[[z]])} must be selected, but there are "
            f"only {steps.n[z]:g}."
        )


def _cannot_apply(steps: CountCurves, allowed: BoolArray, groups: NDArray[np.intp]) -> str:
    precision = np.where(allowed, np.nan_to_num(ratio(steps.true_positives, steps.selected), nan=-1.0), -1.0)
    z = groups[0]
    best = steps.start[z] + int(np.argmax(precision[steps.start[z] : steps.start[z + 1]]))
    return (
        f"{list_some(steps.groups[groups])} must apply, but at no threshold reliably does: the largest precision of "
        f"{list_some(steps.groups[[z]])} is {precision[best]:.3f} (of {steps.selected[best]:g} selected)."
    )


def _social_cost_too_high(constraints: Constraints, nearest: float, why: str) -> str:
    return (
        f"Social cost must be at most {constraints.max_social_cost:g}, but {nearest:.4f} is the lowest found ({why})."
    )


def _rates_too_different(task: _Task, searched_all: bool) -> str:
    """Which parity constraint cannot be met, alone if possible, and what came nearest."""
    for kind, parity in enumerate(task.parities):
        low, high = narrowest_windows(task.options, kind)
        if not (high <= parity.highest(low)).any():
            share = np.where(high > 0, ratio(low, high), 1.0)
            return (
                f"No thresholds bring {parity.rate_name} of all groups close enough: the smallest difference is "
                f"{(high - low).min():.3f} (at most {parity.largest_difference:g} is allowed), the largest ratio "
                f"{share.max():.3f} (at least {parity.ratio_bound or 0:g}). Groups that must apply, and least "
                "selection rates, count in this."
            )
    names = " and ".join(parity.rate_name for parity in task.parities)
    if not searched_all:
        return f"The search ended before it found thresholds that bring {names} close enough at once."
    return f"No thresholds bring {names} close enough at once; each alone could be."
