"""Sentences about a frontier over thresholds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..._formats import listed, percent

if TYPE_CHECKING:  # importing frontiers would import all estimators
    from ...planning import ThresholdFrontier
    from ...planning.thresholds import Kind, Point

#: Names of the two kinds of thresholds.
KINDS: dict[Kind, str] = {"one": "one threshold for all", "per_group": "a threshold per group"}

UNLAWFUL = (
    "A threshold per group treats people of the same score differently because of their group. Where the group is "
    "protected by law (sex, race, age, ...) that may be unlawful: ask a lawyer first."
)
OPTIMISTIC = (
    "These numbers are chosen on the same people that they are counted on, and are too good for that reason. The "
    "held-out numbers are chosen on one half of the people and published and counted on the other, both ways: what the "
    "best choice within so much social cost comes to, not what one threshold does; rows may share them."
)
#: What readers have to know before they use a threshold of a frontier.
NOTES = (OPTIMISTIC, UNLAWFUL)


def threshold_text(value: float) -> str:
    """A threshold as people read it; without one nobody passes, or everybody.

    Examples
    --------
    >>> threshold_text(0.61), threshold_text(float("-inf")), threshold_text(float("nan"))
    ('0.61', 'everybody passes', 'nobody passes')
    """
    if math.isnan(value) or value == math.inf:
        return "nobody passes"
    return "everybody passes" if value == -math.inf else f"{value:.15g}"


def frontier_sentences(frontier: ThresholdFrontier) -> list[str]:
    """The sentences of the verdict."""
    return [*_now(frontier), *(_recommended(frontier, kind) for kind in frontier.points)]


def _now(frontier: ThresholdFrontier) -> list[str]:
    if frontier.current is None or frontier.people.threshold is None:
        return []
    at = f"Now, at a threshold of {threshold_text(frontier.people.threshold)},"
    if math.isnan(frontier.current.induced_accuracy):
        return [f"{at} nobody applies."]
    return [
        f"{at} the model is right for {percent(frontier.current.induced_accuracy)} of those who apply, and "
        f"{percent(frontier.current.social_cost)} of qualified people stay away."
    ]


def _recommended(frontier: ThresholdFrontier, kind: Kind) -> str:
    best = frontier.recommend(kind=kind)
    if best is None:
        return f"With {KINDS[kind]}, nobody applies whatever the threshold."
    limit = (
        f"keeps social cost at {percent(frontier.max_social_cost)} or less"
        if frontier.max_social_cost is not None
        else "keeps social cost at what it is now, or lower"
        if frontier.current is not None
        else "there is"
    )
    what = f"a threshold of {threshold_text(best.threshold)}" if kind == "one" else thresholds_text(frontier, best)
    begins = f"With {KINDS[kind]}, the most accurate that {limit} is {what}"
    if not best.met:
        begins = f"With {KINDS[kind]}, nothing {limit}; what comes nearest is {what}"
    found = best.outcome
    broken = frontier.max_social_cost is not None and best.met and best.held_out_social_cost > frontier.max_social_cost
    return (
        f"{begins}: accuracy {percent(found.induced_accuracy)} on those who apply, social cost "
        f"{percent(found.social_cost)} ({_who(frontier, best)}); held out, {percent(best.held_out_accuracy)} and "
        f"{percent(best.held_out_social_cost)}{', which is more than the limit' if broken else ''}."
    )


def _who(frontier: ThresholdFrontier, best: Point) -> str:
    """Who stays away, and who is shut out because nobody passes."""
    passes = frontier.selected_at(best) > 0
    stays, shut = (
        [
            name
            for name, comes, some in zip(frontier.names, best.applies, passes, strict=True)
            if not comes and some == kind
        ]
        for kind in (True, False)
    )
    said = [f"{listed(stays)} {'stays' if len(stays) == 1 else 'stay'} away"] if stays else []
    if shut:
        said.append(f"{listed(shut)} {'is' if len(shut) == 1 else 'are'} shut out: nobody there would pass")
    return "; ".join(said) or "everybody applies"


def thresholds_text(frontier: ThresholdFrontier, best: Point) -> str:
    """Threshold of each group that applies."""
    chosen = [
        f"{name} {threshold_text(value)}"
        for name, value, comes in zip(frontier.names, best.thresholds, best.applies, strict=True)
        if comes
    ]
    return listed(chosen, most=10)
