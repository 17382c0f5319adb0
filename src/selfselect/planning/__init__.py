"""What would change who applies: subsidies that bring groups in, and what it costs to keep people from staying away."""

from .frontier import accuracy_social_cost_frontier
from .plan import plan_subsidies
from .retraining import plan_under_retraining, refit
from .subsidies import SubsidyPlan, plan_for

__all__ = [
    "SubsidyPlan",
    "accuracy_social_cost_frontier",
    "plan_for",
    "plan_subsidies",
    "plan_under_retraining",
    "refit",
]
