"""Rows become counts: groups, counts per group, counts at every threshold, and their confidence intervals."""

from .counts import COUNT_NAMES, GroupCounts, correct_decisions
from .curves import CountCurves
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
from .rows import ChunkedRows, DaskRows, InMemoryRows, Rows

__all__ = [
    "COUNT_NAMES",
    "EVERYONE",
    "MISSING",
    "ChunkedRows",
    "CountCurves",
    "DaskRows",
    "GroupCodes",
    "GroupCounts",
    "InMemoryRows",
    "Interval",
    "Rows",
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
