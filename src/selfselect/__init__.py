"""Train and audit screening classifiers when people choose whether to apply."""

from . import behaviour, datasets, groups, metrics, theory
from .auditing import Audit, Source, audit
from .curves import ThresholdCurves
from .estimators import (
    ApplicationWarning,
    NaiveClassifier,
    SemiStrategicClassifier,
    StrategicClassifier,
    load_model,
    save_model,
)
from .frontier import accuracy_social_cost_frontier
from .intervals import precision_interval
from .planning import SubsidyPlan, plan_subsidies
from .solvers import InfeasibleError
from .statistics import GroupCounts, PublishedStatistics

__version__ = "0.1.0"

__all__ = [
    "ApplicationWarning",
    "Audit",
    "GroupCounts",
    "InfeasibleError",
    "NaiveClassifier",
    "PublishedStatistics",
    "SemiStrategicClassifier",
    "Source",
    "StrategicClassifier",
    "SubsidyPlan",
    "ThresholdCurves",
    "accuracy_social_cost_frontier",
    "audit",
    "behaviour",
    "datasets",
    "groups",
    "load_model",
    "metrics",
    "plan_subsidies",
    "precision_interval",
    "save_model",
    "theory",
]
