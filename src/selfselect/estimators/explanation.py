"""Sentences of ``explain()``: what is published about a group, and why it applies or not."""

from __future__ import annotations

import numpy as np

from ..behaviour import BestResponse
from ..costs import Terms
from ..publishing import PublishedStatistics
from ..statistics import Guaranteed, Published


def explain_groups(table: PublishedStatistics, terms: Terms) -> list[str]:
    """How many people of each group pass, what is published about it, and why it applies or not."""
    counts = table.counts
    costs, shares = terms.effective_cost(table.groups), np.asarray(terms.shares(table.groups, counts))
    tested = terms.statistic.statistic if isinstance(terms.statistic, Guaranteed) else terms.statistic
    values = Published(counts, tested, table.groups).value
    passed = terms.published(table.groups, counts).is_defined
    sentences = []
    for i, cost in enumerate(costs.tolist()):
        reason = _reason(table, i, cost, float(shares[i]), float(values[i]), bool(passed[i]), terms)
        published = _published_text(float(counts.precision[i]), float(values[i]), terms.confidence)
        sentences.append(f"{_number(counts.selected[i])} of {_number(counts.n[i])} pass{published}; {reason}.")
    return sentences


def _published_text(precision: float, value: float, confidence: float | None) -> str:
    """Precision of the people who are counted, and what is published in its place."""
    if np.isnan(precision):
        return ""
    text = f", {precision:.1%} of them qualified"
    if confidence is not None:
        return f"{text} (at least {value:.1%}, with {100 * confidence:.4g}% confidence)"
    return text if np.isclose(value, precision) else f"{text} ({value:.1%} is published)"


def _reason(
    table: PublishedStatistics, i: int, cost: float, share: float, value: float, is_published: bool, terms: Terms
) -> str:
    counts = table.counts
    if type(terms.behaviour) is not BestResponse:
        return f"{share:.1%} of the group apply at its cost of {cost:g}"
    published = "this" if terms.confidence is None else "the lower bound"
    if share:
        reason = f"{published} reaches its cost of {cost:g}" if is_published else "nothing is published about it"
        return f"applies: {reason}"
    if counts.n[i] == 0:
        return "stays away: nobody of it was evaluated, so nothing is published about it"
    if counts.selected[i] == 0:
        return f"shut out: no threshold brings it in at its cost of {cost:g}, or none was chosen"
    if not is_published and value >= cost:
        return f"not promised anything: its cost of {cost:g} is reached, but this group was not tested"
    if counts.precision[i] >= cost:
        below = "the lower bound" if terms.confidence is not None else "what is published"
        return f"not promised anything: its cost of {cost:g} is reached, but {below} is below it"
    return f"stays away: its cost of {cost:g} is not reached"


def _number(value: float) -> str:
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"
