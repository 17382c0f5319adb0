"""Training of linear classifiers whose applicants choose themselves.

- ``objective``: the objectives, value and gradient on sums per group
- ``scores``, ``linear``: from features to scores to sums per group, and the gradient back
- ``problem``: a task, with standardised features sorted by group (see also :mod:`selfselect.constraints`)
- ``evaluation``, ``candidates``: finished classifiers, with constraint violation and value from hard counts
- ``thresholds``: the best threshold per group, exactly, for any score (``group_sets``, ``rate_windows``)
- ``starts``, ``solvers``: :func:`solve`, from a problem to a classifier
- ``out_of_fold``: choosing by out-of-fold scores
- ``paper``: the paper's descent and its settings

The default does not minimise the paper's objective, which loses the gradient of a group whose smooth application is 0.
The groups that should apply are decided first, and :class:`~selfselect.learning.objective.TargetedObjective` minimises
the errors on them under the constraint that they do.
"""

from ..constraints import InfeasibleError
from .candidates import Candidate, majority_steps, threshold_between
from .evaluation import MIN_SELECTED, accuracy_lower_bound, evaluate_counts, violation_at_thresholds
from .linear import FeatureBlock
from .objective import StrategicObjective
from .out_of_fold import select_out_of_fold
from .paper import DescentSettings, logistic_by_descent, solve_by_descent
from .problem import Problem, TrainingTerms
from .solvers import SOLVERS, refuse_infeasible, solve, too_few_selected
from .thresholds import OptimalThresholds, optimise_thresholds

__all__ = [
    "MIN_SELECTED",
    "SOLVERS",
    "Candidate",
    "DescentSettings",
    "FeatureBlock",
    "InfeasibleError",
    "OptimalThresholds",
    "Problem",
    "StrategicObjective",
    "TrainingTerms",
    "accuracy_lower_bound",
    "evaluate_counts",
    "logistic_by_descent",
    "majority_steps",
    "optimise_thresholds",
    "refuse_infeasible",
    "select_out_of_fold",
    "solve",
    "solve_by_descent",
    "threshold_between",
    "too_few_selected",
    "violation_at_thresholds",
]
