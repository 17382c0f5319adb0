"""Real tables that ship with the package, and synthetic populations."""

from ._adult import fetch_adult
from ._bank import fetch_bank
from ._raw import BrokenDataFileError
from ._synthetic import (
    make_base_rate_groups,
    make_calibrated_score,
    make_ordering_constraint,
    make_precision_curves,
)

__all__ = [
    "BrokenDataFileError",
    "fetch_adult",
    "fetch_bank",
    "make_base_rate_groups",
    "make_calibrated_score",
    "make_ordering_constraint",
    "make_precision_curves",
]
