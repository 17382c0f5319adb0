"""Tables of texts, for pages and for the terminal: a list of rows, each a mapping from column to text."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from .._formats import PLACES, amount, amount_up, count, level, listed, or_dash, percent
from ..auditing import Audit, Comparison
from ..auditing.decomposition import precision_gaps
from ..auditing.impact import SMALL_SHARE
from ..auditing.impact_audits import SELECTION
from .sentences.audits import NUMBERS, group_statuses
from .sentences.comparisons import change_texts
from .sentences.estimates import cost_notes, cost_range_text, cost_text
from .sentences.frontiers import thresholds_text
from .sentences.words import group_status, percent_or_bounds, points

if TYPE_CHECKING:  # importing plans would import all estimators
    from ..estimation import EstimatedBehaviour
    from ..planning import SubsidyPlan, ThresholdFrontier
    from ..planning.thresholds import Point
    from ..simulation import History


def interval_text(low: float, high: float, form: Callable[[float], str] = percent) -> str:
    """The two ends of an interval; a dash if it is undefined."""
    return "-" if math.isnan(low) else f"{form(low)} to {form(high)}"


# ---------------------------------------------------------------------- audits


def status_text(row: Mapping[str, Any]) -> str:
    """What a group does, and which share of it applies if neither all nor none."""
    status = group_status(row["selected"], row["applies"], row.get("undecided", False))
    return f"{status} ({percent(row['share'])})" if 0 < row["share"] < 1 else status


def outcome_rows(audits: Mapping[str, Audit]) -> list[dict[str, str]]:
    """The numbers of audits, one column each."""
    numbers = {title: audit.outcome.to_dict() for title, audit in audits.items()}
    return [
        {"": text, **{title: percent_or_bounds(row, name) for title, row in numbers.items()}}
        for name, text in NUMBERS.items()
    ]


def cost_rows(audit: Audit) -> list[dict[str, str]]:
    """The numbers of an audit at each of its costs."""
    table = audit.by_cost().sort_index()
    return [
        {
            "cost": amount(cost),
            "groups that apply": f"{row['applying_groups']} of {len(audit.names)}",
            "people who apply": percent(row["application_rate"]),
            "accuracy among applicants": percent_or_bounds(row, "induced_accuracy"),
            "among everybody": percent_or_bounds(row, "assumed_accuracy"),
            "qualified who stay away": percent_or_bounds(row, "social_cost"),
        }
        for cost, row in zip(table.index, table.to_dict("records"), strict=True)
    ]


def impact_rows(frame: pd.DataFrame, rate: str = SELECTION) -> list[dict[str, Any]]:
    """Tables of impact ratios, one per column of groups: ``by``, ``remark`` and ``rows``; ``rate`` names the rate."""
    tables = []
    for by, part in frame.groupby("by", sort=False):
        unknown = float(part.loc[part["unknown"], "n"].sum())
        remark = f"{count(unknown)} people of unknown category are not compared." if unknown else ""
        rows = [_impact_row(row, rate) for row in part.to_dict("records")]
        tables.append({"by": str(by), "remark": remark, "rows": rows})
    return tables


def _impact_row(row: dict[str, Any], rate: str) -> dict[str, str]:
    of_pool = row.get("pool_under_four_fifths", False)
    notes = {
        "the highest": row["highest"],
        "under four fifths": row["under_four_fifths"],
        "also of the pool": row["under_four_fifths"] and of_pool,
        "under four fifths of the pool": of_pool and not row["under_four_fifths"],
        f"set apart: under {percent(SMALL_SHARE)} of people": row["set_apart"],
        "unknown": row["unknown"],
    }
    return {
        "category": row["category"],
        "people": count(row["n"]),
        "pass" if rate == SELECTION else "past the median": count(row["selected"]),
        rate: or_dash(row["selection_rate"]),
        "impact ratio": or_dash(row["impact_ratio"], amount),
        "95% interval": interval_text(row["impact_ratio_low"], row["impact_ratio_high"], amount),
        **(_potential_cells(row) if "pool" in row else {}),
        "note": ", ".join(text for text, holds in notes.items() if holds),
    }


def _potential_cells(row: dict[str, Any]) -> dict[str, str]:
    """The same rates per potential applicant."""
    return {
        "pool": count(row["pool"]),
        "applied": or_dash(row["application_rate"]),
        "selected of pool": or_dash(row["pool_selection_rate"]),
        "impact ratio of pool": or_dash(row["pool_impact_ratio"], amount),
        "95% interval of pool": interval_text(row["pool_impact_ratio_low"], row["pool_impact_ratio_high"], amount),
    }


def estimate_rows(estimate: EstimatedBehaviour) -> list[dict[str, str]]:
    """Estimated costs, one row per group."""
    rows = zip(estimate.names, estimate.to_frame().to_dict("records"), cost_notes(estimate), strict=True)
    return [
        {
            "group": name,
            "rows": count(row["rows"]),
            "pool": count(row["pool"]),
            "applicants": count(row["applicants"]),
            "apply": percent(row["application_rate"]),
            "published": interval_text(row["published_low"], row["published_high"]),
            "cost": cost_text(row["cost"]),
            f"{level(estimate.confidence)} interval": cost_range_text(row["cost_low"], row["cost_high"]),
            "note": note,
        }
        for name, row, note in rows
    ]


def gap_rows(audit: Audit) -> list[dict[str, str]]:
    """Why precision differs from that of the largest group, one row per group; none where it cannot be told."""
    gaps = precision_gaps(audit.published)
    return [
        {
            "group": f"{name} (compared with)" if row["reference"] else name,
            "qualified": percent(row["base_rate"]),
            "lift": amount(row["lift"]),
            "precision": percent(row["precision"]),
            "difference in points": "" if row["reference"] else points(row["gap"]),
            "due to who is qualified": "" if row["reference"] else points(row["by_base_rate"]),
            "due to the screen": "" if row["reference"] else points(row["by_screen"]),
        }
        for name, row in zip(audit.names, gaps.to_dict("records"), strict=True)
        if not math.isnan(row["by_base_rate"])
    ]


# ---------------------------------------------------------------------- comparisons


def difference_rows(comparison: Comparison) -> list[dict[str, str]]:
    """Each number before and after, with the interval of the difference."""
    before, after = (one.outcome.to_dict() for one in (comparison.before, comparison.after))
    return [
        {
            "": NUMBERS[str(name)],
            "before": percent_or_bounds(before, str(name)),
            "after": percent_or_bounds(after, str(name)),
            "difference in points": or_dash(row["difference"], points),
            f"{level(comparison.confidence)} interval": interval_text(row["low"], row["high"], points),
        }
        for name, row in comparison.differences().iterrows()
    ]


def change_rows(comparison: Comparison) -> list[dict[str, str]]:
    """What becomes of each group."""
    rows = []
    statuses = [
        dict(zip(comparison.positions(audit).tolist(), group_statuses(audit), strict=True))
        for audit in (comparison.before, comparison.after)
    ]
    records = zip(
        comparison.group_names, change_texts(comparison), comparison.to_frame().to_dict("records"), strict=True
    )
    for z, (name, change, row) in enumerate(records):
        cells: dict[str, str] = {"group": name, "change": change}
        for when, status in zip(("before", "after"), statuses, strict=True):
            cells |= {
                f"people {when}": count(row[f"n_{when}"]),
                f"precision {when}": or_dash(row[f"precision_{when}"]),
                f"cost {when}": or_dash(row[f"cost_{when}"], amount),
                f"status {when}": status.get(z, "-"),
                f"applies in samples {when}": or_dash(row[f"applies_in_{when}"]),
            }
        rows.append(cells)
    return rows


# ---------------------------------------------------------------------- plans


def effect_rows(plan: SubsidyPlan) -> list[dict[str, str]]:
    """Numbers without and with the subsidies of a plan."""
    without = "without subsidies" if plan.retrained is None else "re-trained, without subsidies"
    rows = outcome_rows({without: plan.unpaid, "with": plan.after})
    groups = {
        "": "groups that apply",
        without: count(plan.unpaid.applying_groups),
        "with": count(plan.after.applying_groups),
    }
    return [*rows, groups, {"": "paid in all", without: amount(0), "with": amount(plan.total)}]


def payment_rows(plan: SubsidyPlan) -> list[dict[str, str]]:
    """Groups that are paid, that the plan brings in or that it loses."""
    unit = " (share of the cost)" if plan.subsidy_kind == "proportional" else ""
    rows = zip(plan.before.names, plan.unpaid.applies.to_numpy(), plan.to_frame().to_dict("records"), strict=True)
    return [
        {
            "group": name,
            "without": "applies" if applied else "stays away",
            "with": "applies" if row["applies_after"] else "stays away",
            f"subsidy{unit}": amount_up(row["subsidy"]) if row["subsidy"] > 0 else "none",
            "cost left": amount(row["cost_after"]),
            "people paid": count(row["recipients"]),
            "in all": amount(row["payment"]),
        }
        for name, applied, row in rows
        if row["subsidy"] > 0 or applied != row["applies_after"]
    ]


# ---------------------------------------------------------------------- frontiers


def point_row(frontier: ThresholdFrontier, point: Point) -> dict[str, str]:
    """A point of a frontier."""
    who = [name for name, applies in zip(frontier.names, point.applies, strict=True) if applies]
    return {
        "threshold" if point.kind == "one" else "thresholds": thresholds_text(frontier, point),
        "accuracy among applicants": percent(point.outcome.induced_accuracy),
        "held out": percent(point.held_out_accuracy),
        "qualified who stay away": percent(point.outcome.social_cost),
        "held out ": percent(point.held_out_social_cost),
        "people who apply": percent(point.outcome.application_rate),
        "apply": listed(who) if len(who) < len(frontier.names) else f"all {count(len(who))}",
    }


# ---------------------------------------------------------------------- rounds

#: Totals of a round, and how they are written.
TOTALS: dict[str, tuple[str, Callable[[float], str]]] = {
    "applicants": ("apply", lambda people: count(round(people))),
    "selected": ("pass", lambda people: count(round(people))),
    "explored": ("explored", lambda people: count(round(people))),
    "hired": ("hired", lambda people: count(round(people))),
    "induced_accuracy": ("accuracy among applicants", percent),
    "social_cost": ("qualified who stay away", percent),
    "subsidies": ("paid", amount),
}


def round_rows(history: History, rounds: Iterable[int]) -> list[dict[str, str]]:
    """Totals of some rounds, one row per round."""
    totals = history.totals().round(2 * PLACES).to_dict("index")
    return [
        {"round": count(t)} | {text: or_dash(totals[t][name], form) for name, (text, form) in TOTALS.items()}
        for t in rounds
    ]
