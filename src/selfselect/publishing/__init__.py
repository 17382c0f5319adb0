"""What is published about each group, and which counts it rests on."""

from .curves import RunningSums, ThresholdCurves
from .guarantee import Promised, promise_in_order, promise_to_named, sequences_of
from .published import PublishedStatistics

__all__ = [
    "Promised",
    "PublishedStatistics",
    "RunningSums",
    "ThresholdCurves",
    "promise_in_order",
    "promise_to_named",
    "sequences_of",
]
