"""Findings in plain sentences: functions of numbers and names only, so that the report's script can say the same.

``report/scripts/words.js`` has the same functions; ``tests/auditing/cases.json`` lists inputs and the texts they give,
and holds on both sides.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

import pandas as pd

from ..deciding import Outcome, SubsidyKind
from ..deciding.behaviour import MOST_OF_A_GROUP
from .formats import MOST_NAMED, amount, amount_down, amount_up, count, level, listed, percent
from .promises import RARE

#: A group of which fewer people pass screening carries a warning: its published precision is mostly chance.
FEW_SELECTED = 30


def group_names(labels: pd.Index) -> list[str]:
    """One text per group: combinations of several columns are joined by " / ".

    Examples
    --------
    >>> group_names(pd.MultiIndex.from_tuples([("A", 1), ("B", 2)]))
    ['A / 1', 'B / 2']
    """
    if labels.nlevels == 1:
        return [str(label) for label in labels]
    names = [" / ".join(map(str, label)) for label in labels]
    if len(set(names)) < len(names):  # the separator is part of a value
        names = [json.dumps([str(part) for part in label], ensure_ascii=False) for label in labels]
    return names


def verdict_sentence(
    cost: float | None,
    names: Sequence[str],
    shares: Sequence[float],
    result: Outcome,
    *,
    confidence: float | None = None,
) -> str:
    """What it comes to, in one sentence.

    Parameters
    ----------
    cost : float or None
        The cost that all groups are told; None if it differs.
    names : sequence of str
        The groups.
    shares : sequence of float
        Share of each that applies.
    result : Outcome
        What follows.
    confidence : float, optional
        How sure people want to be, where they go by the lower bound of the precision.

    Examples
    --------
    >>> from selfselect.deciding import Outcome
    >>> verdict_sentence(0.7, ["A", "B"], [1.0, 1.0], Outcome(0.9, 0.9, 2, 1.0, 0.0))
    'At a cost of 0.70, all 2 groups apply: the model is right for 90.0% of them, as assumed.'
    """
    at = "At the costs given," if cost is None else f"At a cost of {amount(cost)},"
    if confidence is not None:
        at += f" for people who go by the lower bound of precision (at {level(confidence)}),"
    accuracy = (
        f"the model is right for {percent(result.induced_accuracy)} of those who apply, not "
        f"{percent(result.assumed_accuracy)} as assumed, and {percent(result.social_cost)} of qualified people stay "
        "away."
    )
    if not any(shares):
        return f"{at} nobody applies: no group finds it worth being tested, and there is nobody to be accurate about."
    if any(0 < share < 1 for share in shares):
        return f"{at} {percent(result.application_rate)} of people apply: {accuracy}"
    staying = [name for name, share in zip(names, shares, strict=True) if share < MOST_OF_A_GROUP]
    if not staying:
        everyone = "everybody applies" if len(names) == 1 else f"all {len(names)} groups apply"
        return f"{at} {everyone}: the model is right for {percent(result.assumed_accuracy)} of them, as assumed."
    who = listed(staying) if len(staying) <= MOST_NAMED else f"{len(staying)} of {len(names)} groups"
    return f"{at} {who} {'stays' if len(staying) == 1 else 'stay'} away: {accuracy}"


def group_sentence(
    name: str,
    cost: float,
    share: float,
    selected: float,
    precision: float,
    subsidy_needed: float,
    *,
    kind: SubsidyKind = "additive",
    subsidised: bool = False,
    comes_at: float | None = None,
    confidence: float | None = None,
) -> str:
    """Say of one group whether it applies, why, and what would change that.

    Parameters
    ----------
    name : str
        The group.
    cost : float
        What it faces, after subsidies.
    share : float
        Share of it that applies; True and False are all and nobody.
    selected, precision : float
        How many of it pass screening, and the share of them who are hired.
    subsidy_needed : float
        The least further subsidy at which it would apply, of the kind below.
    kind : {"additive", "proportional"}
        Whether subsidies are amounts or shares of the cost.
    subsidised : bool
        Whether it receives a subsidy already.
    comes_at : float, optional
        The highest cost at which it would apply: its precision, or the lower bound of it; NaN if none, because with a
        guarantee nothing is promised to it.
    confidence : float, optional
        How sure people want to be, where they go by the lower bound.

    Examples
    --------
    >>> group_sentence("B", 0.7, 0, 100, 0.62, 0.08)
    'B stays away at a cost of 0.70: 62.0% of those who pass screening are hired; it would come at 0.62 or with a
    subsidy of 0.08.'
    """
    some = f"{name} applies" if share >= 1 else f"{percent(share)} of {name} apply"
    if selected == 0:
        if share > 0:
            return f"{some} at a cost of {amount(cost)}, although nobody in it passes screening."
        return f"{name} stays away: nobody in it passes screening, so no subsidy can bring it in."
    hired = f"{percent(precision)} of those who pass screening are hired"
    limit = precision if comes_at is None else comes_at
    if math.isnan(limit):
        return f"{name} stays away: {hired}, but nothing is promised to it, so no subsidy can bring it in."
    if confidence is not None:
        hired += f", surely (at {level(confidence)}) at least {percent(limit)}"
    if share > 0:
        return f"{some} at a cost of {amount(cost)}: {hired}."
    if precision == 0:
        return f"{name} stays away at a cost of {amount(cost)}: nobody of those who pass screening is hired."
    further = "further subsidy" if subsidised else "subsidy"
    unit = " of the cost" if kind == "proportional" else ""
    return (
        f"{name} stays away at a cost of {amount(cost)}: {hired}; it would come at {amount_down(limit)} or with a "
        f"{further} of {amount_up(subsidy_needed)}{unit}."
    )


def promises_sentence(
    names: Sequence[str],
    kept: Sequence[str],
    passed: Sequence[float],
    delivered: Sequence[float],
    costs: Sequence[float],
) -> str:
    """Whether promises are broken, which, and how many are kept or undecided; empty if nothing was promised.

    Parameters
    ----------
    names : sequence of str
        The groups.
    kept : sequence of {"yes", "no", "undecided", ""}
        Whether the promise to each is kept; empty for those who stay away.
    passed, delivered : sequence of float
        How many new people of it pass screening, and the share of them who are qualified.
    costs : sequence of float
        What it faces.

    Examples
    --------
    >>> promises_sentence(["A", "B"], ["yes", "no"], [40, 40], [0.95, 0.5], [0.7, 0.7])
    'The promise to B is broken: of its 40 new people who pass screening, 50.0% are qualified, where at least 70.0% were
    needed; if so many were the rule, so few would be seen in less than 5% of cases. Of the others, 1 is kept.'
    """
    broken = [z for z, answer in enumerate(kept) if answer == "no"]
    yes, undecided = (sum(answer == end for answer in kept) for end in ("yes", "undecided"))
    others = _other_promises(yes, undecided, bool(broken))
    if not broken:
        return others
    worst = max(broken, key=lambda z: costs[z] - delivered[z])
    who = listed(names[z] for z in broken)
    told = f"The promises to {who} are broken, most to {names[worst]}"
    if len(broken) == 1:
        told = f"The promise to {who} is broken"
    parts = [
        f"{told}: of its {count(passed[worst])} new people who pass screening, {percent(delivered[worst])} are "
        f"qualified, where at least {percent(costs[worst])} were needed; if so many were the rule, so few would be "
        f"seen in less than {level(RARE)} of cases."
    ]
    promised = len(broken) + yes + undecided
    by_chance = math.floor(promised * RARE)
    if by_chance:
        parts.append(f"By chance alone, {count(by_chance)} of {count(promised)} promises may look broken.")
    return " ".join([*parts, others] if others else parts)


def _other_promises(kept: int, undecided: int, broken: bool) -> str:
    """How promises ended that are not broken; empty without any."""
    ends = [(kept, "kept"), (undecided, "undecided")]
    told = [f"{count(several)} {'is' if several == 1 else 'are'} {end}" for several, end in ends if several]
    if not told:
        return ""
    return ("Of the others, " if broken else "No promise is shown to be broken: ") + " and ".join(told) + "."


def group_warning(selected: float, precision_low: float, precision_high: float, cost: float) -> str:
    """Why the number of a group should be taken with care; empty if there is no reason."""
    if selected == 0:
        return ""
    if selected < FEW_SELECTED:
        return f"only {count(selected)} pass screening, mostly chance"
    if precision_low < cost <= precision_high:
        return "the interval holds the cost"
    return ""
