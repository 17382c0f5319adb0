"""Sentences about an audit: the verdict, each group, how sure the numbers are, and ranges of costs."""

from __future__ import annotations

import math
import re

import numpy as np

from ..._formats import count, level, percent, short_percent, short_percent_down
from ..._text import printable
from ...auditing import Audit, OverCosts
from ...auditing.cost_ranges import NOWHERE, THROUGHOUT, UP_TO
from ...auditing.decomposition import precision_gaps
from ...behaviour import BestResponse
from ...costs import Terms
from ...publishing.pooling import FittedLowerBound, PooledLowerBound
from ...statistics import Guaranteed, LowerBound, Precision
from .words import (
    WORTH,
    group_sentence,
    group_status,
    group_warning,
    name_groups,
    points,
    promises_sentence,
    range_text,
    several,
    verdict_sentence,
)

#: Names of the numbers of an outcome, in sentences and tables.
NUMBERS = {
    "assumed_accuracy": "accuracy among everybody (assumed accuracy)",
    "induced_accuracy": "accuracy among applicants (induced accuracy)",
    "application_rate": "people who apply",
    "social_cost": "qualified people who stay away (social cost)",
}
#: What rates per potential applicant mean.
POOL_NOTE = (
    "People who were screened had applied, so rates per screened person leave out those who stayed away. Rates of the "
    "pool count them: selected people over everybody who could have applied."
)
#: Groups whose share of resamples is listed.
MAX_LISTED = 12
#: Longer descriptions of a behaviour are cut.
MAX_BEHAVIOUR = 200


def behaviour_text(terms: Terms, *, weighted: bool = False) -> str | None:
    """How people respond, unless they compare the precision, or its own lower bound of equal people, with the cost."""
    behaviour, statistic = terms.behaviour, terms.statistic
    inner = statistic.statistic if isinstance(statistic, Guaranteed) else statistic
    if type(behaviour) is BestResponse:
        if type(inner) is Precision or (type(inner) is LowerBound and not weighted):
            return None
        if isinstance(inner, PooledLowerBound | FittedLowerBound) and statistic is inner:
            most = f"{100 * (1 - inner.confidence):.4g}%"
            return (
                "a lower bound of the precision of their group. Of the groups that it brings in, at most "
                f"{most} should get less than their cost"
            )
        if isinstance(inner, LowerBound) and statistic is inner:
            return f"a lower bound of the precision of their group ({inner.confidence:.4g} confidence)"
    texts = [repr(behaviour)] + ([] if type(statistic) is Precision else [repr(statistic)])
    # objects without a repr of their own, and functions, have an address in it
    texts = [re.sub(r"<([\w.<>]+\.)?(\w+) (?:object )?at 0x[0-9a-f]+>", r"\2", text) for text in texts]
    text = printable(" to ".join(texts))
    return text if len(text) <= MAX_BEHAVIOUR else f"{text[:MAX_BEHAVIOUR]}..."


def response_text(audit: Audit) -> str | None:
    """How the people of an audit respond, see :func:`behaviour_text`."""
    return behaviour_text(audit.terms, weighted=audit.published.counts.squares is not None)


def audit_sentences(audit: Audit) -> list[str]:
    """Who applies and what follows, how certain that is, and whether new people did as well as published."""
    groups, undecided = audit.published.groups, audit.undecided
    verdict = verdict_sentence(
        audit.terms.uniform_cost,
        audit.names,
        audit.shares.tolist(),
        audit.outcome,
        confidence=audit.terms.confidence,
        behaviour=response_text(audit),
        costs=audit.terms.listed_cost(groups).tolist(),
        subsidies=audit.terms.subsidies_for(groups).tolist(),
        kind=audit.terms.kind,
        selected=audit.published.counts.selected.tolist(),
        people=float(audit.population.counts.n.sum()),
        undecided=None if undecided is None else undecided.tolist(),
        ranges=audit.either_way(),
        rejected=None if math.isnan(audit.qualified_rejected) else audit.qualified_rejected,
        unqualified=unqualified_groups(audit),
    )
    if not audit.of_new_people:
        return [verdict]
    promises = audit.promises()
    kept = promises_sentence(
        audit.names,
        promises["promise_kept"].tolist(),
        audit.population.reindex(groups).counts.selected.tolist(),
        promises["delivered"].tolist(),
        audit.terms.effective_cost(groups).tolist(),
    )
    return [verdict, kept] if kept else [verdict]


