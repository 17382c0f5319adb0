"""Who applies to an existing model, and what follows: numbers only. The report words them."""

from .audits import Audit, audit
from .comparing import Comparison, compare
from .cost_ranges import OverCosts
from .impact_audits import ImpactAudit
from .paired import PairedCounts
from .reported import Provenance
from .resampling import Uncertainty
from .screening import ScreeningResult, default_threshold, group_names

__all__ = [
    "Audit",
    "Comparison",
    "ImpactAudit",
    "OverCosts",
    "PairedCounts",
    "Provenance",
    "ScreeningResult",
    "Uncertainty",
    "audit",
    "compare",
    "default_threshold",
    "group_names",
]
