"""A threshold per group: the exact optimum over all steps of a score, under constraints.

Each group either applies, at a step at which it reliably does, or stays away, at a step at which it does not apply. The
objective is

    sum of gain over the groups that apply / sum of their people

which is induced accuracy if the gain is the number of correct decisions. Without constraints between groups, the best
step of a group does not depend on the others, and only the set of groups is left to choose (:mod:`.group_sets`). Parity
constraints are met by a search over windows of rates (:mod:`.rate_windows`).

A step at which a group would apply, but not reliably, is not used. The exception is a group that has no other step. Its
people and its gain are part of the value, but it helps no constraint, and another group is made to apply if possible.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from .._validation import BoolArray, FloatArray, check_choice, list_some
from ..constraints import Constraints, InfeasibleError, RateParity
from ..counting import CountCurves, ratio
from ..statistics import SLACK
from .group_sets import GroupChoices, GroupSet, best_set
from .rate_windows import RateWindows, StepOptions, WindowResult, narrowest_windows

#: Step of a group that stays away: the one that selects the fewest, or everybody (if the group does not apply then).
#: With "forbid", the fewest that ``constraints.min_selected`` allows.
ShutOut: TypeAlias = Literal["select_none", "select_all", "forbid"]
#: Work that a search under parity constraints may take, in groups looked at: some seconds.
MAX_WORK = 3e7
#: Thresholds are called exact if no others can be better by more than this.
EXACT_GAP = 1e-9


@dataclass(frozen=True, eq=False)
class OptimalThresholds:
    """A step for each group, and its value.

    ``step`` and ``applying`` have an entry per group: the position in the steps of the score, and whether the group
    applies. ``value`` is gain over people of the groups that apply, NaN if none does. No other thresholds have a value
    above ``value + gap``; they are ``exact`` if the gap is only rounding.
    """

    step: NDArray[np.intp]
    applying: BoolArray
    value: float
    gap: float
    exact: bool


def optimise_thresholds(
    steps: CountCurves,
    applies: BoolArray,
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
    applies : ndarray of bool of shape (n_steps,)
        Whether the step's group applies, by the counts published there.
    reliable : ndarray of bool of shape (n_steps,), optional
        Whether it can be relied on to apply; by default wherever it applies.
    gain : ndarray of shape (n_steps,), optional
        What each step adds to the numerator; by default the number of correct decisions.
    shut_out : {"select_none", "select_all", "forbid"}, default="select_none"
        See :data:`ShutOut`.
    constraints : Constraints, optional
        Those between groups must be :class:`~selfselect.constraints.RateParity`.
    only : ndarray of bool of shape (n_groups,), optional
        Groups that apply if they can, while all others stay away if they can. By default the best set is chosen.
    max_work : float, default=3e7
        Limit of the search under parity constraints. If the search reaches it, ``exact`` is False and the gap bounds
        what may have been missed.

    Returns
    -------
    OptimalThresholds
        If no group can apply and none must, all stay away and the value is NaN. Of equally good sets the largest is
        chosen. If a constraint cannot be met, :class:`InfeasibleError` says which, and what came nearest.
    """
    constraints = Constraints() if constraints is None else constraints
    check_choice(shut_out, "shut_out", get_args(ShutOut))
    if shut_out == "forbid" and constraints.min_selected is None:
        raise ValueError("shut_out='forbid' needs min_selected: how many of each group must be selected.")
    task = _make_task(steps, applies, applies if reliable is None else reliable, gain, constraints, only)
    windows = RateWindows(task.options, task.parities)
    result, finished = windows.search(task.best_set, max_work)
    if result is None:
        result = _nobody_applies(task, windows, finished, max_work)
    applying, value = result.set.applying, result.set.value
    gap = max(result.upper - value, 0.0) if applying.any() else 0.0
    step = _steps_of(task, windows, result, select_all=shut_out == "select_all")
    return OptimalThresholds(step, applying, value if applying.any() else np.nan, gap, finished and gap <= EXACT_GAP)


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


