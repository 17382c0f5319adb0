"""Choose on people that a score has not seen.

Every recipe (a logistic score; the same turned towards precision for some groups; ...) is fitted several times, each
time without some of the people, whom it then scores. Thresholds, groups and recipe are chosen on these scores, so that
neither how hard a recipe was fitted nor how lucky it was in training counts; then the chosen recipe is fitted once more
to everybody, and keeps the thresholds. Scores of one recipe are centred and scaled alike each time, so that they can be
compared. With k folds it takes about k + 1 times as long as choosing in training.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._validation import BoolArray, FloatArray
from ..publishing import ThresholdCurves
from .all_groups import solve_all_groups
from .candidates import DIGITS, Candidate, cut_between, describe
from .judging import Verdict, judge_thresholds
from .problem import Problem
from .single_groups import own_thresholds, refined, shut_out_offset, with_offsets
from .starts import logistic_start, target_sets
from .sums import TINY


@dataclass(frozen=True, eq=False)
class Part:
    """Which rows a recipe is fitted to, and which it then scores; in the order of the problem's rows."""

    fitted: BoolArray
    judged: BoolArray


@dataclass(frozen=True, eq=False)
class Chosen:
    """A classifier that was chosen on unseen people.

    Attributes
    ----------
    candidate : Candidate
        Fitted to all rows that may be; judged on unseen people.
    score : ndarray of shape (n_rows,)
        Of the judged (NaN elsewhere), each by what was fitted without them, on the scale of the candidate: positive
        for those who are selected.
    """

    candidate: Candidate
    score: FloatArray


@dataclass(frozen=True, eq=False)
class _Recipe:
    """One way to make a score, and the groups that it was made for (None: any)."""

    name: str
    parameters: FloatArray
    groups: NDArray[np.intp] | None = None


@dataclass(frozen=True, eq=False)
class _Scale:
    """Centre and size of a score on the rows that it was fitted to."""

    centre: float
    size: float

    @classmethod
    def of(cls, score: FloatArray, weight: FloatArray) -> _Scale:
        centre = float(np.average(score, weights=weight))
        return cls(centre, float(np.sqrt(np.average((score - centre) ** 2, weights=weight))) or 1.0)


class _Cook:
    """Makes the scores of all recipes on any rows of one problem."""

    def __init__(self, problem: Problem, *, with_refinement: bool, max_iter: int | None) -> None:
        self.problem, self.with_refinement, self.max_iter = problem, with_refinement, max_iter
        ask = problem.ask
        self.shared = bool(ask.ties) or (ask.prescribes_applicants and problem.offset_of_group is None)
        self.apart = problem.offset_of_group is not None and not self.shared
        self.n_iter = 0
        self._sets: list[NDArray[np.intp]] | None = None

    def recipes(self, rows: BoolArray) -> tuple[Problem, list[_Recipe]]:
        """All scores, fitted to some rows. The first call decides which groups are worth a recipe of their own."""
        problem = self.problem.take(rows)
        if self.shared and self.with_refinement:
            with np.errstate(over="ignore", invalid="ignore"):  # of few people, walls may be too steep to climb
                candidates, self.n_iter = solve_all_groups(problem.without_empty_groups(), self.max_iter)
            finite = [candidate for candidate in candidates if np.isfinite(candidate.parameters).all()]
            return problem, [_Recipe(candidate.origin, candidate.parameters) for candidate in finite]
        start, self.n_iter = logistic_start(problem, self.max_iter)
        if self._sets is None:
            self._sets = target_sets(problem, start)
        made = [_Recipe("everybody", start)]
        for groups in self._sets if self.with_refinement else []:
            named = describe(problem.labels, groups)
            made += [
                _Recipe(f"refined for {named}, hold {hold:g}", parameters, groups)
                for parameters, hold in refined(problem, start, groups)
            ]
        return problem, made

    @property
    def sets(self) -> list[NDArray[np.intp]] | None:
        """Sets of groups that are to be let in, where that is prescribed."""
        return self._sets if self.problem.ask.prescribes_applicants else None

    def score(self, X: FloatArray, parameters: FloatArray) -> FloatArray:
        """Score of some rows; where groups get thresholds of their own, of the columns that vary within groups."""
        if self.apart:
            width = self.problem.n_varying
            return np.asarray(X[:, :width] @ parameters[:width])
        return np.asarray(X @ parameters[:-1] + parameters[-1])


