"""Results as plain values, for JSON: no NaN, no numpy types. One function per kind of result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..auditing import Audit, Comparison, OverCosts, Provenance, Uncertainty
from ..auditing.decomposition import precision_gaps
from ..outcomes import BOUNDED
from .sentences.audits import group_statuses, response_text
from .sentences.comparisons import changes
from .sentences.frontiers import NOTES, frontier_warnings
from .sentences.plans import plan_warnings

if TYPE_CHECKING:  # importing plans would import all estimators
    from ..estimation import EstimatedBehaviour
    from ..planning import SubsidyPlan, ThresholdFrontier
    from ..planning.thresholds import Point
    from ..simulation import History

#: Columns of each group of an audit.
GROUP_COLUMNS = (
    "n base_rate selected precision precision_low precision_high cost applies status share subsidy_needed accuracy "
    "selection_rate true_positive_rate false_positive_rate utility"
).split()
#: Columns that only some audits have: of people who were not tested, have weights, or are new.
FURTHER_COLUMNS = (
    "untested base_rate_low base_rate_high accuracy_low accuracy_high effective_selected published_value undecided "
    "delivered delivered_low delivered_high promise_kept pool application_rate pool_selection_rate pool_impact_ratio"
).split()
#: Counts of promises, by the answer that they count.
PROMISES = {"kept": "yes", "broken": "no", "undecided": "undecided"}
#: With more groups (at all costs together) than this, there is no bootstrap, which would take long.
MAX_RESAMPLED_GROUPS = 2_000
#: With more groups than this, points of a frontier do not name them.
MAX_NAMES = 1000


def plain_value(value: Any) -> Any:
    """A plain number, text or truth value; None if it is not finite; a list for a tuple."""
    if isinstance(value, tuple):
        return [plain_value(part) for part in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not np.isfinite(value) else value


def plain_dict(values: Mapping[Any, Any]) -> dict[str, Any]:
    """The same mapping with plain values."""
    return {str(name): plain_value(value) for name, value in values.items()}


def plain_rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows of a frame as mappings from column to plain value."""
    return [plain_dict(dict(zip(frame, row, strict=True))) for row in frame.itertuples(index=False, name=None)]


