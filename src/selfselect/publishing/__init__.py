"""What is published about each group, and which counts it rests on."""

from .curves import ThresholdCurves, ThresholdSums
from .guarantee import GuaranteedThresholds, guarantee_groups, guarantee_thresholds, threshold_sequences
from .published import PublishedStatistics

__all__ = [
    "GuaranteedThresholds",
    "PublishedStatistics",
    "ThresholdCurves",
    "ThresholdSums",
    "guarantee_groups",
    "guarantee_thresholds",
    "threshold_sequences",
]
