"""A linear classifier that is trained for the people who apply because of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from .._frames import to_pandas
from .._notices import warn
from .._threads import one_thread
from .._validation import BoolArray, FloatArray, check_choice, check_fraction, check_nonnegative, list_some
from ..behaviour import BestResponse, Tolerance, check_tolerance
from ..constraints import (
    BaseRateOrder,
    Constraint,
    Constraints,
    DemographicParity,
    ReleasedDemographicParity,
    TruePositiveRateParity,
)
from ..costs import Cost, Subsidies, SubsidyKind
from ..counting import GroupCodes, GroupCounts
from ..learning import (
    MIN_SELECTED,
    SOLVERS,
    Candidate,
    DescentSettings,
    Problem,
    TrainingTerms,
    evaluate_counts,
    refuse_infeasible,
    select_out_of_fold,
    solve,
)
from ..publishing.splits import Publish, Rows
from .base import SelfSelectionClassifier
from .docs import with_shared_docs
from .training_data import TrainingPeople, as_counts

#: Sharpness of ``predict_proba``: the y~ = sigma(2 s) of the training objective.
TEMPERATURE = 2.0
#: Ways to keep out a group that is not meant to apply.
SHUT_OUT = ("select_none", "select_all")
#: Parameters that are settings of the descent, and mean nothing to another solver.
DESCENT_SETTINGS = ("temperature", "precision_temperature", "application_temperature", "learning_rate")
#: Settings of ``ties``, and their defaults.
PARITY_SETTINGS = {"order": True, "push_out": True, "relative": True}


@with_shared_docs
class StrategicClassifier(SelfSelectionClassifier):
    """Linear classifier with the highest induced accuracy: accurate on those who apply because of it.

    The columns of ``X`` decide what it can do. If they tell groups apart (one-hot columns of the group), each group can
    get an offset of its own. Without them groups share one threshold, but still decide by their own published
    precision.

    Parameters
    ----------
    $cost
    tolerance : float or "auto", default=0.02
        Margin over the cost in training: a number (the paper uses .02 and .05), or "auto" for one standard error of a
        group's precision. Candidates are compared in the worse of two cases: groups within the margin apply, or stay
        away. A margin makes it likelier that new people of a group are as precise as published.
    parity : float, default=0.0
        Weight of the penalty for different selection rates. If positive, selection rates on the training set are also
        kept within ``parity_tolerance`` of each other where possible (``constraints_met_``).
    equal_tpr : float, default=0.0
        Weight of the penalty for different true-positive rates. Together with ``parity`` it makes precision follow base
        rates: groups whose base rates differ by more than .02 are published in that order.
    $subsidies
    $limits
    $min_selection_rate
    solver : {"auto", "constructive", "gradient_descent"}, default="auto"
        "constructive" takes one logistic score and gives each group its own threshold, or all groups a common one.
        "auto" refines these starts. "gradient_descent" is the paper's method, for reference: of its starts the one with
        the best training induced accuracy is kept, among those that violate ``require``, ``max_social_cost`` and
        ``min_selection_rate`` least; ``parity`` and ``equal_tpr`` are penalties only.
    shut_out : {"select_none", "select_all"}, default="select_none"
        How "auto" and "constructive" shut out a group where ``X`` tells groups apart: nobody of it is selected, so that
        it has no precision; or, as in the paper, everybody, so that its precision is its base rate. Where that would
        reach the cost, nobody is selected in either case.
    n_starts : int, optional
        Additional Gaussian starts, trained by L-BFGS on the paper's objective (default none). For "gradient_descent"
        the number of starts (default 5).
    max_iter : int, optional
        Steps of the descent (default 30,000), or of the logistic start (default 1,000).
    l2 : float, default=0.0
        Weight of ``|w|^2 / 2`` on standardised features, relative to the mean loss.
    application : float, optional
        Weight of the paper's penalty if nobody applies (default 1/6); only in the paper's objective.
    parity_tolerance : float, default=0.2
        Largest difference of selection rates under ``parity``, as a share of the overall rate (see ``ties``).
    tpr_tolerance : float, default=0.2
        Largest difference of true-positive rates under ``equal_tpr``, as a share of the overall rate.
    ties : dict, optional
        Settings of ``parity`` and ``equal_tpr``, each True by default. ``"order"``: both together also constrain
        precisions to the order of base rates. ``"push_out"``: precisions of groups that should not apply are pushed
        below their cost. ``"relative"``: the two tolerances are shares of the overall rate (absolute ones are met by
        selecting almost nobody).
    preset : {"paper", "released"}, optional
        Settings of "gradient_descent": those of the paper's text (the default), or of its released code where it
        differs. A preset does not set ``tolerance``, ``parity``, ``n_starts`` and ``application``.
    temperature, precision_temperature, application_temperature : float, optional
        Sharpness of smooth predictions, of smooth precision and of applications, in place of the preset's.
    learning_rate : float, optional
        Step size of the descent, in place of the preset's.
    descent : dict, optional
        Further settings in place of the preset's, by their names in :class:`selfselect.learning.DescentSettings`:
        ``{"dtype": "float64"}``.
    random_state : int, RandomState or None, default=None
        Seed of Gaussian starts; without them nothing is random.
    $publishing

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
    intercept_ : ndarray of shape (1,)
    n_iter_ : int
        Steps of the logistic start (or of the descent).
    origin_ : str
        Start that the chosen classifier comes from.
    constraints_met_ : bool
        Whether rates are within their tolerances (True without ``parity`` and ``equal_tpr``).
    $attributes

    Notes
    -----
    **Selection.** Candidates are compared by hard counts: constraints first, then ``accuracy - 2 standard errors -
    (fitted weights) / (applicants)`` among applicants. Plain accuracy would prefer small groups and overfitted
    candidates; the two corrections make the choice hold on new people.

    **Complexity.** One step of training takes O(m d) time for m rows and d features, one evaluation of all thresholds
    O(m log m), both for any number of groups; the number of steps is bounded. Memory is about twice that of ``X``.

    **Raises** :class:`selfselect.InfeasibleError` if ``require``, ``max_social_cost`` or ``min_selection_rate`` cannot
    be met, saying what came closest.

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

    def __init__(
        self,
        cost: Cost = 0.7,
        *,
        tolerance: Tolerance = 0.02,
        parity: float = 0.0,
        equal_tpr: float = 0.0,
        subsidies: Subsidies = None,
        subsidy_kind: SubsidyKind = "additive",
        require: Sequence[Any] | None = None,
        max_social_cost: float | None = None,
        min_selection_rate: float = 0.0,
        solver: str = "auto",
        shut_out: str = "select_none",
        n_starts: int | None = None,
        max_iter: int | None = None,
        l2: float = 0.0,
        application: float | None = None,
        parity_tolerance: float = 0.2,
        tpr_tolerance: float = 0.2,
        ties: Mapping[str, bool] | None = None,
        preset: str | None = None,
        temperature: float | None = None,
        precision_temperature: float | None = None,
        application_temperature: float | None = None,
        learning_rate: float | None = None,
        descent: Mapping[str, Any] | None = None,
        random_state: int | np.random.RandomState | None = None,
        pos_label: Any = None,
        publish: Publish = "cross_fit",
        cv: Any = 5,
        holdout: float = 0.3,
        confidence: float | None = 0.9,
        guarantee: bool = False,
    ) -> None:
        super().__init__(cost, subsidies, subsidy_kind, pos_label, publish, cv, holdout, confidence, guarantee)
        self.tolerance = tolerance
        self.parity = parity
        self.equal_tpr = equal_tpr
        self.require = require
        self.max_social_cost = max_social_cost
        self.min_selection_rate = min_selection_rate
        self.solver = solver
        self.shut_out = shut_out
        self.n_starts = n_starts
        self.max_iter = max_iter
        self.l2 = l2
        self.application = application
        self.parity_tolerance = parity_tolerance
        self.tpr_tolerance = tpr_tolerance
        self.ties = ties
        self.preset = preset
        self.temperature = temperature
        self.precision_temperature = precision_temperature
        self.application_temperature = application_temperature
        self.learning_rate = learning_rate
        self.descent = descent
        self.random_state = random_state

    def _validate(self, X: Any, y: Any) -> tuple[Any, Any]:
        X, y = validate_data(self, X, y, dtype=np.float64)
        return X, y

    def _fit(self, X: Any, y: Any, people: TrainingPeople, sample_weight: Any) -> None:
        terms = self._training_terms(people)
        with one_thread():
            problem, used = self._problem(X, people, terms)
            if people.splits.mode == "train":
                best, unseen = self._solve(problem), None
            elif self.solver == "gradient_descent":
                best, unseen = self._solve_each(X, people, problem)
            else:
                best, unseen = self._solve_out_of_fold(people, problem)
        coefficients, intercept = problem.standardisation.undo_parameters(best.parameters)
        self.coef_ = self._for_second_class(coefficients)[None, :]
        self.intercept_ = self._for_second_class(np.array([intercept]))
        self.origin_ = best.origin
        in_sample = X[people.splits.final] @ coefficients + intercept
        self._publish(people, in_sample if unseen is None else unseen, in_sample)
        self._check_selection(self.min_selection_rate)
        self._check_group_constraints(problem.terms, used)

    def _solve(self, problem: Problem) -> Candidate:
        """The best candidate of a solver on the people that it was fitted to."""
        best, self.n_iter_ = solve(
            problem,
            solver=self.solver,
            random=check_random_state(self.random_state),
            n_starts=self.n_starts,
            max_iter=self.max_iter,
            settings=self._descent_settings(),
        )
        return best

    def _descent_settings(self) -> DescentSettings:
        """Settings of the descent: named ones take precedence over those of the preset."""
        if not isinstance(self.descent, Mapping | None):
            raise ValueError(f"descent must be a dict of settings by name, got {self.descent!r}.")
        named = {name: getattr(self, name) for name in (*DESCENT_SETTINGS, "application")}
        given = {name: value for name, value in named.items() if value is not None}
        return DescentSettings.of(self.preset, **{**(self.descent or {}), **given})

    def _solve_each(self, X: FloatArray, people: TrainingPeople, problem: Problem) -> tuple[Candidate, FloatArray]:
        """The paper's descent, which chooses on its training people; and scores of people by descents without them."""

        def descend(fitted: Rows) -> Candidate:
            return self._solve(problem.take(problem.rows_among(fitted)))

        def scores(candidate: Candidate, evaluated: Rows) -> FloatArray:
            coefficients, intercept = problem.standardisation.undo_parameters(candidate.parameters)
            return np.asarray(X[evaluated] @ coefficients + intercept)

        unseen, best = people.splits.run(descend, scores)
        return best, unseen

    def _solve_out_of_fold(self, people: TrainingPeople, problem: Problem) -> tuple[Candidate, FloatArray]:
        """The best candidate, chosen on people that its score had not seen; and their scores."""
        candidates, self.n_iter_ = select_out_of_fold(
            problem,
            people.splits.parts,
            people.splits.final,
            with_refinement=self.solver == "auto",
            max_iter=self.max_iter,
        )
        best = max(candidates, key=lambda each: each.candidate.rank)
        refuse_infeasible(problem, best.candidate, [each.candidate for each in candidates])
        score = np.full(len(people.qualified), np.nan)
        score[problem.row_numbers] = best.score
        return best.candidate, score[people.splits.evaluated]

    def _training_terms(self, people: TrainingPeople) -> TrainingTerms:
        """Costs, behaviour and constraints of training, for all groups."""
        costs = self._terms().effective_cost(people.groups.labels)
        tolerance = check_tolerance(self.tolerance, costs)
        self._check_settings()
        required = self._required_groups(people.groups, people.qualified)
        limit = 1.0 if self.max_social_cost is None else self.max_social_cost
        # a bound on counts of the very people that were fitted would mean nothing
        in_training = people.splits.mode == "train" or self.solver == "gradient_descent"
        behaviour = BestResponse() if in_training else self._behaviour
        least = check_fraction(self.min_selection_rate, "min_selection_rate")
        constraints = Constraints(required, limit, least, between_groups=self._group_constraints())
        push_out = self._parity_settings()["push_out"]
        return TrainingTerms(costs, tolerance, constraints, behaviour, shut_out=self.shut_out, push_out=push_out)

    def _parity_settings(self) -> dict[str, bool]:
        if not isinstance(self.ties, Mapping | None):
            raise ValueError(f"ties must be a dict of settings by name, got {self.ties!r}.")
        for name, value in (self.ties or {}).items():
            if name not in PARITY_SETTINGS:
                raise ValueError(f"No setting of ties is called {name!r}; there are {', '.join(PARITY_SETTINGS)}.")
            if not isinstance(value, bool):
                raise ValueError(f"ties[{name!r}] must be True or False, got {value!r}.")
        return PARITY_SETTINGS | dict(self.ties or {})

    def _group_constraints(self) -> tuple[Constraint, ...]:
        """Constraints between groups."""
        constraints: list[Constraint] = []
        settings = self._parity_settings()
        relative = settings["relative"]
        if self.parity > 0 and self.equal_tpr > 0 and settings["order"]:
            constraints.append(BaseRateOrder())
        if self.parity > 0:
            released = self._descent_settings().parity_over == "sum"
            parity = ReleasedDemographicParity if released else DemographicParity
            constraints.append(parity(self.parity_tolerance, relative=relative, weight=self.parity))
        if self.equal_tpr > 0:
            constraints.append(TruePositiveRateParity(self.tpr_tolerance, relative=relative, weight=self.equal_tpr))
        return tuple(constraints)

    def _problem(self, X: FloatArray, people: TrainingPeople, terms: TrainingTerms) -> tuple[Problem, NDArray[np.intp]]:
        """The task of the rows with a positive weight, and the codes of their groups."""
        qualified, groups, weights = people.qualified, people.groups, people.weights
        counted = slice(None) if weights is None or weights.all() else weights > 0
        used, codes = np.unique(groups.codes[counted], return_inverse=True)
        gone = np.setdiff1d(np.flatnonzero(terms.required), used)
        if len(gone):
            raise ValueError(f"require names group(s) all of whose rows weigh 0: {list_some(groups.labels[gone])}.")
        if len(np.unique(qualified[counted])) < 2:
            raise ValueError("sample_weight leaves one class only: there must be qualified and unqualified people.")
        counts = (np.ones(len(qualified)) if weights is None else as_counts(weights))[counted]
        row_numbers = np.arange(len(qualified))[counted]
        labels = groups.labels[used]
        problem = Problem.build(
            X[counted], qualified[counted], codes, labels, counts, terms.take(used), self.l2, row_numbers
        )
        return problem, used

    def _check_group_constraints(self, terms: TrainingTerms, used: NDArray[np.intp]) -> None:
        """Set ``constraints_met_`` by what is published, and warn where it is False."""
        counts = GroupCounts(*(column[used] for column in self.published_.counts.columns))
        self.constraints_met_ = bool(evaluate_counts(terms, counts, fitted_weights=0.0).group_violation[0] == 0)
        if not self.constraints_met_:
            warn(
                "Selection or true-positive rates could not be brought within their tolerance while someone applies. "
                "Raise parity_tolerance or tpr_tolerance, or lower the cost."
            )

    def _check_settings(self) -> None:
        check_choice(self.solver, "solver", SOLVERS)
        check_choice(self.shut_out, "shut_out", SHUT_OUT)
        for name in ("parity", "equal_tpr", "l2"):
            check_nonnegative(getattr(self, name), name)
        self._descent_settings()  # raises if a setting is wrong
        if self.solver != "gradient_descent":
            for name in ("preset", *DESCENT_SETTINGS, "descent"):
                if getattr(self, name) is not None:
                    raise ValueError(f'{name} is a setting of solver="gradient_descent", got solver={self.solver!r}.')
        for name, least in (("n_starts", int(self.solver == "gradient_descent")), ("max_iter", 1)):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, int | np.integer) or value < least):
                raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}.")
        for name in ("parity_tolerance", "tpr_tolerance"):
            if check_fraction(getattr(self, name), name) == 0:
                raise ValueError(f"{name} must be positive: finite samples have no exactly equal rates.")
        if self.max_social_cost is not None:
            check_fraction(self.max_social_cost, "max_social_cost")

    def _required_groups(self, groups: GroupCodes, qualified: BoolArray) -> BoolArray:
        """Which groups must apply, with a warning about those that have few qualified people."""
        required = self._required(groups.labels)
        positives = np.bincount(groups.codes[qualified], minlength=len(groups.labels))
        few = required & (positives < MIN_SELECTED)
        if few.any():
            warn(
                f"Required group(s) {list_some(groups.labels[few])} have under {MIN_SELECTED} qualified people in "
                f"training ({', '.join(map(str, positives[few][:5]))}): their precision is hardly known."
            )
        return required

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score of each row: positive for the second class."""
        check_is_fitted(self, "coef_")
        X = validate_data(self, to_pandas(X), reset=False, dtype=np.float64)
        return np.asarray(X @ self.coef_[0] + self.intercept_[0])

    def predict(self, X: Any) -> NDArray[Any]:
        """Label of each row."""
        score = self.decision_function(X)
        return self._as_labels(score < 0 if self._positive_is_first else score > 0)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Smooth predictions ``sigma(2 score)`` of both classes: they rank people, and are not calibrated."""
        second = expit(TEMPERATURE * self.decision_function(X))
        return np.column_stack([1 - second, second])
