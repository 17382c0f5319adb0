"""A threshold per group: the exact optimum over all steps of a score, under demands.

Each group is either let in, at a step that can be counted on to bring its people, or it stays out, at a step at which
they do not apply. What is maximised is

    sum of gain over the groups that are let in / sum of their people

which is induced accuracy where the gain is the number of people who are judged rightly. Without ties between rates,
the best step of a group does not depend on the others, and only the set of groups is left to choose
(:mod:`.group_sets`). Ties are met by a search over windows of the rates (:mod:`.rate_windows`).

A step at which a group would come, but cannot be counted on to, is not used: the published number would bring
people in by luck. The exception is a group that has nothing else, neither a step to count on nor one at which it stays
away (because the least selection rules those out, say, or because people come when nobody is selected). It comes, so
its people and its gain are part of the value; but it does not help any demand, and somebody else is let in where that
is possible.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._formats import amount, amount_down, amount_up, count
from .._validation import BoolArray, FloatArray, check_choice, check_fraction, some_of
from ..behaviour import SLACK
from ..counting import ScoreSteps, ratio
from .group_sets import Choices, GroupSet, best_set
from .problem import InfeasibleError
from .rate_windows import Found, Options, RateWindows, Tie, closest

ShutOut: TypeAlias = Literal["select_none", "select_all", "forbid"]
SHUT_OUT = ("select_none", "select_all", "forbid")

#: Work that a search for tied rates may take, in groups looked at: some seconds.
EFFORT = 3e7
#: An allocation is called exact if no other can be better by more than this.
EXACT = 1e-9


@dataclass(frozen=True, eq=False)
class Demands:
    """What is asked of an allocation, besides its value.

    Attributes
    ----------
    required : ndarray of bool of shape (n_groups,), optional
        Groups that must be let in.
    max_social_cost : float, default=1.0
        Most of the qualified people, as a share, whose group may stay out.
    min_selection_rate : float, default=0.0
        Share of each group, whether it is let in or not, that must be selected.
    at_least : ndarray of shape (n_groups,), optional
        Number of people of each group that must be selected; needed if it is forbidden to shut groups out.
    parity_tolerance, tpr_tolerance : float, optional
        Largest difference between any two groups' selection rates, and true-positive rates.
    parity_ratio, tpr_ratio : float, optional
        Least that the smallest of these rates over the largest may be (0.8: four fifths). It holds if all are 0.

    All groups count in ties, also those that stay out; in those of true-positive rates, all that have positives.
    """

    required: BoolArray | None = None
    max_social_cost: float = 1.0
    min_selection_rate: float = 0.0
    at_least: FloatArray | None = None
    parity_tolerance: float | None = None
    parity_ratio: float | None = None
    tpr_tolerance: float | None = None
    tpr_ratio: float | None = None

    def __post_init__(self) -> None:
        check_fraction(self.max_social_cost, "max_social_cost")
        check_fraction(self.min_selection_rate, "min_selection_rate")
        for name in ("parity_tolerance", "parity_ratio", "tpr_tolerance", "tpr_ratio"):
            if getattr(self, name) is not None:
                check_fraction(getattr(self, name), name)

    def ties(self) -> list[Tie | None]:
        """Demands on selection rates and on true-positive rates; None where anything goes."""
        pairs = (
            ("selection rates", self.parity_tolerance, self.parity_ratio),
            ("true-positive rates", self.tpr_tolerance, self.tpr_ratio),
        )
        made = [Tie(name, 1.0 if most is None else most, least or 0.0) for name, most, least in pairs]
        return [tie if tie.tolerance < 1 or tie.ratio > 0 else None for tie in made]


@dataclass(frozen=True, eq=False)
class Allocation:
    """A step for each group, and what it is worth.

    Attributes
    ----------
    step : ndarray of shape (n_groups,)
        Position of each group's step in the steps of the score.
    let_in : ndarray of bool of shape (n_groups,)
        Groups whose people come.
    value : float
        Gain over people, of the groups that come; NaN if nobody does.
    gap : float
        No other allocation has a value above ``value + gap``.
    exact : bool
        Whether the gap is nothing but rounding.
    """

    step: NDArray[np.intp]
    let_in: BoolArray
    value: float
    gap: float
    exact: bool


def allocate(
    steps: ScoreSteps,
    applies: BoolArray,
    sure: BoolArray | None = None,
    gain: FloatArray | None = None,
    *,
    shut_out: ShutOut = "select_none",
    demands: Demands | None = None,
    effort: float = EFFORT,
) -> Allocation:
    """Give each group the step that makes the whole best, under demands.

    Parameters
    ----------
    steps : ScoreSteps
        Counts of each group at every threshold of a score.
    applies : ndarray of bool of shape (n_steps,)
        Whether the people of the step's group would come, by the number published there.
    sure : ndarray of bool of shape (n_steps,), optional
        Whether that can be counted on; as ``applies`` if not given.
    gain : ndarray of shape (n_steps,), optional
        What each step is worth to the numerator; people judged rightly if not given.
    shut_out : {"select_none", "select_all", "forbid"}, default="select_none"
        Step of a group that stays out: the one that selects the fewest, or everybody (where the group stays out
        then, too; otherwise the fewest). With "forbid", as few as its least selection allows.
    demands : Demands, optional
    effort : float, default=3e7
        Work that a search for tied rates may take, in groups looked at. Where it ends before its time, ``exact`` is
        False and the gap says what may have been missed.

    Returns
    -------
    Allocation
        If nobody can be let in and nothing requires it, everybody stays out and the value is NaN. Groups worth the
        same are all let in, where nothing else decides.

    Raises
    ------
    InfeasibleError
        If a demand cannot be met, saying which, and what came nearest.

    Examples
    --------
    >>> steps = ScoreSteps.from_scores(
    ...     [0, 1, 1, 0, 0, 1], [1, 2, 3, 1, 2, 3], sensitive_features=["A", "A", "A", "B", "B", "B"]
    ... )
    >>> applies = (steps.selected > 0) & (steps.true_positives >= 0.6 * steps.selected)
    >>> found = allocate(steps, applies)
    >>> found.let_in, found.value
    (array([ True,  True]), 1.0)
    >>> steps.threshold[found.step]
    array([1., 2.])
    """
    demands = Demands() if demands is None else demands
    check_choice(shut_out, "shut_out", SHUT_OUT)
    if shut_out == "forbid" and demands.at_least is None:
        raise ValueError("at_least is needed with shut_out='forbid': say how many of each group must be selected.")
    task = _task(steps, applies, applies if sure is None else sure, gain, demands)
    windows = RateWindows(task.options, task.ties)
    found, finished = windows.search(task.judge, effort)
    if found is None:
        found = _fallback(task, windows, finished, effort)
    somebody = bool(found.set.inside.any())
    gap = max(found.upper - found.set.value, 0.0) if somebody else 0.0
    return Allocation(
        step=_steps_of(task, windows, found, everybody=shut_out == "select_all"),
        let_in=found.set.inside,
        value=found.set.value if somebody else np.nan,
        gap=gap,
        exact=finished and gap <= EXACT,
    )


# ---------------------------------------------------------------------- what may be chosen


@dataclass(frozen=True, eq=False)
class _Task:
    """Demands turned into options: those on one group alone are met by all of them."""

    steps: ScoreSteps
    demands: Demands
    options: Options
    ties: list[Tie]
    need: float

    def judge(self, choices: Choices, exact: bool) -> GroupSet | None:
        """The best set of groups that keeps social cost as low as asked."""
        return best_set(choices, self.need, exact=exact)


def _task(steps: ScoreSteps, applies: BoolArray, sure: BoolArray, gain: FloatArray | None, demands: Demands) -> _Task:
    group, n, positives = steps.group, steps.n.astype(np.float64), steps.positives.astype(np.float64)
    worth = np.asarray(steps.correct if gain is None else gain, dtype=np.float64)
    applies, sure = np.asarray(applies, dtype=bool), np.asarray(sure, dtype=bool)
    if not (applies.shape == sure.shape == worth.shape == group.shape) or not np.isfinite(worth).all():
        raise ValueError("applies, sure and gain must have one entry per step, and every gain must be finite.")
    for given in (demands.required, demands.at_least):
        if given is not None and given.shape != n.shape:
            raise ValueError(f"Demands on single groups must have one entry for each of the {len(n)} groups.")
    floor = (demands.min_selection_rate - SLACK) * n
    if demands.at_least is not None:
        _check_within_reach(steps, demands.at_least)
        floor = np.maximum(floor, demands.at_least - SLACK * n)
    allowed = steps.selected >= floor[group]
    comes, stays = allowed & applies & sure, allowed & ~applies

    def has(some: BoolArray) -> BoolArray:
        return np.bincount(group[some], minlength=len(n)) > 0

    required = np.zeros(len(n), dtype=bool) if demands.required is None else demands.required
    counted_on = has(comes)
    if (required & ~counted_on).any():
        raise InfeasibleError(_cannot_come(steps, allowed, np.flatnonzero(required & ~counted_on)))
    helpless = ~counted_on & ~has(stays)
    comes = comes | (allowed & helpless[group])
    stays = stays & ~required[group]
    # a group's last step selects the fewest: turn each group round
    backwards = steps.start[group] + steps.start[group + 1] - 1 - np.arange(len(group))
    step = backwards[(comes | stays)[backwards]]
    cover = np.where(counted_on, positives, 0.0)
    need = (1 - demands.max_social_cost - SLACK) * float(positives.sum())
    if cover.sum() < need:
        raise InfeasibleError(_too_few_come(steps, demands, 1 - cover.sum() / positives.sum(), ~counted_on))
    rates = (ratio(steps.selected, n[group])[step], ratio(steps.true_positives, positives[group])[step])
    tied = [
        (tie, rate)
        for tie, rate in zip(demands.ties(), rates, strict=True)
        if tie is not None and not np.isnan(rate).all()
    ]
    options = Options(
        step=step,
        group=group[step],
        gain=np.where(comes[step], worth[step], -np.inf),
        n=n,
        cover=cover,
        counted_on=counted_on,
        rates=[rate for _, rate in tied],
    )
    return _Task(steps, demands, options, [tie for tie, _ in tied], need)


def _steps_of(task: _Task, windows: RateWindows, found: Found, everybody: bool) -> NDArray[np.intp]:
    """Step of each group: its best if it comes, the preferred one of those that keep it out if not."""
    options = task.options
    position, group = np.arange(len(options.step)), options.group
    fits = (position >= found.begin[group]) & (position < found.end[group])
    best = windows.choices(found.begin, found.end).gain
    comes = np.flatnonzero(fits & found.set.inside[group] & (options.gain == best[group]))
    stays = np.flatnonzero(fits & ~found.set.inside[group] & options.stays_out)
    chosen = np.empty(len(options.n), dtype=np.intp)
    chosen[group[comes]] = comes  # the last stays: of equals, the one that selects the most
    chosen[group[stays[::-1]]] = stays[::-1]  # the one that selects the fewest
    if everybody:
        all_of_them = stays[options.step[stays] == task.steps.start[group[stays]]]
        chosen[group[all_of_them]] = all_of_them
    return options.step[chosen]


# ---------------------------------------------------------------------- where demands cannot be met


def _fallback(task: _Task, windows: RateWindows, finished: bool, effort: float) -> Found:
    """What to do when nobody was let in: leave it at that where it breaks no demand, or say what came nearest."""

    def anything(choices: Choices, exact: bool) -> GroupSet | None:
        return GroupSet(choices.must_come, 0.0, 0.0) if choices.possible else None

    def most_cover(choices: Choices, exact: bool) -> GroupSet | None:
        reached = float(choices.cover[choices.may_come].sum())
        return GroupSet(choices.may_come, reached, reached) if choices.possible else None

    found, looked_at_all = windows.search(most_cover if task.need > 0 else anything, effort)
    if found is None:
        raise InfeasibleError(_rates_differ(task, looked_at_all))
    if task.need > 0 and found.set.value < task.need:
        reached = 1 - found.upper / float(task.steps.positives.sum())
        raise InfeasibleError(_too_few_come(task.steps, task.demands, reached, None))
    choices, inside = windows.choices(found.begin, found.end), found.set.inside
    value = choices.ratio(inside) if inside.any() else np.nan
    # the search that looked for the best may have been cut short: then only the bound of all windows together is known
    bound = None if finished else task.judge(windows.choices(*windows.run(*windows.whole)), False)
    upper = value if bound is None else bound.upper
    return Found(GroupSet(inside, value, upper), found.begin, found.end, upper)


def _check_within_reach(steps: ScoreSteps, at_least: FloatArray) -> None:
    beyond = np.flatnonzero(at_least > steps.n * (1 + SLACK))
    if len(beyond):
        z = beyond[0]
        raise InfeasibleError(
            f"At least {count(at_least[z])} people of {some_of(steps.groups[[z]])} are to be selected, but there are "
            f"only {count(steps.n[z])}."
        )


def _cannot_come(steps: ScoreSteps, allowed: BoolArray, groups: NDArray[np.intp]) -> str:
    precision = np.where(allowed, np.nan_to_num(ratio(steps.true_positives, steps.selected), nan=-1.0), -1.0)
    nearest = []
    for z in groups[:3]:
        best = steps.start[z] + int(np.argmax(precision[steps.start[z] : steps.start[z + 1]]))
        nearest.append(
            f"the largest precision of {some_of(steps.groups[[z]])} is {amount_down(precision[best])} "
            f"(of {count(steps.selected[best])} selected)"
        )
    return (
        f"{some_of(steps.groups[groups])} must be let in, but there is no threshold at which that can be counted on: "
        f"{'; '.join(nearest)}."
    )


def _too_few_come(steps: ScoreSteps, demands: Demands, nearest: float, away: BoolArray | None) -> str:
    why = "while the demands on rates are met" if away is None else f"nothing brings in {some_of(steps.groups[away])}"
    return (
        f"Social cost could not be brought below {amount_up(nearest)} ({why}); at most "
        f"{amount(demands.max_social_cost)} is asked for."
    )


def _rates_differ(task: _Task, looked_at_all: bool) -> str:
    """Which tie cannot be met, alone if possible, and what came nearest."""
    others = [
        text
        for text, asked in (
            ("the groups that must come are let in", task.demands.required is not None and task.demands.required.any()),
            (
                "enough of each group is selected",
                task.demands.min_selection_rate > 0 or task.demands.at_least is not None,
            ),
        )
        if asked
    ]
    condition = f", while {' and '.join(others)}" if others else ""
    for kind, tie in enumerate(task.ties):
        low, high = closest(task.options, kind)
        apart, share = high - low, np.where(high > 0, ratio(low, high), 1.0)
        name = tie.rate.capitalize()
        if apart.min() > tie.tolerance + SLACK:
            return (
                f"{name} could not be brought within {amount(tie.tolerance)} of each other{condition}: "
                f"nearest {amount_up(apart.min())}."
            )
        if not (high <= tie.highest(low)).any():
            within = f" within {amount(tie.tolerance)} of each other and" if tie.tolerance < 1 else ""
            close = share[apart <= tie.tolerance + SLACK].max()
            return (
                f"{name} could not be brought{within} so close that the smallest is {amount(tie.ratio)} of the "
                f"largest{condition}: nearest {amount_down(close)}."
            )
    names = " and ".join(tie.rate for tie in task.ties)
    if not looked_at_all:
        return (
            f"No thresholds were found that bring {names} close enough at once{condition}; the search ended before "
            "all were tried."
        )
    return f"{names.capitalize()} could not be brought close enough at once{condition}; each alone could."
