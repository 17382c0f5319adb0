"""The paper's own training, kept as the reference."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from .._validation import FloatArray, check_nonnegative, check_whole
from ..behaviour import check_margin
from ..constraints import Constraint, Constraints, DemographicParity, ReleasedDemographicParity
from ..learning import Candidate, DescentSettings, Problem, TrainingTerms, solve_by_descent
from ..publishing.splits import Publishing, Rows
from ..statistics import Precision
from .docs import estimator_class
from .linear import LinearClassifier
from .training_data import TrainingPeople


@estimator_class
class PaperClassifier(LinearClassifier):
    """The paper's learner: gradient descent on its objective from Gaussian starts, of which the best is kept.

    It is for reference; :class:`StrategicClassifier` is more accurate and thousands of times faster. Features should be
    scaled to [0, 1], as in the paper.

    Parameters
    ----------
    $cost
    preset : {"released", "paper"}, default="released"
        Settings of the paper's released code, or of its text where the two differ.
    parity : float, default=0.0
        Weight of the penalty for different selection rates, in the form of the preset: 1 in the released code is 100
        times the number of groups in the text.
    margin : float, default=0.02
        Margin over the cost in training: the paper's on Adult; .05 on bank.
    n_starts : int, default=5
        Number of Gaussian starts.
    max_iter : int, default=30_000
        Steps of each descent.
    application_weight : float, default=1/6
        Weight of the penalty if nobody applies.
    settings : dict, optional
        Further settings in place of the preset's, by their names in :class:`selfselect.learning.DescentSettings`:
        ``{"dtype": "float64"}``.
    random_state : int, RandomState or None, default=None
        Seed of the starts.
    $subsidies
    $publishing

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
    intercept_ : ndarray of shape (1,)
    n_iter_ : int
        Steps of the descent.
    origin_ : str
        Start that was kept.
    $attributes

    Examples
    --------
    >>> from selfselect.datasets import make_base_rate_groups
    >>> X, y, z = make_base_rate_groups((0.5, 0.15), n_per_group=200, random_state=0, return_X_y_group=True)
    >>> model = PaperClassifier(cost=0.7, n_starts=1, max_iter=500, random_state=0)
    >>> model.fit(X, y, sensitive_features=z).applies().to_dict()
    {'z0': True, 'z1': False}
    """

    preset: str = "released"
    parity: float = 0.0
    margin: float = 0.02
    n_starts: int = 5
    max_iter: int = 30_000
    application_weight: float = 1 / 6
    settings: Mapping[str, Any] | None = None
    random_state: int | np.random.RandomState | None = None
    publish: str | Publishing = "train"

    def _descent_settings(self) -> DescentSettings:
        """Settings of the descent: named ones take precedence over those of the preset."""
        if not isinstance(self.settings, Mapping | None):
            raise ValueError(f"settings must be a dict of settings by name, got {self.settings!r}.")
        for name in ("n_starts", "max_iter"):
            check_whole(getattr(self, name), name, 1)
        own = {"starts": self.n_starts, "steps": self.max_iter, "application_weight": self.application_weight}
        return DescentSettings.of(self.preset, **{**own, **(self.settings or {})})

    def _terms_of_training(self, people: TrainingPeople) -> TrainingTerms:
        # the descent chooses among its starts on the people that it was fitted to, where a bound would mean nothing
        terms = self._training_terms(people.groups.labels, statistic=Precision())
        margin = check_margin(self.margin, terms.costs)
        released = self._descent_settings().parity_over == "sum"
        penalties: tuple[Constraint, ...] = ()
        if check_nonnegative(self.parity, "parity") > 0:
            penalties = ((ReleasedDemographicParity if released else DemographicParity)(weight=self.parity),)
        return replace(terms, margin=margin, constraints=Constraints.of(penalties, terms.groups))

    def _solve(
        self, X: FloatArray, people: TrainingPeople, problem: Problem, problem_of: Callable[[Rows], Problem] | None
    ) -> tuple[Candidate, FloatArray | None]:
        def descend(fitted: Rows) -> Candidate:
            part = problem.take(problem.rows_among(fitted))
            candidates, self.n_iter_ = solve_by_descent(
                part, check_random_state(self.random_state), self._descent_settings()
            )
            return max(candidates, key=lambda candidate: candidate.rank)

        def scores(candidate: Candidate, evaluated: Rows) -> FloatArray:
            coefficients, intercept = problem.standardisation.undo_parameters(candidate.parameters)
            return np.asarray(X[evaluated] @ coefficients + intercept)

        unseen, best = people.splits.run(descend, scores)
        return best, unseen
