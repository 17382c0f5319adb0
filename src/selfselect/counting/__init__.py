"""Rows become counts: groups, counts per group, counts at every threshold, and their confidence intervals."""

from .counts import GroupCounts
from .curves import CountCurves
from .groups import (
    MISSING,
    GroupCodes,
    Unseen,
    encode_groups,
    locate_labels,
    plain_label,
    position_of,
    values_by_group,
    with_same_columns,
)
from .intervals import effective_trials, precision_interval, ratio
from .rows import ChunkedRows, DaskRows, InMemoryRows, Rows

__all__ = [
    "MISSING",
    "ChunkedRows",
    "CountCurves",
    "DaskRows",
    "GroupCodes",
    "GroupCounts",
    "InMemoryRows",
    "Rows",
    "Unseen",
    "effective_trials",
    "encode_groups",
    "locate_labels",
    "plain_label",
    "position_of",
    "precision_interval",
    "ratio",
    "values_by_group",
    "with_same_columns",
]
