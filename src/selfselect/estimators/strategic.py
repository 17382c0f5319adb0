"""A linear classifier that is trained for the people who apply because of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from .._notices import warn
from .._validation import BoolArray, FloatArray, check_choice, check_nonnegative, check_whole, list_some
from ..behaviour import check_margin
from ..constraints import Constraint
from ..learning import (
    MIN_SELECTED,
    SOLVERS,
    Candidate,
    Problem,
    TrainingTerms,
    refuse_infeasible,
    select_out_of_fold,
    solve,
)
from ..publishing.splits import Rows, TrainingSet, as_publishing
from ..statistics import Precision
from .docs import estimator_class
from .linear import LinearClassifier
from .training_data import TrainingPeople

#: Ways to keep out a group that is not meant to apply.
SHUT_OUT = ("select_none", "select_all")
#: Margin over the cost under ``margin="auto"`` where the precision itself is published: the paper's, on Adult.
AUTO_MARGIN = 0.02


@estimator_class
class StrategicClassifier(LinearClassifier):
    """Linear classifier with the highest induced accuracy: accurate on those who apply because of it.

    The columns of ``X`` decide what it can do. If they tell groups apart (one-hot columns of the group), each group can
    get an offset of its own. Without them groups share one threshold, but still decide by their own published
    statistics.

    Parameters
    ----------
    $cost
    transformer : transformer, optional
        Steps before the classifier: any scikit-learn transformer, ``ColumnTransformer`` or ``Pipeline`` of
        transformers. It is fitted again without each fold that is evaluated, and at last to all rows. ``X`` may then
        hold texts, or whatever the transformer takes. Do not put steps that use ``y`` before the classifier in a
        ``Pipeline``: they would see the people who are evaluated, and what is published would be too good. ``fit``
        cannot notice this.
    $constraints
    margin : float or "auto", default="auto"
        Margin over the cost in training. Candidates are compared in the worse of two cases: groups within the margin
        apply, or stay away. "auto" is 0 where a lower bound is published, which has a margin of its own, and else 0.02.
    solver : {"auto", "constructive"}, default="auto"
        "constructive" takes one logistic score and gives each group its own threshold, or all groups a common one.
        "auto" refines these starts.
    shut_out : {"select_none", "select_all"}, default="select_none"
        How to shut out a group where ``X`` tells groups apart: nobody of it is selected, so that it has no precision;
        or, as in the paper, everybody, so that its precision is its base rate. Where that would reach the cost, nobody
        is selected in either case.
    l2 : float, default=0.0
        Weight of ``|w|^2 / 2`` on standardised features, relative to the mean loss.
    max_iter : int, optional
        Steps of the logistic start (default 1,000).
    random_state : int, RandomState or None, default=None
        Seed of the random starts that are tried if shares of groups apply (behaviours other than of yes or no).
    $subsidies
    $publishing

    Attributes
    ----------
    transformer_ : transformer
        The transformer, fitted to the same rows as the classifier; if there is one.
    coef_ : ndarray of shape (1, n_features)
        Weights of the features, or of the columns that the transformer returns.
    intercept_ : ndarray of shape (1,)
    n_iter_ : int
        Steps of the logistic start.
    origin_ : str
        Start that the chosen classifier comes from.
    $violations
    $attributes

    Notes
    -----
    **Selection.** Candidates are compared by hard counts: constraints first, then ``accuracy - 2 standard errors -
    (fitted weights) / (applicants)`` among applicants. Plain accuracy would prefer small groups and overfitted
    candidates; the two corrections make the choice hold on new people.

    **Complexity.** One step of training takes O(m d) time for m rows and d features, one evaluation of all thresholds
    O(m log m), both for any number of groups; the number of steps is bounded. Memory is about twice that of ``X``.

    **Raises** :class:`selfselect.InfeasibleError` if constraints on who applies, or on how many are selected, cannot be
    met, saying what came closest. Constraints between groups are kept as well as possible; see ``violations_``.

    Examples
    --------
    >>> from selfselect.datasets import make_ordering_constraint
    >>> X, y, z = make_ordering_constraint(random_state=0, return_X_y_group=True)
    >>> clf = StrategicClassifier(cost=0.8).fit(X, y, sensitive_features=z)
    >>> clf.applies().to_dict()
    {'z0': True, 'z1': False}
    >>> round(clf.audit(X, y, z).induced_accuracy, 3)
    0.997
    """

    #: Whether training under constraints between groups may push groups that are not meant to apply below their cost.
    _push_out: ClassVar[bool] = True

    transformer: Any = None
    constraints: Sequence[Constraint] = ()
    margin: float | str = "auto"
    solver: str = "auto"
    shut_out: str = "select_none"
    l2: float = 0.0
    max_iter: int | None = None
    random_state: int | np.random.RandomState | None = None

    def _solve(
        self, X: FloatArray, people: TrainingPeople, problem: Problem, problem_of: Callable[[Rows], Problem] | None
    ) -> tuple[Candidate, FloatArray | None]:
        settings = {"max_iter": self.max_iter, "random": check_random_state(self.random_state)}
        if people.splits.mode == "train":
            best, self.n_iter_ = solve(problem, solver=self.solver, **settings)
            return best, None
        candidates, self.n_iter_ = select_out_of_fold(
            problem,
            people.splits.parts,
            people.splits.final,
            with_refinement=self.solver == "auto",
            problem_of=problem_of,
            person=people.person,
            **settings,
        )
        chosen = max(candidates, key=lambda each: each.candidate.rank)
        refuse_infeasible(problem, chosen.candidate, [each.candidate for each in candidates])
        score = np.full(len(people.qualified), np.nan)
        score[problem.row_numbers] = chosen.score
        score = score[people.splits.evaluated]
        if not self._has_guarantee:
            self.statistic_ = chosen.terms.statistic
        return chosen.candidate, score

    def _terms_of_training(self, people: TrainingPeople) -> TrainingTerms:
        check_choice(self.solver, "solver", SOLVERS)
        check_choice(self.shut_out, "shut_out", SHUT_OUT)
        check_nonnegative(self.l2, "l2")
        if self.max_iter is not None:
            check_whole(self.max_iter, "max_iter", 1)
        # where there were too few people to set some aside, a bound would mean nothing
        too_few = people.splits.mode == "train" and not isinstance(as_publishing(self.publish), TrainingSet)
        statistic = Precision() if too_few else self._statistic
        terms = self._training_terms(
            people.groups.labels, statistic=statistic, shut_out=self.shut_out, push_out=self._push_out
        )
        self._warn_about_required(people, terms.required)
        margin = AUTO_MARGIN if isinstance(statistic, Precision) else 0.0
        if self.margin == "auto":
            margin = min(margin, (1 - float(terms.costs.max())) / 2)
        else:
            margin = check_margin(self.margin, terms.costs)
        return replace(terms, margin=margin)

    def _warn_about_required(self, people: TrainingPeople, required: BoolArray) -> None:
        """Warn about required groups with few qualified people."""
        groups = people.groups
        positives = np.bincount(groups.codes[people.qualified], minlength=len(groups.labels))
        few = required & (positives < MIN_SELECTED)
        if few.any():
            warn(
                f"Required group(s) {list_some(groups.labels[few])} have under {MIN_SELECTED} qualified people in "
                f"training ({', '.join(map(str, positives[few][:5]))}): their precision is hardly known."
            )
