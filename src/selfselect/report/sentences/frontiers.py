"""Sentences about a frontier over thresholds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..._formats import listed, percent
from .words import capitalised, name_groups

if TYPE_CHECKING:  # importing frontiers would import all estimators
    from ...planning import ThresholdFrontier
    from ...planning.thresholds import Kind, Point

#: Names of the two kinds of thresholds.
KINDS: dict[Kind, str] = {"one": "one threshold for all", "per_group": "a threshold per group"}
#: What to ask before thresholds differ between groups.
BY_GROUP = (
    "A threshold per group treats people with the same score differently because of their group. Where the group is "
    "protected by law (sex, race, age, ...) this may be unlawful: ask a lawyer first."
)
#: What readers have to know before they use a threshold of a frontier.
NOTES = (
    "Thresholds are chosen on the same people that they are counted on, so their numbers are too optimistic. For "
    "held-out numbers, thresholds are chosen on a third of the people, another third decides who applies, and the last "
    "third is counted, in every order. These numbers belong to a limit on social cost, not to one threshold, so "
    "several rows may share them.",
    BY_GROUP,
)


def threshold_text(value: float, lower_passes: bool = False) -> str:
    """A threshold on the user's scale; without one nobody passes, or everybody."""
    if math.isnan(value) or value == math.inf:
        return "nobody passes"
    return "everybody passes" if value == -math.inf else f"{-value if lower_passes else value:.15g}"


def thresholds_text(frontier: ThresholdFrontier, point: Point) -> str:
    """The threshold, or the threshold of each group that applies."""
    lower = frontier.people.lower_passes
    if point.kind == "one":
        return threshold_text(point.threshold, lower)
    rows = zip(frontier.names, point.thresholds, point.applies, strict=True)
    return listed([f"{name} {threshold_text(value, lower)}" for name, value, applies in rows if applies], most=10)


def frontier_sentences(frontier: ThresholdFrontier) -> list[str]:
    """The threshold in force, and the recommended ones."""
    return [*_now(frontier), *(recommendation(frontier, kind) for kind in frontier.kinds)]


def frontier_warnings(frontier: ThresholdFrontier) -> list[str]:
    """Groups that the recommended thresholds shut out."""
    warnings = []
    for kind in frontier.kinds:
        best = frontier.recommend(kind=kind)
        if best is None:
            continue
        passes = frontier.selected_at(best)
        shut = [
            name for name, n, size in zip(frontier.names, passes, frontier.curves.n, strict=True) if size > 0 and n == 0
        ]
        if shut:
            warnings.append(
                f"With {KINDS[kind]}, the recommendation shuts out {name_groups(shut)}: nobody there would pass."
            )
    return warnings


def _now(frontier: ThresholdFrontier) -> list[str]:
    current, threshold = frontier.current, frontier.people.threshold
    if current is None or threshold is None:
        return []
    accuracy, social = percent(current.induced_accuracy), percent(current.social_cost)
    numbers = f"accuracy among applicants is {accuracy} and {social} of qualified people stay away"
    numbers = "nobody applies" if math.isnan(current.induced_accuracy) else numbers
    return [f"Now, at a threshold of {threshold_text(threshold, frontier.people.lower_passes)}, {numbers}."]


def recommendation(frontier: ThresholdFrontier, kind: Kind) -> str:
    """The most accurate thresholds of a kind within the limit."""
    best, limit = frontier.recommend(kind=kind), frontier.max_social_cost
    if best is None:
        return f"With {KINDS[kind]}, nobody applies at any threshold."
    within = f" that keeps at most {percent(limit)} of qualified people away" if limit is not None else ""
    if limit is None and frontier.current is not None:
        within = " that keeps no more qualified people away than now"
    begins = f"With {KINDS[kind]}, the most accurate choice{within} is"
    if not best.met:
        begins = f"With {KINDS[kind]}, there is no choice{within}. The nearest is"
    above = ", above the limit" if limit is not None and best.met and best.held_out_social_cost > limit else ""
    return (
        f"{begins} {thresholds_text(frontier, best)}: accuracy among applicants is "
        f"{percent(best.outcome.induced_accuracy)} ({percent(best.held_out_accuracy)} held out), and "
        f"{percent(best.outcome.social_cost)} of qualified people stay away ({percent(best.held_out_social_cost)} held "
        f"out{above}). {_who(frontier, best)}"
    )


def _who(frontier: ThresholdFrontier, point: Point) -> str:
    """Groups that do not apply, by choice or because nobody passes."""
    rows = list(zip(frontier.names, point.applies, frontier.selected_at(point) > 0, strict=True))
    stay = [name for name, applies, passes in rows if not applies and passes]
    shut = [name for name, applies, passes in rows if not applies and not passes]
    parts = [f"{name_groups(stay)} {'stays' if len(stay) == 1 else 'stay'} away"] if stay else []
    if shut:
        parts.append(f"{'nobody' if stay else 'Nobody'} in {name_groups(shut)} passes")
    if not parts:
        return "Every group applies."
    return capitalised("; ".join(parts)) + "."
