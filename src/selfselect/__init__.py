"""Train and audit screening classifiers when people choose whether to apply."""

from . import behaviour, datasets, groups, metrics, theory
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
from .solvers import InfeasibleError
from .statistics import GroupCounts, PublishedStatistics

__version__ = "0.1.0"

__all__ = [
    "ApplicationWarning",
    "GroupCounts",
    "InfeasibleError",
    "NaiveClassifier",
    "PublishedStatistics",
    "SemiStrategicClassifier",
    "StrategicClassifier",
    "ThresholdCurves",
    "accuracy_social_cost_frontier",
    "behaviour",
    "datasets",
    "groups",
    "load_model",
    "metrics",
    "precision_interval",
    "save_model",
    "theory",
]
