"""Real tables that ship with the package, and synthetic populations."""

from ._synthetic import (
    make_base_rate_groups,
    make_calibrated_score,
    make_ordering_constraint,
    make_precision_curves,
)
from ._tables import BrokenDataFileError, fetch_adult, fetch_bank, fetch_fico

__all__ = [
    "BrokenDataFileError",
    "fetch_adult",
    "fetch_bank",
    "fetch_fico",
    "make_base_rate_groups",
    "make_calibrated_score",
    "make_ordering_constraint",
    "make_precision_curves",
]