def unqualified_groups(audit: Audit) -> list[str]:
    """Groups in which nobody is qualified, although others are: the label cannot be judged for them."""
    counts = audit.population.reindex(audit.published.groups).counts
    none = (counts.n > 0) & (counts.positives == 0) & (counts.unknown == 0)
    return [name for name, is_none in zip(audit.names, none, strict=True) if is_none and counts.positives.any()]


def group_sentences(audit: Audit) -> list[str]:
    """One sentence per group."""
    subsidies = audit.terms.subsidies_for(audit.published.groups)
    limits = audit.terms.max_accepted_cost(audit.published.groups, audit.published.counts)
    rows = zip(audit.names, audit.shares, subsidies, limits, audit.to_frame().itertuples(), strict=True)
    return [
        group_sentence(
            name,
            row.cost,
            share,
            row.selected,
            row.precision,
            row.subsidy_needed,
            kind=audit.terms.kind,
            subsidised=subsidy > 0,
            undecided=bool(getattr(row, "undecided", False)),
            max_accepted_cost=limit,
            confidence=audit.terms.confidence if response_text(audit) is None else None,
        )
        for name, share, subsidy, limit, row in rows
    ]


def gap_sentences(audit: Audit) -> list[str]:
    """Why the precision of groups that do not certainly apply differs from that of the largest group."""
    gaps = precision_gaps(audit.published)
    names = [name_groups([name]) for name in audit.names]
    at = int(np.argmax(gaps["reference"]))
    sentences = []
    for name, status, row in zip(names, group_statuses(audit), gaps.itertuples(), strict=True):
        if status == "applies" or row.reference or math.isnan(row.by_base_rate):
            continue
        sentences.append(
            f"Precision of {name} against {names[at]}, the largest group: {points(row.gap)} points. Of these, "
            f"{points(row.by_base_rate)} are due to how many of its people are qualified ({percent(row.base_rate)} "
            f"against {percent(gaps['base_rate'].iloc[at])}), and {points(row.by_screen)} to how well the screen tells "
            "them apart."
        )
    return sentences


def next_steps(audit: Audit) -> list[str]:
    """What to do about groups that do not certainly apply."""
    statuses = group_statuses(audit)

    def of(status: str) -> list[str]:
        return [name for name, own in zip(audit.names, statuses, strict=True) if own == status]

    away, near, shut = of("stays away"), of("could go either way"), of("nobody passes")
    steps = []
    if away:
        steps.append(
            f"To bring in {several(away, audit.names)}: find the smallest subsidy (selfselect plan), or raise the "
            "precision; below is why it is low."
        )
    if near:
        steps.append(
            f"For {several(near, audit.names)}: get more data, or plan a subsidy that is enough with 90% confidence "
            "(selfselect plan --confidence 0.9)."
        )
    if shut:
        steps.append(
            f"So that somebody in {several(shut, audit.names)} passes: compare thresholds (selfselect frontier)."
        )
    if audit.of_new_people and (audit.promises()["promise_kept"] == "no").any():
        steps.append("Publish new numbers: those published are too high.")
    return steps or ["Nothing at this cost. See under What if? at which cost groups begin to stay away."]


