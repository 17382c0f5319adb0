"""Train and audit screening classifiers when people choose whether to apply."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # for tools; at run time each package is imported when one of its names is used
    from . import (
        behaviour,
        boosting,
        constraints,
        datasets,
        estimation,
        metrics,
        plotting,
        publishing,
        simulation,
        theory,
    )
    from .auditing import Audit, Comparison, PairedCounts, Provenance, ScreeningResult, audit, compare
    from .behaviour import BestResponse
    from .costs import Terms
    from .counting import GroupCodes, GroupCounts, encode_groups, precision_interval
    from .estimators import (
        ApplicationWarning,
        GroupThresholdClassifier,
        NaiveClassifier,
        PaperClassifier,
        PromiseWarning,
        SemiStrategicClassifier,
        ShutOutWarning,
        StrategicClassifier,
        load_model,
        save_model,
    )
    from .learning import InfeasibleError, StrategicObjective
    from .planning import (
        SubsidyPlan,
        ThresholdFrontier,
        accuracy_social_cost_frontier,
        plan_subsidies,
        threshold_frontier,
    )
    from .publishing import PublishedStatistics, ThresholdCurves

__version__ = "0.1.0"

#: Packages with public names, each imported when a name is first used, so that the command starts at once. A package
#: imports only from those before it, so the search for a name imports nothing that its package does not need.
_PACKAGES = ("counting", "behaviour", "costs", "publishing", "auditing", "learning", "estimators", "planning")
_MODULES = (
    "behaviour",
    "boosting",
    "constraints",
    "datasets",
    "estimation",
    "metrics",
    "plotting",
    "publishing",
    "simulation",
    "theory",
)

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
    "PaperClassifier",
    "PromiseWarning",
    "Provenance",
    "PublishedStatistics",
    "ScreeningResult",
    "SemiStrategicClassifier",
    "ShutOutWarning",
    "StrategicClassifier",
    "StrategicObjective",
    "SubsidyPlan",
    "Terms",
    "ThresholdCurves",
    "ThresholdFrontier",
    "accuracy_social_cost_frontier",
    "audit",
    "behaviour",
    "boosting",
    "compare",
    "constraints",
    "datasets",
    "encode_groups",
    "estimation",
    "load_model",
    "metrics",
    "plan_subsidies",
    "plotting",
    "precision_interval",
    "publishing",
    "save_model",
    "simulation",
    "theory",
    "threshold_frontier",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name in __all__:
        for package in _PACKAGES:
            module = import_module(f"{__name__}.{package}")
            if hasattr(module, name):
                globals()[name] = getattr(module, name)
                return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
