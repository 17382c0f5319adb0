"""Sentences about two audits side by side."""

from __future__ import annotations

import math

from ..._formats import count, level, percent
from ...auditing import Comparison
from .words import name_groups, percent_or_bounds

#: Text on groups by their change: of one, and of several.
CHANGES = {
    "comes": ("starts to apply", "start to apply"),
    "leaves": ("stops applying", "stop applying"),
    "shut out now": ("is shut out: nobody passes any more", "are shut out: nobody passes any more"),
    "new, shut out": ("is new, and nobody passes", "are new, and nobody passes"),
    "new, applies": ("is new and applies", "are new and apply"),
    "new, stays away": ("is new and stays away", "are new and stay away"),
    "gone": ("is gone", "are gone"),
}


def comparison_sentences(comparison: Comparison) -> list[str]:
    """Which groups start or stop applying, what that changes, and whether it could be chance."""
    changes = [change.split(", ")[0] if "gone" in change else change for change in comparison.to_frame()["change"]]
    parts = []
    for change, (one, several) in CHANGES.items():
        names = [name for name, own in zip(comparison.group_names, changes, strict=True) if own == change]
        if names:
            parts.append(f"{name_groups(names)} {one if len(names) == 1 else several}")
    applying = changes.count("applies")
    if not parts and applying in (0, len(changes)):
        somebody = comparison.before.application_rate + comparison.after.application_rate > 0
        nobody = "less than half of each group applies, as before" if somebody else "nobody applies, as before"
        parts = ["every group applies, as before" if applying else nobody]
    who = "; ".join(parts) or f"the same groups apply as before, {count(applying)} of {count(len(changes))}"
    return [
        f"From {comparison.names[0]} to {comparison.names[1]}: {who}.",
        *_by_chance(comparison, changes),
        _difference(comparison, "induced_accuracy", "Accuracy among applicants (induced accuracy)"),
        _difference(comparison, "social_cost", "The share of qualified people who stay away (social cost)"),
    ]


def _by_chance(comparison: Comparison, changes: list[str]) -> list[str]:
    """Groups that start or stop applying in few pairs of resamples."""
    likely = [
        (name, comparison.chance_of(group, change))
        for name, group, change in zip(comparison.group_names, comparison.groups, changes, strict=True)
        if change in ("comes", "leaves")
    ]
    unsure = [
        f"{name} (seen in {percent(share)} of samples)" for name, share in likely if share < comparison.confidence
    ]
    return [f"The change could be chance for {name_groups(unsure)}."] if unsure else []


def _difference(comparison: Comparison, name: str, what: str) -> str:
    row = comparison.differences().loc[name]
    old, new = (percent_or_bounds(one.outcome.to_dict(), name) for one in (comparison.before, comparison.after))
    moves = f"stays at {old}" if old == new else f"goes from {old} to {new}"
    if math.isnan(row["difference"]):
        return f"{what} {moves}."
    undefined = f"; nobody applies in {percent(row['undefined'])} of samples" if row["undefined"] > 0 else ""
    chance = "which could be chance" if row["low"] <= 0 <= row["high"] else "which is more than chance"
    return (
        f"{what} {moves}: {points(row['difference'])} points ({level(comparison.confidence)} interval "
        f"{points(row['low'])} to {points(row['high'])}{undefined}), {chance}."
    )


def comparison_note(comparison: Comparison) -> str:
    """How the intervals were made."""
    who = "the same people under both models" if comparison.paired else "two independent sets of people"
    return (
        f"Intervals come from {count(comparison.drawn[0].n_resamples)} bootstrap samples of {who}. They hold what "
        "follows from all decisions of groups near their cost that the data do not exclude."
    )


def change_text(change: str) -> str:
    """What becomes of a group, in the words of tables and charts."""
    return CHANGES[change][0] if change in ("comes", "leaves") else change


def points(difference: float) -> str:
    """A difference of shares, in percentage points, with its sign."""
    text = percent(difference).removesuffix("%")
    text = "0.0" if text == "-0.0" else text
    return f"+{text}" if difference > 0 and text != "0.0" else text