def group_warnings(audit: Audit) -> list[str]:
    """Why the number of each group is uncertain; empty if it is not."""
    frame = audit.to_frame()
    if audit.undecided is None:  # the interval does not change who applies
        frame[["precision_low", "precision_high"]] = np.nan
    effective = frame["effective_selected"] if "effective_selected" in frame else [None] * len(frame)
    return [
        group_warning(row.selected, row.precision_low, row.precision_high, row.cost, worth)
        for row, worth in zip(frame.itertuples(), effective, strict=True)
    ]


def group_statuses(audit: Audit) -> list[str]:
    """What each group does, in the words of charts and tables."""
    undecided = np.zeros(len(audit.names), dtype=bool) if audit.undecided is None else audit.undecided.to_numpy()
    rows = zip(audit.published.counts.selected, audit.applies, undecided, strict=True)
    return [group_status(selected, bool(applies), bool(is_open)) for selected, applies, is_open in rows]


def uncertainty_lines(audit: Audit) -> list[str]:
    """The bootstrap: how it was made, a line per number, and how often groups apply that do not always.

    Pages have the intervals beside their numbers, and show the first line and the last.
    """
    made = audit.uncertainty()
    lines = [
        f"{level(made.confidence)} intervals from {count(made.n_resamples)} bootstrap samples of the people "
        f"(seed {made.seed}), in which groups near their cost apply or not:"
    ]
    for name, row in made.to_frame().iterrows():
        undefined = f" (nobody applies in {percent(row['undefined'])} of samples)" if row["undefined"] > 0 else ""
        interval = "none" if math.isnan(row["low"]) else f"{percent(row['low'])} to {percent(row['high'])}"
        lines.append(f"{NUMBERS[str(name)]}: {interval}{undefined}")
    some = [
        f"{name_groups([group])} ({percent(share)})"
        for group, share in zip(audit.names, made.applies, strict=True)
        if 0 < share < 1
    ]
    more = f" and {count(len(some) - MAX_LISTED)} more" if len(some) > MAX_LISTED else ""
    return [*lines, f"groups that apply in only some samples: {', '.join(some[:MAX_LISTED]) or 'none'}{more}"]


def interval_texts(audit: Audit) -> dict[str, str]:
    """The interval of each number, by its name; empty where there is none."""
    rows = audit.uncertainty().to_frame().to_dict("index")
    return {
        str(name): "" if math.isnan(row["low"]) else f"{percent(row['low'])} to {percent(row['high'])}"
        for name, row in rows.items()
    }


def over_costs_sentence(over: OverCosts) -> str:
    """What holds over a range of costs, and where it changes."""
    applies, tips = over.groups["applies"].tolist(), over.groups["tips_at"].to_numpy()

    def of(answer: str, passes: bool = True) -> list[str]:
        rows = zip(over.names, applies, over.passed, strict=True)
        return [name for name, given, n in rows if given == answer and (n > 0) == passes]

    parts = []
    for answer, one, all_ in ((THROUGHOUT, "applies", "apply"), (NOWHERE, "stays away", "stay away")):
        if of(answer):
            parts.append(f"{name_groups(of(answer))} {one if len(of(answer)) == 1 else all_} throughout")
    order = [z for z in np.argsort(tips, kind="stable") if applies[z] == UP_TO]
    parts += [f"{name_groups([over.names[z]])} applies up to {short_percent_down(float(tips[z]))}" for z in order]
    if of(NOWHERE, passes=False):
        parts.append(f"nobody in {name_groups(of(NOWHERE, passes=False))} passes screening")
    accuracy, social = (range_text(*over.range_of(name)) for name in ("induced_accuracy", "social_cost"))
    nobody = " (or nobody applies)" if over.steps["induced_accuracy"].isna().any() else ""
    return (
        f"If applying costs {short_percent(over.low)} to {short_percent(over.high)} {WORTH}, {'; '.join(parts)}. "
        f"Accuracy among applicants is {accuracy}{nobody}; {social} of qualified people stay away."
    )