def _make_task(
    steps: CountCurves,
    applies: BoolArray,
    reliable: BoolArray,
    gain: FloatArray | None,
    constraints: Constraints,
    only: BoolArray | None,
) -> _Task:
    group, n, positives = steps.group, steps.n.astype(np.float64), steps.positives.astype(np.float64)
    gain = np.asarray(steps.correct if gain is None else gain, dtype=np.float64)
    applies, reliable = np.asarray(applies, dtype=bool), np.asarray(reliable, dtype=bool)
    if not (applies.shape == reliable.shape == gain.shape == group.shape) or not np.isfinite(gain).all():
        raise ValueError("applies, reliable and gain must have one entry per step, and every gain must be finite.")
    for given in (constraints.required, constraints.min_selected):
        if given is not None and given.shape != n.shape:
            raise ValueError(f"Constraints on single groups must have one entry for each of the {len(n)} groups.")
    least = (constraints.min_selection_rate - SLACK) * n
    if constraints.min_selected is not None:
        _check_min_selected(steps, constraints.min_selected)
        least = np.maximum(least, constraints.min_selected - SLACK * n)
    allowed = steps.selected >= least[group]
    inside, outside = allowed & applies & reliable, allowed & ~applies

    def has(some: BoolArray) -> BoolArray:
        return np.bincount(group[some], minlength=len(n)) > 0

    required, can_apply = constraints.required_of(len(n)), has(inside)
    if (required & ~can_apply).any():
        raise InfeasibleError(_cannot_apply(steps, allowed, np.flatnonzero(required & ~can_apply)))
    if only is not None:
        inside &= (only | ~has(outside))[group]
        required = required | (only & can_apply)
    unavoidable = ~can_apply & ~has(outside)
    inside |= allowed & unavoidable[group]
    outside &= ~required[group]
    # a group's last step selects the fewest: reverse the steps of each group
    reverse = steps.start[group] + steps.start[group + 1] - 1 - np.arange(len(group))
    step = reverse[(inside | outside)[reverse]]
    cover = np.where(can_apply, positives, 0.0)
    need = (1 - constraints.max_social_cost - SLACK) * float(positives.sum())
    if cover.sum() < need:
        why = f"nothing makes {list_some(steps.groups[~can_apply])} apply"
        raise InfeasibleError(_social_cost_too_high(constraints, 1 - cover.sum() / positives.sum(), why))
    parities, rates = [], []
    for parity in constraints.between_groups:
        if not isinstance(parity, RateParity) or parity.relative:
            raise ValueError(f"Thresholds per group cannot enforce {parity}.")
        numerator, denominator = parity.rate(steps)
        rate = ratio(numerator, denominator[group])[step]
        if parity.bounds_anything and not np.isnan(rate).all():
            parities.append(parity)
            rates.append(rate)
    gain = np.where(inside[step], gain[step], -np.inf)
    options = StepOptions(step, group[step], gain, n=n, cover=cover, reliable=can_apply, rates=rates)
    return _Task(steps, constraints, options, parities, need)


def _steps_of(task: _Task, windows: RateWindows, result: WindowResult, select_all: bool) -> NDArray[np.intp]:
    """Step of each group: its best if it applies, otherwise the preferred one of those that keep it out."""
    options, applying = task.options, result.set.applying
    position, group = np.arange(len(options.step)), options.group
    fits = (position >= result.begin[group]) & (position < result.end[group])
    best = windows.choices(result.begin, result.end).gain
    inside = np.flatnonzero(fits & applying[group] & (options.gain == best[group]))
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
        return GroupSet(choices.must_apply, 0.0, 0.0) if choices.possible else None

    def most_cover(choices: GroupChoices, exact: bool) -> GroupSet | None:
        reached = float(choices.cover[choices.may_apply].sum())
        return GroupSet(choices.may_apply, reached, reached) if choices.possible else None

    result, searched_all = windows.search(most_cover if task.need > 0 else any_set, max_work)
    if result is None:
        raise InfeasibleError(_rates_too_different(task, searched_all))
    if task.need > 0 and result.set.value < task.need:
        nearest = 1 - result.upper / float(task.steps.positives.sum())
        raise InfeasibleError(_social_cost_too_high(task.constraints, nearest, "within the bounds on rates"))
    choices, applying = windows.choices(result.begin, result.end), result.set.applying
    value = choices.ratio(applying) if applying.any() else np.nan
    # if the first search was cut short, only the bound over all windows together is known
    bound = None if finished else task.best_set(windows.choices(*windows.run(*windows.whole)), False)
    upper = value if bound is None else bound.upper
    return WindowResult(GroupSet(applying, value, upper), result.begin, result.end, upper)


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
                f"{share.max():.3f} (at least {parity.least_ratio:g}). Groups that must apply, and least "
                "selection rates, count in this."
            )
    names = " and ".join(parity.rate_name for parity in task.parities)
    if not searched_all:
        return f"The search ended before it found thresholds that bring {names} close enough at once."
    return f"No thresholds bring {names} close enough at once; each alone could be."
