"""Sentences about two audits side by side."""

from __future__ import annotations

import math

from ..._formats import count, level, percent
from ...auditing import Comparison
from .audits import group_statuses
from .words import name_groups, percent_or_bounds, points

#: Text on groups by their change: of one, and of several.
CHANGES = {
    "comes": ("starts to apply", "start to apply"),
    "leaves": ("stops applying", "stop applying"),
    "shut out now": ("is shut out: nobody passes any more", "are shut out: nobody passes any more"),
    "new, shut out": ("is new, and nobody passes", "are new, and nobody passes"),
    "new, applies": ("is new and applies", "are new and apply"),
    "new, stays away": ("is new and stays away", "are new and stay away"),
    "new, could go either way": ("is new and could go either way", "are new and could go either way"),
    "gone": ("is gone", "are gone"),
}
#: What is said of a change that the data do not show beyond chance.
PERHAPS = "perhaps by chance"


def changes(comparison: Comparison) -> list[tuple[str, bool]]:
    """Change of each group, and whether the data show it beyond chance."""
    status = dict(zip(comparison.after.published.groups, group_statuses(comparison.after), strict=True))
    found = []
    for group, change in comparison.to_frame()["change"].items():
        sure = change not in ("comes", "leaves") or comparison.chance_of(group, change) >= comparison.confidence
        if change in ("new, applies", "new, stays away"):
            change = f"new, {status[group]}"
        found.append((str(change), sure))
    return found


def comparison_sentences(comparison: Comparison) -> list[str]:
    """Which groups start or stop applying beyond chance, and what that changes."""
    found = [("gone" if "gone" in change else change, sure) for change, sure in changes(comparison)]
    parts: list[str] = []
    perhaps: list[str] = []
    for change, (one, several) in CHANGES.items():
        for sure, said in ((True, parts), (False, perhaps)):
            names = [name for name, own in zip(comparison.group_names, found, strict=True) if own == (change, sure)]
            if names:
                said.append(f"{name_groups(names)} {one if len(names) == 1 else several}")
    sentences = [f"From {comparison.names[0]} to {comparison.names[1]}: {'; '.join(parts) or NO_CHANGE}."]
    if perhaps:
        sentences.append(
            f"In these data {'; '.join(perhaps)}, but that could be chance (seen in less than "
            f"{level(comparison.confidence)} of samples)."
        )
    return [
        *sentences,
        _difference(comparison, "induced_accuracy", "Accuracy among applicants (induced accuracy)"),
        _difference(comparison, "social_cost", "The share of qualified people who stay away (social cost)"),
    ]


#: Headline if nothing changed that chance does not explain.
NO_CHANGE = "no change beyond chance in who applies"


def _difference(comparison: Comparison, name: str, what: str) -> str:
    row = comparison.differences().loc[name]
    old, new = (percent_or_bounds(one.outcome.to_dict(), name) for one in (comparison.before, comparison.after))
    moves = f"stays at {old}" if old == new else f"goes from {old} to {new}"
    if math.isnan(row["difference"]):
        return f"{what} {moves}."
    undefined = f"; nobody applies in {percent(row['undefined'])} of samples" if row["undefined"] > 0 else ""
    interval = (
        f"{level(comparison.confidence)} interval {points(row['low'])} to {points(row['high'])} points{undefined}"
    )
    if row["low"] <= 0 <= row["high"]:
        return f"{what} does not change beyond chance: it {moves} ({interval})."
    return f"{what} {moves}, by {points(row['difference'])} points ({interval}), which is more than chance."


def comparison_note(comparison: Comparison) -> str:
    """How the intervals were made."""
    who = "the same people under both models" if comparison.paired else "two independent sets of people"
    return (
        f"Intervals come from {count(comparison.drawn[0].n_resamples)} bootstrap samples of {who}. They hold what "
        "follows from all decisions of groups near their cost that the data do not exclude."
    )


def change_texts(comparison: Comparison) -> list[str]:
    """What becomes of each group, in the words of tables and charts."""
    return [
        (CHANGES[change][0] if change in ("comes", "leaves") else change) + ("" if sure else f" ({PERHAPS})")
        for change, sure in changes(comparison)
    ]
