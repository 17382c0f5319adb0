"""Sentences of ``explain()``: what is published about a group, and why it applies or not."""

from __future__ import annotations

import numpy as np

from ..behaviour import Behaviour, PromisedRule, SureRule, highest_cost, lower_bound_reaches
from ..counting import GroupCounts


def explain_group(counts: GroupCounts, i: int, cost: float, applies: bool, behaviour: Behaviour) -> str:
    """How many people of group ``i`` pass, what is published about it, and why it applies or not."""
    confidence = behaviour.confidence if isinstance(behaviour, SureRule) else None
    tested = behaviour.promised[i] if isinstance(behaviour, PromisedRule) else True
    published = _published_text(float(counts.true_positives[i]), float(counts.selected[i]), confidence)
    reason = _reason(applies, counts, i, cost, confidence, tested)
    return f"{_number(counts.selected[i])} of {_number(counts.n[i])} pass{published}; {reason}."


def _published_text(true_positives: float, selected: float, confidence: float | None) -> str:
    """Published precision, with its lower bound if people decide by that."""
    if selected == 0:
        return ""
    text = f", {_percent(true_positives / selected)} of them qualified"
    if confidence is None:
        return text
    low = float(highest_cost(SureRule(confidence), [true_positives], [selected])[0])
    return f"{text} (at least {_percent(low)}, with {100 * confidence:.4g}% confidence)"


def _reason(applies: bool, counts: GroupCounts, i: int, cost: float, confidence: float | None, tested: bool) -> str:
    if counts.n[i] == 0:
        return "stays away: nobody of it was evaluated, so nothing is published about it"
    if applies:
        return f"applies: {'this' if confidence is None else 'the lower bound'} reaches its cost of {cost:g}"
    if counts.selected[i] == 0:
        return f"shut out: no threshold brings it in at its cost of {cost:g}, or none was chosen"
    if not tested and confidence is not None:
        true_positives, selected = (np.array([values[i]], float) for values in (counts.true_positives, counts.selected))
        if lower_bound_reaches(true_positives, selected, np.array([cost]), confidence)[0]:
            return f"not promised anything: its cost of {cost:g} is reached, but this group was not tested"
    if counts.precision[i] >= cost:
        return f"not promised anything: its cost of {cost:g} is reached, but the lower bound is below it"
    return f"stays away: its cost of {cost:g} is not reached"


def _number(value: float) -> str:
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"


def _percent(share: float) -> str:
    return f"{share:.1%}"
