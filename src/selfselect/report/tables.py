"""Tables of texts, for pages and for the terminal: a list of rows, each a mapping from column to text."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pandas as pd

from .._formats import amount, amount_up, count, level, listed, percent
from ..auditing import Comparison
from ..auditing.impact import SMALL_SHARE
from .sentences.comparisons import points
from .sentences.frontiers import threshold_text, thresholds_text

if TYPE_CHECKING:  # importing plans would import all estimators
    from ..planning import SubsidyPlan, ThresholdFrontier
    from ..planning.thresholds import Point

#: Names of the numbers of an outcome.
NUMBERS = {
    "assumed_accuracy": "assumed accuracy",
    "induced_accuracy": "induced accuracy",
    "application_rate": "people who apply",
    "social_cost": "social cost",
}


def or_dash(value: float, form: Callable[[float], str] = percent) -> str:
    """A number for a table; a dash if it is undefined.

    Examples
    --------
    >>> or_dash(0.0125), or_dash(float("nan"))
    ('1.3%', '-')
    """
    return "-" if math.isnan(value) else form(value)


def interval_text(low: float, high: float, form: Callable[[float], str] = percent) -> str:
    """The two ends of an interval; a dash if it is undefined."""
    return "-" if math.isnan(low) else f"{form(low)} to {form(high)}"


# ---------------------------------------------------------------------- audits


def impact_rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Tables of impact ratios, one per column of groups: ``by``, ``remark`` and ``rows``."""
    tables = []
    for by, part in frame.groupby("by", sort=False):
        unknown = float(part.loc[part["unknown"], "n"].sum())
        remark = f"{count(unknown)} people of unknown category are not compared." if unknown else ""
        rows = [_impact_row(row) for row in part.to_dict("records")]
        tables.append({"by": str(by), "remark": remark, "rows": rows})
    return tables


def _impact_row(row: dict[str, Any]) -> dict[str, str]:
    notes = {
        "the highest": row["highest"],
        "under four fifths": row["under_four_fifths"],
        f"set apart: under {percent(SMALL_SHARE)} of people": row["set_apart"],
        "unknown": row["unknown"],
    }
    return {
        "category": row["category"],
        "people": count(row["n"]),
        "pass": count(row["selected"]),
        "selection rate": or_dash(row["selection_rate"]),
        "impact ratio": or_dash(row["impact_ratio"], amount),
        "95% interval": interval_text(row["impact_ratio_low"], row["impact_ratio_high"], amount),
        "note": ", ".join(text for text, holds in notes.items() if holds),
    }


# ---------------------------------------------------------------------- comparisons


def difference_rows(comparison: Comparison) -> list[dict[str, str]]:
    """Each number before and after, with the interval of the difference."""
    return [
        {
            "": NUMBERS[str(name)],
            "before": percent(row["before"]),
            "after": percent(row["after"]),
            "difference in points": or_dash(row["difference"], points),
            f"{level(comparison.confidence)} interval": interval_text(row["low"], row["high"], points),
        }
        for name, row in comparison.differences().iterrows()
    ]


def change_rows(comparison: Comparison) -> list[dict[str, str]]:
    """What becomes of each group."""
    rows = []
    for name, row in zip(comparison.group_names, comparison.to_frame().to_dict("records"), strict=True):
        cells: dict[str, str] = {"group": name, "change": row["change"]}
        for when in ("before", "after"):
            applies = row[f"applies_{when}"]
            cells |= {
                f"people {when}": count(row[f"n_{when}"]),
                f"precision {when}": or_dash(row[f"precision_{when}"]),
                f"cost {when}": or_dash(row[f"cost_{when}"], amount),
                f"applies {when}": "-" if applies is None else "yes" if applies else "no",
                f"of resamples {when}": or_dash(row[f"applies_in_{when}"]),
            }
        rows.append(cells)
    return rows


# ---------------------------------------------------------------------- plans


def effect_rows(plan: SubsidyPlan) -> list[dict[str, str]]:
    """Numbers without and with the subsidies of a plan."""
    old, new = plan.unpaid.outcome, plan.after.outcome
    without = "without subsidies" if plan.retrained is None else "re-trained, without subsidies"
    numbers: list[tuple[str, str, Callable[[float], str]]] = [
        ("accuracy on those who apply", "induced_accuracy", percent),
        ("social cost", "social_cost", percent),
        ("people who apply", "application_rate", percent),
        ("groups that apply", "applying_groups", count),
    ]
    rows = [
        {"": text, without: form(getattr(old, name)), "with": form(getattr(new, name))} for text, name, form in numbers
    ]
    return [*rows, {"": "paid in all", without: amount(0), "with": amount(plan.total)}]


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
    one = point.kind == "one"
    return {
        "threshold" if one else "thresholds": threshold_text(point.threshold)
        if one
        else thresholds_text(frontier, point),
        "induced accuracy": percent(point.outcome.induced_accuracy),
        "social cost": percent(point.outcome.social_cost),
        "held-out accuracy": percent(point.held_out_accuracy),
        "held-out social cost": percent(point.held_out_social_cost),
        "people who apply": percent(point.outcome.application_rate),
        "apply": listed(who) if len(who) < len(frontier.names) else f"all {count(len(who))}",
    }
