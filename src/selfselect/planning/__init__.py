"""What would change who applies: subsidies that bring groups in, thresholds, and what it costs in accuracy."""

from .accuracy_frontier import accuracy_social_cost_frontier
from .plan import plan_subsidies
from .retraining import plan_under_retraining, refit
from .subsidies import SubsidyPlan, plan_for
from .thresholds import ThresholdFrontier, frontier_for, threshold_frontier

__all__ = [
    "SubsidyPlan",
    "ThresholdFrontier",
    "accuracy_social_cost_frontier",
    "frontier_for",
    "plan_for",
    "plan_subsidies",
    "plan_under_retraining",
    "refit",
    "threshold_frontier",
]
