"""Rows become counts: groups, counts per group, counts at every threshold, and their confidence intervals."""

from .counts import COUNTED, GroupCounts, correct_decisions
from .curves import ScoreSteps
from .groups import (
    EVERYONE,
    MISSING,
    GroupCodes,
    encode_groups,
    locate_groups,
    locate_labels,
    position_of,
    values_by_group,
    with_same_columns,
)
from .intervals import Interval, precision_interval, ratio
from .rows import ChunkedRows, DaskRows, HeldRows, Rows

__all__ = [
    "COUNTED",
    "EVERYONE",
    "MISSING",
    "ChunkedRows",
    "DaskRows",
    "GroupCodes",
    "GroupCounts",
    "HeldRows",
    "Interval",
    "Rows",
    "ScoreSteps",
    "correct_decisions",
    "encode_groups",
    "locate_groups",
    "locate_labels",
    "position_of",
    "precision_interval",
    "ratio",
    "values_by_group",
    "with_same_columns",
]
