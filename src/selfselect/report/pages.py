"""HTML pages of audits, plans, comparisons, frontiers and repeated deployment."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from .._formats import count
from ..auditing import Audit, Comparison
from .dicts import MAX_RESAMPLED_GROUPS, plain_value
from .page_data import audit_data, natural_order, page_constants, short_name, source_data
from .rendering import render_audit, render_document
from .sentences.audits import (
    POOL_NOTE,
    gap_sentences,
    group_statuses,
    interval_texts,
    next_steps,
    uncertainty_lines,
)
from .sentences.comparisons import change_texts, comparison_note, comparison_sentences
from .sentences.frontiers import KINDS, NOTES, frontier_sentences, frontier_warnings
from .sentences.plans import plan_sentences, plan_warnings
from .sentences.rounds import round_sentences, shown_rounds
from .tables import (
    change_rows,
    difference_rows,
    effect_rows,
    gap_rows,
    impact_rows,
    payment_rows,
    point_row,
    round_rows,
)

if TYPE_CHECKING:  # importing plans would import all estimators
    from ..planning import SubsidyPlan, ThresholdFrontier
    from ..simulation import History

#: Sentences about groups that stand in the file itself, for readers without scripts.
MAX_SENTENCES = 50


@dataclass(frozen=True)
class Opening:
    """What a page says first, if it is about more than an audit: all but the first are optional.

    A table has a ``title``, ``rows`` (dicts from column to text) and ``left`` (columns that are text). ``published``
    and ``counted`` say whose counts are published, and who is counted: "8,000 training people".
    """

    eyebrow: str = "Who will apply?"
    headline: str = ""
    paragraphs: tuple[str, ...] = ()
    tables: tuple[dict[str, Any], ...] = ()
    published: str = ""
    counted: str = ""


def _with_short_names(table: dict[str, Any]) -> dict[str, Any]:
    return table | {
        "rows": [{name: cell and short_name(str(cell)) for name, cell in row.items()} for row in table["rows"]]
    }


def audit_page(audit: Audit, opening: Opening | None = None) -> str:
    """Page of an audit, which recomputes itself."""
    opening = opening or Opening()
    counts = audit.population.counts
    impact = [table | {"by": short_name(table["by"])} for table in impact_rows(audit.impact_ratios())]
    return render_audit(
        audit_data(audit),
        verdict=audit.verdict(),
        sentences=audit.sentences()[:MAX_SENTENCES],
        untested="" if counts.labels_known else count(float(counts.unknown.sum())),
        over_costs="" if audit.cost_range is None else audit.over_costs(*audit.cost_range).sentence(),
        impact=[_with_short_names(table) for table in impact],
        pool="" if audit.pool is None else POOL_NOTE,
        sure=uncertainty_lines(audit) if len(audit.names) <= MAX_RESAMPLED_GROUPS else [],
        intervals=interval_texts(audit) if len(audit.names) <= MAX_RESAMPLED_GROUPS else {},
        next_steps=next_steps(audit),
        conditions=audit.provenance.conditions,
        merged=bool(audit.provenance.merged),
        gaps=_with_short_names({"rows": gap_rows(audit)[:MAX_SENTENCES]})["rows"],
        gap_sentences=gap_sentences(audit)[:MAX_SENTENCES],
        warnings=audit.provenance.warnings,
        opening=asdict(opening),
        tables=[_with_short_names(table) for table in opening.tables],
    )


def training_opening(trained_on: float, held_out: float, unseen: bool) -> Opening:
    """What the report of a trained model says first: whose counts are published, and whom other numbers are about."""
    each = "; each of them was scored by a model fitted to others" if unseen else ""
    trained = f"the {count(trained_on)} people that the model was trained on{each}"
    note = f"Published precision is about {trained}. All other numbers are about {count(held_out)} held-out people."
    if not held_out:
        note = f"All numbers are about {trained}. Nobody was held out."
    return Opening(
        "A trained model: who will apply",
        paragraphs=(note,),
        published="training people" if held_out else "people it was trained on",
        counted="held-out people" if held_out else "",
    )


def plan_page(plan: SubsidyPlan) -> str:
    """Page of a plan: before and after, who is paid, and the audit with the subsidies set."""
    headline, *paragraphs = plan_sentences(plan)
    if plan.path is not None:
        paragraphs.append(
            "This page is about the model that the firm trains under these subsidies, not about the model in the file. "
            f"{count(len(plan.path))} models were tried."
        )
    paragraphs += plan_warnings(plan)
    tables = (
        {"title": "Who is paid", "rows": payment_rows(plan), "left": ["group", "without", "with"]},
        {"title": "Before and after", "rows": effect_rows(plan), "left": [""]},
    )
    return audit_page(plan.after, Opening("A plan of subsidies", headline, tuple(paragraphs), tables))


def comparison_page(comparison: Comparison) -> str:
    """Page of two audits: the verdict, a chart of both and the tables."""
    old, new = (short_name(name) for name in comparison.names)
    groups = _with_short_names({"title": "Groups", "rows": change_rows(comparison), "left": ["group", "change"]})
    sources = [source_data(audit.provenance) for audit in (comparison.before, comparison.after)]
    both = {
        name: between.join(dict.fromkeys(source[name] for source in sources if source[name]))
        for name, between in (("sha256", ", "), ("persons", " Then: "))
    }
    return render_document(
        {
            "eyebrow": "What changed?",
            "title": short_name(comparison.title or f"{comparison.names[0]} and {comparison.names[1]}"),
            "headline": comparison_sentences(comparison),
            "paragraphs": [comparison_note(comparison)],
            "chart": {
                "kind": "comparison",
                "title": "Which groups start or stop applying?",
                "text": f"Precision of each group with 95% intervals: {old} (grey squares) and {new} (below, in "
                "colour). In the shaded area, applying costs more than it is worth. Dashed line: a former cost.",
                "order": natural_order(comparison.group_names),
                "names": [old, new],
                "groups": _compared_groups(comparison),
            },
            "tables": [{"title": "Numbers", "rows": difference_rows(comparison), "left": [""]}, groups],
            "constants": page_constants(),
            "provenance": sources[1] | both,
        }
    )


#: What the chart of a comparison shows of each group.
COMPARED = "n selected precision precision_low precision_high cost applies status".split()


def _compared_groups(comparison: Comparison) -> list[dict[str, Any]]:
    """What the chart shows of each group, before and after; None of a group that is not there."""
    changes = zip(comparison.group_names, change_texts(comparison), strict=True)
    absent = dict.fromkeys(COMPARED)
    groups = [
        {"name": short_name(name), "change": change, "before": absent, "after": absent} for name, change in changes
    ]
    for when, audit in (("before", comparison.before), ("after", comparison.after)):
        rows = audit.to_frame().assign(status=group_statuses(audit)).to_dict("records")
        for place, row in zip(comparison.positions(audit).tolist(), rows, strict=True):
            groups[place][when] = {name: plain_value(row[name]) for name in COMPARED}
    return groups


def frontier_page(frontier: ThresholdFrontier) -> str:
    """Page of a frontier: the verdict, a chart and both tables."""
    series = [
        {
            "name": KINDS[kind],
            "points": [(point.outcome.social_cost, point.outcome.induced_accuracy) for point in points],
            "line": True,
        }
        for kind, points in frontier.points.items()
        if points
    ]
    if frontier.current is not None and not math.isnan(frontier.current.induced_accuracy):
        now = (frontier.current.social_cost, frontier.current.induced_accuracy)
        series.append({"name": "now", "points": [now], "line": False})
    return render_document(
        {
            "eyebrow": "Which threshold?",
            "title": short_name(frontier.provenance.title) if frontier.provenance.title else "",
            "headline": frontier_sentences(frontier),
            "paragraphs": [*frontier_warnings(frontier), *NOTES],
            "chart": {
                "kind": "frontier",
                "title": "Accuracy against qualified people who stay away",
                "text": "Higher is more accurate among applicants. Further right, more qualified people stay away. "
                "Each point is one threshold for all, or one per group.",
                "series": series,
            },
            "tables": [
                {
                    "title": KINDS[kind].capitalize(),
                    "rows": [point_row(frontier, point) for point in points],
                    "left": ["apply"],
                }
                for kind, points in frontier.points.items()
            ],
            "constants": page_constants(),
            "provenance": source_data(frontier.provenance),
        }
    )


def history_page(history: History) -> str:
    """Page of repeated deployment: who is still there, round by round, and the totals of each round."""
    shares, names = history.shares.to_numpy(), [short_name(name) for name in history.names]
    rounds = shown_rounds(len(history))
    published = history.to_frame()["published"].to_numpy().reshape(shares.shape)
    size = history.counts.n[0]
    order = natural_order(history.names) or list(range(len(names)))
    largest = set((-size).argsort(kind="stable")[:MAX_GRID_ROWS].tolist())
    return render_document(
        {
            "eyebrow": "Who is still there?",
            "title": short_name(history.provenance.title or "Repeated deployment"),
            "headline": round_sentences(history),
            "paragraphs": ROUND_NOTES,
            "chart": {
                "kind": "rounds",
                "title": "Who applies, round by round",
                "text": "A row is a group, a column is a round. The darker a cell, the larger the share of the group "
                "that applies; a dot means that nobody does.",
                "rounds": rounds,
                "total": len(names),
                "groups": [
                    {
                        "name": names[z],
                        "share": [plain_value(shares[t - 1, z]) for t in rounds],
                        "published": [plain_value(published[t - 1, z]) for t in rounds],
                    }
                    for z in order
                    if z in largest
                ],
            },
            "tables": [
                {
                    "title": "Round by round",
                    "rows": round_rows(history, history.totals().index),
                    "left": [],
                }
            ],
            "constants": page_constants(),
            "provenance": source_data(history.provenance),
        }
    )


#: Groups with a row in the chart of a history: the largest.
MAX_GRID_ROWS = 40
ROUND_NOTES = [
    "In each round the model is fitted to the people whose labels are known, a number is published about each group, "
    "people apply or stay away, and the labels of those who are tested become known. Nothing is published about a "
    "group without labels, and it stays away.",
    "Numbers of people are expected values if only a share of a group applies. Who is drawn to apply and to be "
    "explored depends on a seed.",
]
