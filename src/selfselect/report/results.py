"""The report of each kind of result, by the name of its class: sentences, plain values, and a page if it has one."""

from collections.abc import Callable
from typing import Any

from .dicts import (
    audit_to_dict,
    comparison_to_dict,
    estimate_to_dict,
    frontier_to_dict,
    history_to_dict,
    plan_to_dict,
)
from .impact_page import impact_audit_to_dict, impact_page
from .pages import audit_page, comparison_page, frontier_page, history_page, plan_page
from .sentences.audits import audit_sentences
from .sentences.comparisons import comparison_sentences
from .sentences.estimates import estimate_sentences
from .sentences.frontiers import frontier_sentences
from .sentences.impact import impact_sentences
from .sentences.plans import plan_sentences
from .sentences.rounds import round_sentences

#: Importing the classes themselves would import all estimators.
REPORTS: dict[str, tuple[Callable[[Any], Any], ...]] = {
    "Audit": (audit_sentences, audit_to_dict, audit_page),
    "Comparison": (comparison_sentences, comparison_to_dict, comparison_page),
    "EstimatedBehaviour": (estimate_sentences, estimate_to_dict),
    "History": (round_sentences, history_to_dict, history_page),
    "ImpactAudit": (impact_sentences, impact_audit_to_dict, impact_page),
    "SubsidyPlan": (plan_sentences, plan_to_dict, plan_page),
    "ThresholdFrontier": (frontier_sentences, frontier_to_dict, frontier_page),
}
