"""The report of each kind of result, by the name of its class: sentences, plain values, and a page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from .dicts import audit_to_dict, comparison_to_dict, frontier_to_dict, plan_to_dict
from .pages import audit_page, comparison_page, frontier_page, plan_page
from .sentences.audits import audit_verdict
from .sentences.comparisons import comparison_sentences
from .sentences.frontiers import frontier_sentences
from .sentences.plans import plan_sentences


class Report(NamedTuple):
    """How a kind of result is worded, written and shown."""

    sentences: Callable[[Any], list[str]]
    to_dict: Callable[[Any], dict[str, Any]]
    page: Callable[[Any], str]


#: Importing the classes themselves would import all estimators.
REPORTS = {
    "Audit": Report(lambda audit: [audit_verdict(audit)], audit_to_dict, audit_page),
    "Comparison": Report(comparison_sentences, comparison_to_dict, comparison_page),
    "SubsidyPlan": Report(plan_sentences, plan_to_dict, plan_page),
    "ThresholdFrontier": Report(frontier_sentences, frontier_to_dict, frontier_page),
}
