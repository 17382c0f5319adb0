"""Train and audit screening classifiers when people choose whether to apply."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the names as tools see them; at run time each room is opened when it is asked for
    from . import datasets, metrics, plotting, theory
    from .auditing import Audit, Comparison, PairedCounts, Provenance, ScreeningResult, audit, compare
    from .behaviour import BestResponse, SureRule
    from .costs import Terms
    from .counting import GroupCodes, GroupCounts, encode_groups, precision_interval
    from .estimators import (
        ApplicationWarning,
        GroupThresholdClassifier,
        NaiveClassifier,
        PromiseWarning,
        SemiStrategicClassifier,
        ShutOutWarning,
        StrategicClassifier,
        load_model,
        save_model,
    )
    from .learning import InfeasibleError
    from .planning import (
        SubsidyPlan,
        ThresholdFrontier,
        accuracy_social_cost_frontier,
        plan_subsidies,
        threshold_frontier,
    )
    from .publishing import PublishedStatistics, ThresholdCurves

__version__ = "0.1.0"

#: Where each public name lives. Importing the package imports none of them, so that the command starts at once.
_HOMES = {
    "auditing": ("Audit", "Comparison", "PairedCounts", "Provenance", "ScreeningResult", "audit", "compare"),
    "counting": ("GroupCodes", "GroupCounts", "encode_groups", "precision_interval"),
    "behaviour": ("BestResponse", "SureRule"),
    "costs": ("Terms",),
    "publishing": ("PublishedStatistics", "ThresholdCurves"),
    "estimators": (
        "ApplicationWarning",
        "GroupThresholdClassifier",
        "NaiveClassifier",
        "PromiseWarning",
        "SemiStrategicClassifier",
        "ShutOutWarning",
        "StrategicClassifier",
        "load_model",
        "save_model",
    ),
    "learning": ("InfeasibleError",),
    "planning": (
        "SubsidyPlan",
        "ThresholdFrontier",
        "accuracy_social_cost_frontier",
        "plan_subsidies",
        "threshold_frontier",
    ),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
_MODULES = ("datasets", "metrics", "plotting", "theory")

__all__ = [
    "ApplicationWarning",
    "Audit",
    "BestResponse",
    "Comparison",
    "GroupCodes",
    "GroupCounts",
    "GroupThresholdClassifier",
    "InfeasibleError",
    "NaiveClassifier",
    "PairedCounts",
    "PromiseWarning",
    "Provenance",
    "PublishedStatistics",
    "ScreeningResult",
    "SemiStrategicClassifier",
    "ShutOutWarning",
    "StrategicClassifier",
    "SubsidyPlan",
    "SureRule",
    "Terms",
    "ThresholdCurves",
    "ThresholdFrontier",
    "accuracy_social_cost_frontier",
    "audit",
    "compare",
    "datasets",
    "encode_groups",
    "load_model",
    "metrics",
    "plan_subsidies",
    "plotting",
    "precision_interval",
    "save_model",
    "theory",
    "threshold_frontier",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
    globals()[name] = value  # the next look finds it at once
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
