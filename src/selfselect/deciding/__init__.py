"""From what is published to who applies and what follows: terms, behaviour, published tables, thresholds, outcomes.

Everything here works on K numbers per group (or on the steps of a score) and is pure.
"""

from .behaviour import (
    SLACK,
    Behaviour,
    HardRule,
    PromisedRule,
    Shares,
    SureRule,
    Tolerance,
    Undefined,
    applies_rule,
    applies_with_margin,
    as_decisions,
    check_tolerance,
    highest_cost,
    smooth_applies,
    surely_reaches,
)
from .guarantee import Promised, promise_in_order, promise_to_named, sequences_of
from .outcomes import BOUNDED, BoundedOutcome, Outcome, outcome, outcome_bounds
from .published import PublishedStatistics
from .terms import Cost, Subsidies, SubsidyKind, Terms, least_additive, least_proportional
from .thresholds import RunningSums, ThresholdCurves

__all__ = [
    "BOUNDED",
    "SLACK",
    "Behaviour",
    "BoundedOutcome",
    "Cost",
    "HardRule",
    "Outcome",
    "Promised",
    "PromisedRule",
    "PublishedStatistics",
    "RunningSums",
    "Shares",
    "Subsidies",
    "SubsidyKind",
    "SureRule",
    "Terms",
    "ThresholdCurves",
    "Tolerance",
    "Undefined",
    "applies_rule",
    "applies_with_margin",
    "as_decisions",
    "check_tolerance",
    "highest_cost",
    "least_additive",
    "least_proportional",
    "outcome",
    "outcome_bounds",
    "promise_in_order",
    "promise_to_named",
    "sequences_of",
    "smooth_applies",
    "surely_reaches",
]
