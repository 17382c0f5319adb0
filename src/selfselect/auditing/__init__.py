"""An existing model's outputs: who would stay away, and what follows, in numbers and words."""

from .audits import Audit, audit
from .comparing import Comparison, PairedCounts, compare
from .cost_ranges import OverCosts
from .page import Opening
from .provenance import Provenance
from .resampling import Resamples, Uncertainty, resample
from .screening import ScreeningResult, default_threshold
from .words import (
    group_names,
    group_sentence,
    group_warning,
    promises_sentence,
    standing,
    standing_phrase,
    verdict_sentence,
)

__all__ = [
    "Audit",
    "Comparison",
    "Opening",
    "OverCosts",
    "PairedCounts",
    "Provenance",
    "Resamples",
    "ScreeningResult",
    "Uncertainty",
    "audit",
    "compare",
    "default_threshold",
    "group_names",
    "group_sentence",
    "group_warning",
    "promises_sentence",
    "resample",
    "standing",
    "standing_phrase",
    "verdict_sentence",
]
