"""Sentences about two audits side by side."""

from __future__ import annotations

import math

from ..._formats import count, level, listed, percent
from ...auditing import Comparison


def comparison_sentences(comparison: Comparison) -> list[str]:
    """The sentences of the verdict."""
    who, *by_chance = _who(comparison)
    numbers = [_on(comparison, name) for name in ("induced_accuracy", "social_cost")]
    return [f"From {comparison.names[0]} to {comparison.names[1]}: {who}", *by_chance, *numbers]


def _who(comparison: Comparison) -> list[str]:
    """Who comes and who leaves, and whether that may be chance."""
    changes = comparison.to_frame()["change"].tolist()

    def those(*kinds: str) -> list[str]:
        return [name for name, change in zip(comparison.group_names, changes, strict=True) if change in kinds]

    said = []
    for names, one, several in (
        (those("comes"), "comes", "come"),
        (those("leaves"), "leaves", "leave"),
        (those("shut out now"), "is shut out (nobody passes)", "are shut out (nobody passes)"),
        (those("new, shut out"), "is new and shut out", "are new and shut out"),
        (those("new, applies"), "is new and applies", "are new and apply"),
        (those("new, stays away"), "is new and stays away", "are new and stay away"),
        (those("gone, applied", "gone, stayed away"), "is gone", "are gone"),
    ):
        if names:
            said.append(f"{listed(names)} {one if len(names) == 1 else several}")
    if said:
        return ["; ".join(said) + ".", *_by_chance(comparison, those("comes"), those("leaves"))]
    applying = changes.count("applies")
    if applying == len(changes):
        return ["every group applies, as before."]
    if applying == 0:
        return ["nobody applies, as before."]
    return [f"nobody comes and nobody leaves; {count(applying)} of {count(len(changes))} groups apply."]


def _by_chance(comparison: Comparison, coming: list[str], leaving: list[str]) -> list[str]:
    """Whether those who come and leave do so in most pairs of resamples too; empty if they do, or nobody moves."""
    chances = []
    for change, moving in (("comes", coming), ("leaves", leaving)):
        for name in moving:
            likely = comparison.chance_of(comparison.groups[comparison.group_names.index(name)], change)
            if likely < comparison.confidence:
                chances.append(f"{name} (it happens in {percent(likely)} of draws)")
    if not chances:
        return []
    return [f"With people drawn anew, that may be chance for {listed(chances)}."]


def _on(comparison: Comparison, name: str) -> str:
    row = comparison.differences().loc[name]
    what = {"induced_accuracy": "Accuracy on those who apply", "social_cost": "Social cost"}[name]
    old, new = percent(row["before"]), percent(row["after"])
    moves = f"stays at {old}" if old == new else f"goes from {old} to {new}"
    if math.isnan(row["difference"]):
        return f"{what} {moves}."
    between = f"{level(comparison.confidence)} interval {points(row['low'])} to {points(row['high'])}"
    sure = "which may be chance" if row["low"] <= 0 <= row["high"] else "more than chance"
    undefined = f"; in {percent(row['undefined'])} of resamples nobody applies" if row["undefined"] > 0 else ""
    return f"{what} {moves}, by {points(row['difference'])} points ({between}{undefined}), {sure}."


def comparison_notes(comparison: Comparison) -> list[str]:
    """How the intervals were made."""
    who = "the same people under both" if comparison.paired else "two independent sets of people"
    return [
        f"Intervals are those of a bootstrap over people ({who}; {count(len(comparison.drawn[0].shares))} resamples, "
        "stratified by group). In each, people decide by what would be published of those who were drawn."
    ]


def points(difference: float) -> str:
    """A difference of shares, in points of a hundred, with its sign.

    Examples
    --------
    >>> points(0.0123), points(-0.02), points(0.0)
    ('+1.2', '-2.0', '0.0')
    """
    text = percent(difference).removesuffix("%")
    text = "0.0" if text == "-0.0" else text
    return f"+{text}" if difference > 0 and text != "0.0" else text