def choose_unseen(
    problem: Problem,
    parts: Sequence[Part],
    final: BoolArray,
    *,
    with_refinement: bool = True,
    max_iter: int | None = None,
) -> tuple[list[Chosen], int]:
    """Candidates that are chosen on unseen people, one per recipe; and the steps of the last logistic start.

    Parameters
    ----------
    problem : Problem
        All people.
    parts : sequence of Part
        Who is fitted and who is judged, time after time.
    final : ndarray of bool of shape (n_rows,)
        Rows that the kept classifier is fitted to.
    with_refinement : bool, default=True
        Whether scores are refined, or the logistic one is all there is.
    max_iter : int, optional
        Steps of the logistic start.
    """
    cook = _Cook(problem, with_refinement=with_refinement, max_iter=max_iter)
    last, recipes = cook.recipes(final)
    X, n_rows = problem.block.X, len(problem.block.people.y)
    unseen: dict[str, FloatArray] = {recipe.name: np.full(n_rows, np.nan) for recipe in recipes}
    for part in parts:
        again = len(parts) > 1 or (part.fitted != final).any()
        fitted, made = cook.recipes(part.fitted) if again else (last, recipes)
        for recipe in made:
            if recipe.name in unseen:
                scale = _Scale.of(cook.score(fitted.block.X, recipe.parameters), fitted.block.people.weight)
                score = cook.score(X[part.judged], recipe.parameters)
                unseen[recipe.name][part.judged] = (score - scale.centre) / scale.size
    judged = np.logical_or.reduce([part.judged for part in parts])
    chosen = []
    for recipe in recipes:
        score = np.round(unseen[recipe.name][judged], DIGITS)
        if not np.isnan(score).any():  # else it was not among those of every part
            chosen += _choose(cook, last, recipe, judged, score)
    return chosen, cook.n_iter


def _choose(cook: _Cook, last: Problem, recipe: _Recipe, judged: BoolArray, score: FloatArray) -> list[Chosen]:
    """The best thresholds of one recipe, by its scores of unseen people."""
    people, ask = cook.problem.block.people, cook.problem.ask
    codes = people.codes[judged]
    weight = None if people.weighs_one_each else people.weight[judged]
    curves = ThresholdCurves.from_codes(people.y[judged] > 0, score, codes, cook.problem.labels, weight)
    raw = cook.score(last.block.X, recipe.parameters)
    scale = _Scale.of(raw, last.block.people.weight)

    def chosen(parameters: FloatArray, verdict: Verdict, which: int, above: FloatArray, origin: str) -> Chosen:
        unseen = np.full(len(judged), np.nan)
        unseen[judged] = above
        return Chosen(Candidate.judged(parameters, verdict, which, origin), unseen)

    if not cook.apart:
        verdict, thresholds, looked_at = judge_thresholds(ask, curves, fitted_weights=0.0)
        best = verdict.best()
        cut = float(cut_between(thresholds, int(looked_at[best])))
        intercept = recipe.parameters[-1] - (scale.centre + scale.size * cut)
        parameters = np.append(recipe.parameters[:-1], intercept)
        return [chosen(parameters, verdict, best, (score - cut) * scale.size, recipe.name)]
    sets = [recipe.groups] if recipe.groups is not None else cook.sets
    size = float(np.abs(raw).max())
    made = []
    for choice in own_thresholds(ask, curves, 0.0, sets):
        parameters = with_offsets(cook.problem, recipe.parameters, choice, scale.centre + scale.size * choice.cut, size)
        named = describe(cook.problem.labels, np.flatnonzero(choice.let_in))
        inside = (score - choice.cut[codes]) * scale.size
        out = shut_out_offset(size)
        raised = scale.centre + score * scale.size
        outside = np.where(choice.all_in[codes], np.maximum(raised - out, TINY), np.minimum(raised + out, 0.0))
        above = np.where(choice.opened[codes], inside, outside)
        made.append(chosen(parameters, choice.verdict, 0, above, f"{recipe.name}{choice.note}: {named}"))
    return made