def plain_groups(names: Sequence[str], frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The same, with the name of the group first."""
    return [{"group": name, **row} for name, row in zip(names, plain_rows(frame), strict=True)]


def conditions_to_list(source: Provenance) -> list[dict[str, Any]]:
    """Stated conditions, and whether they hold."""
    return [{"condition": text, "holds": holds} for text, holds in source.conditions]


def source_to_dict(*sources: Provenance) -> dict[str, Any]:
    """Which value means qualified, which passes, and how many persons there are, where known; of several, a list."""
    known = [
        {"qualified": source.label, "passes": source.passes, **({"persons": source.persons} if source.persons else {})}
        for source in sources
        if source.passes
    ]
    shown = {"provenance": known if len(sources) > 1 else known[0]} if known else {}
    merged = {name: groups for source in sources for name, groups in source.merged.items()}
    return shown | ({"min_cell": sources[0].min_cell, "merged": merged} if sources[0].min_cell else {})


# ---------------------------------------------------------------------- audits


def audit_to_dict(audit: Audit) -> dict[str, Any]:
    """An audit at its main cost; with several costs, all of them under ``by_cost``."""
    resampled = len(audit.costs) * len(audit.names) <= MAX_RESAMPLED_GROUPS
    content = _one_cost(audit, resampled)
    if audit.other_costs:
        content["by_cost"] = [_one_cost(audit.at(cost), resampled) for cost in audit.costs]
    if audit.cost_range is not None:
        content["over_costs"] = over_costs_to_dict(audit.over_costs(*audit.cost_range))
    content["impact_ratios"] = impact_to_dict(audit.impact_ratios())
    content["precision_gaps"] = plain_groups(audit.names, precision_gaps(audit.published))
    return content


def _one_cost(audit: Audit, resampled: bool) -> dict[str, Any]:
    cost: Any = audit.terms.cost
    listed = dict(zip(audit.names, audit.terms.listed_cost(audit.published.groups).tolist(), strict=True))
    own = {name: value for name, value in listed.items() if value != cost}
    if isinstance(cost, Mapping | pd.Series):
        cost, own = listed, {}
    either_way, responds = audit.either_way(), response_text(audit)
    frame = audit.to_frame().assign(status=group_statuses(audit))
    kept = audit.promises()["promise_kept"].tolist() if audit.of_new_people else []
    counted = {name: kept.count(answer) for name, answer in PROMISES.items()}
    columns = GROUP_COLUMNS + [name for name in FURTHER_COLUMNS if name in frame]
    return {
        "cost": plain_value(cost),
        **({"cost_of": own} if own else {}),
        **source_to_dict(audit.provenance),
        "threshold": plain_value(audit.threshold),
        **({"lower_passes": True} if audit.published_by.lower_passes else {}),
        "n": plain_value(audit.population.counts.n.sum()),
        **({"warnings": list(audit.provenance.warnings)} if audit.provenance.warnings else {}),
        **({"conditions": conditions_to_list(audit.provenance)} if audit.provenance.conditions else {}),
        **plain_dict(audit.outcome.to_dict()),
        "qualified_rejected": plain_value(audit.qualified_rejected),
        "subsidy_kind": audit.terms.kind,
        "confidence": audit.terms.confidence,
        **({} if responds is None else {"behaviour": responds}),
        "either_way": None if either_way is None else plain_dict(either_way),
        "uncertainty": uncertainty_to_dict(audit.uncertainty(), audit.names) if resampled else None,
        **({"promises": counted} if audit.of_new_people else {}),
        "groups": plain_groups(audit.names, frame[columns]),
    }


def uncertainty_to_dict(uncertainty: Uncertainty, names: Sequence[str]) -> dict[str, Any]:
    """Intervals by the bootstrap, and how often each group applies."""
    return {
        "method": "bayesian bootstrap over people, and all decisions that the data do not exclude",
        "design": uncertainty.design,
        "n_resamples": uncertainty.n_resamples,
        "seed": uncertainty.seed if isinstance(uncertainty.seed, int) else None,
        "confidence": uncertainty.confidence,
        **{str(name): plain_dict(row) for name, row in uncertainty.to_frame().to_dict("index").items()},
        "applies": dict(zip(names, uncertainty.applies.tolist(), strict=True)),
    }


def over_costs_to_dict(over: OverCosts) -> dict[str, Any]:
    """What holds over a range of costs."""
    return {
        "low": over.low,
        "high": over.high,
        **{name: plain_value(over.range_of(name)) for name in BOUNDED[1:]},
        "groups": plain_groups(over.names, over.groups),
        "steps": plain_rows(over.steps),
    }


def impact_to_dict(frame: pd.DataFrame) -> dict[str, Any]:
    """Impact ratios: one table per column, with the number of people of unknown category."""
    return {
        "method": "Tukey and Kramer's simultaneous intervals of log ratios",
        "confidence": 0.95,
        "tables": [
            {
                "by": by,
                "unknown": float(part.loc[part["unknown"], "n"].sum()),
                "categories": plain_rows(part.drop(columns="by")),
            }
            for by, part in frame.groupby("by", sort=False)
        ],
    }


# ---------------------------------------------------------------------- estimates

#: Numbers of an estimate about all groups.
ESTIMATED = (
    "response cost_model identified_by confidence responds slope slope_p_value scale scale_low scale_high correlation "
    "clustered dispersion pearson df_residual p_value"
).split()


def estimate_to_dict(estimate: EstimatedBehaviour) -> dict[str, Any]:
    """Estimated costs; ``costs`` is what commands take, None if there are none. Ends that are infinite are None."""
    costs = dict(zip(estimate.names, estimate.costs.values(), strict=True)) if estimate.responds else None
    return {
        "costs": costs,
        **{name: plain_value(getattr(estimate, name)) for name in ESTIMATED},
        "groups": plain_groups(estimate.names, estimate.to_frame()),
    }


# ---------------------------------------------------------------------- comparisons, plans, frontiers


def comparison_to_dict(comparison: Comparison) -> dict[str, Any]:
    """Two audits side by side."""
    numbers = comparison.differences().to_dict("index")
    return {
        "names": list(comparison.names),
        **source_to_dict(comparison.before.provenance, comparison.after.provenance),
        "paired": comparison.paired,
        "n_resamples": comparison.drawn[0].n_resamples,
        "confidence": comparison.confidence,
        "seed": comparison.seed if isinstance(comparison.seed, int) else None,
        **{str(name): plain_dict(row) for name, row in numbers.items()},
        "groups": plain_groups(comparison.group_names, _compared(comparison)),
    }


def _compared(comparison: Comparison) -> pd.DataFrame:
    """The groups of a comparison, with what each does, and whether its change is beyond chance."""
    frame = comparison.to_frame().assign(beyond_chance=[sure for _, sure in changes(comparison)])
    for when, audit in (("before", comparison.before), ("after", comparison.after)):
        frame[f"status_{when}"] = pd.Series(group_statuses(audit), audit.published.groups).reindex(frame.index)
    return frame.astype(object).where(frame.notna(), None)


def plan_to_dict(plan: SubsidyPlan) -> dict[str, Any]:
    """A plan of subsidies, with the outcome before and after."""
    spending = plan.spending
    return {
        "cost": _one_cost(plan.before, resampled=False)["cost"],
        **source_to_dict(plan.before.provenance),
        "threshold": plain_value(plan.before.threshold),
        "subsidy_kind": plan.subsidy_kind,
        "budget": None if spending is None else spending.budget,
        "exact": None if spending is None else plan.path is None and spending.exact,
        "confidence": plan.confidence,
        "works": plan.works,
        "impossible": plan.impossible,
        "driven_out": plan.driven_out,
        "warnings": plan_warnings(plan),
        "recipients": plan.recipients,
        "total": plain_value(plan.total),
        "before": plain_dict(plan.before.outcome.to_dict()),
        "retrained": None if plan.retrained is None else plain_dict(plan.retrained.outcome.to_dict()),
        "after": plain_dict(plan.after.outcome.to_dict()),
        "groups": plain_groups(plan.before.names, plan.to_frame()),
        "path": None if plan.path is None else plain_rows(plan.path),
    }


def frontier_to_dict(frontier: ThresholdFrontier) -> dict[str, Any]:
    """A frontier over thresholds; with very many groups, only the recommended points name them."""
    named, current = len(frontier.names) <= MAX_NAMES, frontier.current
    now = None
    if current is not None:
        now = {"threshold": plain_value(frontier.in_own_scale(frontier.people.threshold or 0.0))} | plain_dict(
            current.to_dict()
        )
    recommended = {kind: frontier.recommend(kind=kind) for kind in frontier.points}
    return {
        "cost": plain_value(frontier.terms.uniform_cost),
        **source_to_dict(frontier.provenance),
        "n": plain_value(frontier.curves.n.sum()),
        "max_social_cost": frontier.max_social_cost,
        "met": frontier.met,
        **({"lower_passes": True} if frontier.people.lower_passes else {}),
        "warnings": frontier_warnings(frontier),
        "seed": frontier.seed,
        "now": now,
        "recommended": {
            kind: None if point is None else _point(frontier, frontier.names, point)
            for kind, point in recommended.items()
        },
        **{
            kind: [_point(frontier, frontier.names if named else None, point) for point in points]
            for kind, points in frontier.points.items()
        },
        "notes": list(NOTES),
    }


def _point(frontier: ThresholdFrontier, names: Sequence[str] | None, point: Point) -> dict[str, Any]:
    thresholds = [plain_value(frontier.in_own_scale(value)) for value in point.thresholds]
    content: dict[str, Any] = {"threshold": thresholds[0]} if point.kind == "one" else {}
    if names is not None and point.kind == "per_group":
        content["thresholds"] = dict(zip(names, thresholds, strict=True))
    content |= plain_dict(point.outcome.to_dict())
    if names is not None:
        content["who"] = [name for name, applies in zip(names, point.applies, strict=True) if applies]
    return content | {
        "held_out_accuracy": plain_value(point.held_out_accuracy),
        "held_out_social_cost": plain_value(point.held_out_social_cost),
        "met": point.met,
    }


# ---------------------------------------------------------------------- rounds


def history_to_dict(history: History) -> dict[str, Any]:
    """A history: totals of each round, with the numbers of each group."""
    frame = history.to_frame().drop(columns=["round", "group"])
    size = len(history.names)
    return {
        **source_to_dict(history.provenance),
        "stopped": history.stopped or None,
        "rounds": [
            {"round": i + 1, **total, "groups": plain_groups(history.names, frame.iloc[i * size : (i + 1) * size])}
            for i, total in enumerate(plain_rows(history.totals()))
        ],
    }
