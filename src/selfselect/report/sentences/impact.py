"""Sentences about rates and impact ratios."""

from __future__ import annotations

import pandas as pd

from ..._formats import amount, count, listed, or_dash, percent
from ...auditing import ImpactAudit
from ...auditing.impact_audits import SCORING
from .words import merged_sentence

FOUR_FIFTHS = 0.8
RATIO = ["category", "impact_ratio", "impact_ratio_low", "impact_ratio_high"]
#: What the numbers are, and what they are not.
NOTES = (
    "An impact ratio is the rate of a category over the highest rate. Under four fifths (0.8) is a common rule of "
    "thumb, not a legal limit. Exactly four fifths is not under.",
    "Intervals hold for all categories of one table together, with 95% confidence. A ratio is under four fifths beyond "
    "chance if its whole interval is.",
)


def impact_sentences(found: ImpactAudit) -> list[str]:
    """For each rate and each column: which categories are under four fifths, and how sure that is."""
    return [
        _sentence(rate, str(by), part)
        for rate, frame in found.tables.items()
        for by, part in frame.groupby("by", sort=False)
    ]


def _sentence(rate: str, by: str, part: pd.DataFrame) -> str:
    compared = part[~part["unknown"] & ~part["set_apart"]]
    top = part[part["highest"]]
    start = f"{rate.capitalize()} by {by}: "
    if top.empty or not top["selected"].iloc[0]:
        return f"{start}nobody {'scores above the median' if rate == SCORING else 'passes'}, so there are no ratios."
    if len(compared) < 2:
        return f"{start}there is only one category to compare."
    under = compared[compared["under_four_fifths"]]
    best = f"{top['category'].iloc[0]} has the highest ({percent(top['selection_rate'].iloc[0])})"
    if under.empty:
        return f"{start}no category is under four fifths; {best}."
    named = [
        f"{row[0]} ({amount(row[1])}; {amount(row[2])} to {amount(row[3])})"
        for row in under.nsmallest(5, "impact_ratio")[RATIO].itertuples(index=False)
    ]
    more = f" and {count(len(under) - len(named))} more" if len(under) > len(named) else ""
    verb = "is" if len(under) == 1 else "are"
    certain = int((under["impact_ratio_high"] < FOUR_FIFTHS).sum())
    sure = "beyond chance" if certain == len(under) else f"{count(certain)} of {count(len(under))} beyond chance"
    if not certain:
        sure = "which could be chance"
    return f"{start}{listed(named)}{more} {verb} under four fifths, {sure}; {best}."


def impact_notes(found: ImpactAudit) -> list[str]:
    """How people were counted, and what the rules leave to the auditor."""
    notes = []
    frame = next(iter(found.tables.values()))
    for by, part in frame.groupby("by", sort=False):
        unknown = part[part["unknown"]]
        if len(unknown):
            who = listed([f"{row.category} {count(row.n)}" for row in unknown.head(5).itertuples()])
            more = f" and {len(unknown) - 5} more" if len(unknown) > 5 else ""
            notes.append(
                f"By {by}, {count(unknown['n'].sum())} of {count(part['n'].sum())} people are of unknown category and "
                f"are not compared: {who}{more}."
            )
    if found.median is not None:
        side = "below" if found.lower_passes else "above"
        notes.append(
            f"The scoring rate is the share of people who score {side} the median of all {count(found.n_people)} "
            f"people, which is {found.median:g}."
        )
    small = frame[frame["set_apart"]]
    if len(small):
        who = listed([f"{row.category} ({or_dash(row.share)})" for row in small.head(5).itertuples()])
        more = f" and {len(small) - 5} more" if len(small) > 5 else ""
        notes.append(
            f"{who}{more}: under {percent(found.small_share)} of the people, so never the highest. Local Law 144 lets "
            "an independent auditor leave such categories out of the ratios, with a reason; their numbers of people "
            "and rates stay in the table."
        )
    return [*filter(None, [merged_sentence(found.source)]), *notes, *NOTES]
