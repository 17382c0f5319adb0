"""Train and audit screening classifiers when people choose whether to apply."""

from . import behaviour, datasets, groups, metrics, theory
from .curves import ThresholdCurves
from .intervals import precision_interval
from .statistics import GroupCounts, PublishedStatistics

__version__ = "0.1.0"

__all__ = [
    "GroupCounts",
    "PublishedStatistics",
    "ThresholdCurves",
    "behaviour",
    "datasets",
    "groups",
    "metrics",
    "precision_interval",
    "theory",
]
