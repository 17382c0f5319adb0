"""Findings in plain sentences: functions of numbers and names only, so that the report's script can say the same.

``report/scripts/words.js`` has the same functions; ``tests/auditing/cases.json`` lists inputs and the texts they give,
and holds on both sides.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import pandas as pd

from ..deciding import Outcome, SubsidyKind
from ..deciding.behaviour import MOST_OF_A_GROUP
from .formats import MOST_NAMED, amount, amount_down, amount_up, count, listed, percent

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


def verdict_sentence(cost: float | None, names: Sequence[str], shares: Sequence[float], result: Outcome) -> str:
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

    Examples
    --------
    >>> from selfselect.deciding import Outcome
    >>> verdict_sentence(0.7, ["A", "B"], [1.0, 1.0], Outcome(0.9, 0.9, 2, 1.0, 0.0))
    'At a cost of 0.70, all 2 groups apply: the model is right for 90.0% of them, as assumed.'
    """
    at = "At the costs given," if cost is None else f"At a cost of {amount(cost)},"
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
        The highest cost at which it would apply; its precision, unless it must be sure of more.

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
    if share > 0:
        return f"{some} at a cost of {amount(cost)}: {hired}."
    if precision == 0:
        return f"{name} stays away at a cost of {amount(cost)}: nobody of those who pass screening is hired."
    further = "further subsidy" if subsidised else "subsidy"
    unit = " of the cost" if kind == "proportional" else ""
    limit = precision if comes_at is None else comes_at
    if limit < precision:
        hired += f", surely at least {percent(limit)}"
    return (
        f"{name} stays away at a cost of {amount(cost)}: {hired}; it would come at {amount_down(limit)} or with a "
        f"{further} of {amount_up(subsidy_needed)}{unit}."
    )


def group_warning(selected: float, precision_low: float, precision_high: float, cost: float) -> str:
    """Why the number of a group should be taken with care; empty if there is no reason."""
    if selected == 0:
        return ""
    if selected < FEW_SELECTED:
        return f"only {count(selected)} pass screening, mostly chance"
    if precision_low < cost <= precision_high:
        return "the interval holds the cost"
    return ""
