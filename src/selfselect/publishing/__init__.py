"""What is published about each group, and whose counts it rests on."""

from ..statistics import LowerBound, Precision, Published, Statistic
from .anytime import AnytimeLowerBound
from .curves import ThresholdCurves, ThresholdSums
from .guarantee import GuaranteedThresholds, guarantee_groups, guarantee_thresholds, threshold_sequences
from .pooling import PooledLowerBound
from .privacy import MIN_CELL
from .published import PublishedStatistics
from .splits import CrossFit, Holdout, TrainingSet

__all__ = [
    "MIN_CELL",
    "AnytimeLowerBound",
    "CrossFit",
    "GuaranteedThresholds",
    "Holdout",
    "LowerBound",
    "PooledLowerBound",
    "Precision",
    "Published",
    "PublishedStatistics",
    "Statistic",
    "ThresholdCurves",
    "ThresholdSums",
    "TrainingSet",
    "guarantee_groups",
    "guarantee_thresholds",
    "threshold_sequences",
]
