"""People become numbers here, and nowhere else: groups, counts per group, counts at every threshold, intervals."""

from .counts import COUNTED, GroupCounts, correct_decisions
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
from .steps import ScoreSteps

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
