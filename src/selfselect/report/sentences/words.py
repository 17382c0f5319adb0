"""Findings in plain sentences: functions of numbers and names only, so that the report's script can say the same.

``report/scripts/words.js`` has the same functions; ``tests/auditing/cases.json`` lists inputs and the texts they give,
and holds on both sides.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..._formats import MOST_NAMED, amount, amount_down, amount_up, count, level, listed, percent
from ...auditing.promises import RARE
from ...behaviour import MOST_OF_A_GROUP
from ...costs import SubsidyKind
from ...outcomes import Outcome

#: A group of which fewer people pass screening carries a warning: its published precision is mostly chance.
FEW_SELECTED = 30


def needs_word(name: str) -> bool:
    """Whether a name reads better after the word group: numbers, ranges, signs, truths.

    Examples
    --------
    >>> needs_word("3"), needs_word("<25"), needs_word("True"), needs_word("A")
    (True, True, True, False)
    """
    return not name[:1].isalpha() or name in ("True", "False", "None")


def spoken(names: Sequence[str], most: int = MOST_NAMED) -> str:
    """Names in a sentence; with the word group, or groups, where they would read badly without it.

    Examples
    --------
    >>> spoken(["A", "B"]), spoken(["1", "2"]), spoken(["7"])
    ('A and B', 'groups 1 and 2', 'group 7')
    """
    word = ("group " if len(names) == 1 else "groups ") if any(map(needs_word, names)) else ""
    return word + listed(names, most)


def range_text(low: float, high: float) -> str:
    """A share that is known, or only within bounds.

    Examples
    --------
    >>> range_text(0.5, 0.5), range_text(0.25, 0.5)
    ('50.0%', 'between 25.0% and 50.0%')
    """
    least, most = percent(low), percent(high)
    return least if least == most else f"between {least} and {most}"


def terms_phrase(
    cost: float | None,
    names: Sequence[str],
    costs: Sequence[float],
    subsidies: Sequence[float],
    kind: SubsidyKind = "additive",
) -> str:
    """What groups are told it costs, and what they are paid towards it.

    Parameters
    ----------
    cost : float or None
        The cost that all groups are told; None if it differs.
    names : sequence of str
        The groups.
    costs : sequence of float
        What each is told, before subsidies.
    subsidies : sequence of float
        What each is paid.
    kind : {"additive", "proportional"}
        Whether subsidies are amounts or shares of the cost.

    Examples
    --------
    >>> terms_phrase(None, ["A", "B", "C"], [0.7, 0.6, 0.7], [0, 0, 0.1])
    'At a cost of 0.70 (0.60 for B), with a subsidy of 0.10 for C,'
    """
    told = f"At a cost of {amount(cost)}" if cost is not None else _costs_phrase(names, costs)
    paid = _by_text(names, subsidies, percent if kind == "proportional" else amount_up)
    paid.pop(percent(0) if kind == "proportional" else amount(0), None)
    if not paid:
        return f"{told},"
    unit = " of the cost" if kind == "proportional" else ""
    if len(paid) > MOST_NAMED:
        return f"{told}, with subsidies for {sum(map(len, paid.values()))} of {len(names)} groups,"
    each = [
        f"{text}{unit} for {'every group' if len(whom) == len(names) > 1 else spoken(whom)}"
        for text, whom in paid.items()
    ]
    return f"{told}, with {'a subsidy' if len(each) == 1 else 'subsidies'} of {', of '.join(each)},"


def _costs_phrase(names: Sequence[str], costs: Sequence[float]) -> str:
    """Costs that differ: the commonest, and those of the other groups."""
    by_text = _by_text(names, costs, amount)
    commonest = max(by_text, key=lambda text: len(by_text[text]))
    others = [f"{text} for {spoken(whom)}" for text, whom in by_text.items() if text != commonest]
    if len(others) > MOST_NAMED:
        return f"At costs between {amount(min(costs))} and {amount(max(costs))}"
    return f"At a cost of {commonest}" + (f" ({', '.join(others)})" if others else "")


def _by_text(names: Sequence[str], values: Sequence[float], form: Callable[[float], str]) -> dict[str, list[str]]:
    """Names by what is written of each, in the order of first mention."""
    found: dict[str, list[str]] = {}
    for name, value in zip(names, values, strict=True):
        found.setdefault(form(value), []).append(name)
    return found


def _several(chosen: Sequence[str], names: Sequence[str]) -> str:
    """Some of the groups: by name if they are few."""
    return spoken(chosen) if len(chosen) <= MOST_NAMED else f"{len(chosen)} of {len(names)} groups"


def verdict_sentence(
    cost: float | None,
    names: Sequence[str],
    shares: Sequence[float],
    result: Outcome,
    *,
    confidence: float | None = None,
    costs: Sequence[float] | None = None,
    subsidies: Sequence[float] | None = None,
    kind: SubsidyKind = "additive",
    passed: Sequence[float] | None = None,
    people: float | None = None,
    undecided: Sequence[bool] | None = None,
    either_way: Mapping[str, Any] | None = None,
) -> str:
    """What it comes to, in a few sentences.

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
    costs, subsidies : sequence of float, optional
        What each group is told, and what it is paid.
    kind : {"additive", "proportional"}
        Whether subsidies are amounts or shares of the cost.
    passed : sequence of float, optional
        How many of each group pass screening: a group of which nobody does is shut out, and does not stay away.
    people : float, optional
        How many people there are.
    undecided : sequence of bool, optional
        Groups whose interval holds their cost. None where it says nothing about what they do.
    either_way : mapping, optional
        What follows over all ways in which these decide, as :func:`selfselect.auditing.undecided.either_way` has it.

    Examples
    --------
    >>> from selfselect.outcomes import Outcome
    >>> verdict_sentence(0.7, ["A", "B"], [1.0, 1.0], Outcome(0.9, 0.9, 2, 1.0, 0.0))
    'At a cost of 0.70, all 2 groups apply: the model is right for 90.0% of them, as assumed.'
    """
    nothing = [0.0] * len(names)
    at = (
        "At the costs given,"
        if cost is None and costs is None
        else terms_phrase(cost, names, costs or nothing, subsidies or nothing, kind)
    )
    held = [False] * len(names) if undecided is None else undecided
    away = [z for z, share in enumerate(shares) if share < MOST_OF_A_GROUP]
    shut = [names[z] for z in away if passed is not None and passed[z] == 0]
    staying = [z for z in away if passed is None or passed[z] > 0]
    lost = "stay away or are shut out" if staying and shut else "are shut out" if shut else "stay away"
    who = Who(
        names,
        stay=[names[z] for z in staying if not held[z]],
        probably=[names[z] for z in staying if held[z]],
        shut=shut,
        barely=[names[z] for z in range(len(names)) if held[z] and z not in away],
    )
    parts = [f"{at} {_finding(who, shares, result, lost)}"]
    if confidence is not None:
        parts.append(f"People are taken to go by the lower bound of precision (at {level(confidence)}).")
    untested = getattr(result, "untested", 0)
    if untested:
        parts.append(_on_bounds(untested))
    if people is not None and 0 < result.application_rate < 1:
        whom = f"{count(result.application_rate * people)} of {count(people)} people who apply"
        parts.append(f"The accuracy rests on the {whom}.")
    if undecided is not None and either_way is not None:
        parts.append(_on_certainty(names, passed or nothing, undecided, either_way, lost))
    return " ".join(filter(None, parts))


def _bounds(result: Outcome, name: str) -> tuple[float, float]:
    """What is known of a number: itself twice, or its bounds."""
    known = getattr(result, name)
    return getattr(result, f"{name}_low", known), getattr(result, f"{name}_high", known)


def _on_bounds(untested: float) -> str:
    were = "person was" if untested == 1 else "people were"
    return f"What lies between two numbers is not known better: {count(untested)} {were} not tested."


@dataclass(frozen=True)
class Who:
    """Groups by what they do: stay away, probably stay away, are shut out, or apply only probably."""

    names: Sequence[str]
    stay: list[str]
    probably: list[str]
    shut: list[str]
    barely: list[str]

    def lost(self) -> str:
        """Who does not come, by choice or because the model passes nobody of them; empty if everybody does."""
        told = []
        if self.stay:
            told.append(f"{_several(self.stay, self.names)} {'stays' if len(self.stay) == 1 else 'stay'} away")
        if self.probably:
            one = len(self.probably) == 1
            does = ("does" if one else "do") if self.stay else f"{'stays' if one else 'stay'} away"
            told.append(f"{_several(self.probably, self.names)} probably {does}")
        if self.shut:
            told.append(f"the model passes nobody of {_several(self.shut, self.names)}")
        return " and ".join([", ".join(told[:-1]), told[-1]]) if len(told) > 1 else "".join(told)

    def everyone(self) -> str:
        """That all come, some of them only probably."""
        if len(self.names) == 1:
            return f"everybody {'probably ' if self.barely else ''}applies"
        barely = f", {_several(self.barely, self.names)} probably" if self.barely else ""
        return f"all {len(self.names)} groups apply{barely}"


def _finding(who: Who, shares: Sequence[float], result: Outcome, lost: str) -> str:
    """Who applies, and what follows."""
    if not any(shares):
        why = "no group finds it worth being tested"
        if who.shut:
            why = who.lost() if who.stay or who.probably else "the model passes nobody"
        return f"nobody applies: {why}, and there is nobody to be accurate about."
    induced, assumed = (range_text(*_bounds(result, name)) for name in ("induced_accuracy", "assumed_accuracy"))
    as_assumed = ", as assumed" if induced == assumed else f", not {assumed} as assumed"
    if getattr(result, "untested", 0):  # two ranges may overlap: neither is what the other is not
        as_assumed = f" ({assumed} of everybody)"
    social = range_text(*_bounds(result, "social_cost"))
    accuracy = (
        f"the model is right for {induced} of those who apply{as_assumed}, and {social} of qualified people {lost}."
    )
    if any(0 < share < 1 for share in shares):
        return f"{percent(result.application_rate)} of people apply: {accuracy}"
    if not who.lost():
        return f"{who.everyone()}: the model is right for {assumed} of them, as assumed."
    return f"{who.lost()}: {accuracy}"


def _on_certainty(
    names: Sequence[str],
    passed: Sequence[float],
    undecided: Sequence[bool],
    either_way: Mapping[str, Any],
    lost: str,
) -> str:
    """Which groups are certain, and what hangs on the others."""
    if not any(passed):
        return ""
    open_ones = [name for name, is_open in zip(names, undecided, strict=True) if is_open]
    if not open_ones:
        clear = "every precision is clearly on one side of its cost (95% intervals)"
        return f"This is clear, as far as chance goes: {clear}."
    right = range_text(*either_way["induced_accuracy"]) + " of those who apply"
    if either_way["nobody"]:
        right += " (or nobody applies)"
    if lost == "are shut out":
        lost = "stay away or are shut out"
    others = len(names) - len(open_ones)
    rest = {0: "No group is clear.", 1: "The other group is clear."}.get(
        others, f"The other {count(others)} groups are clear."
    )
    own = (
        "its true precision may lie on either side of its cost"
        if len(open_ones) == 1
        else "their true precision may lie on either side of their cost"
    )
    return (
        f"Whether {_several(open_ones, names)} {'applies' if len(open_ones) == 1 else 'apply'} is too close to call "
        f"(by chance alone, {own}): either way, the model is right for {right}, and "
        f"{range_text(*either_way['social_cost'])} of qualified people {lost}. {rest}"
    )


def standing(selected: float, applies: bool, undecided: bool) -> str:
    """How a group stands, in the words that charts and tables use.

    Parameters
    ----------
    selected : float
        How many of it pass screening.
    applies, undecided : bool
        Whether it applies, and whether that may be chance.

    Examples
    --------
    >>> standing(10, True, False), standing(10, False, True), standing(0, False, False)
    ('applies', 'probably stays away', 'rejected by the model')
    """
    if not selected and not applies:
        return "rejected by the model"
    doing = "applies" if applies else "stays away"
    return f"probably {doing}" if undecided else doing


def standing_phrase(
    stands: str,
    precision: float,
    cost: float,
    *,
    max_accepted_cost: float | None = None,
    confidence: float | None = None,
) -> str:
    """How a group stands, with why: what its people see, and what they need.

    Parameters
    ----------
    stands : str
        As :func:`standing` says.
    precision, cost : float
        What its people see, and what they face.
    max_accepted_cost, confidence : float, optional
        The bound of precision that people go by, and how sure they want to be; NaN if nothing is promised to them.

    Examples
    --------
    >>> standing_phrase("stays away", 0.62, 0.7)
    'stays away: 62.0%, needs 70.0%'
    """
    if stands == "rejected by the model":
        return "rejected by the model: nobody passes"
    if math.isnan(precision):
        return f"{stands}: nobody passes"
    told = percent(precision)
    if confidence is not None:
        limit = precision if max_accepted_cost is None else max_accepted_cost
        surely = "nothing promised" if math.isnan(limit) else f"surely {percent(limit)}"
        told = f"{surely} (published {told})"
    return f"{stands}: {told}, needs {percent(cost)}"


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
    max_accepted_cost: float | None = None,
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
    max_accepted_cost : float, optional
        The highest cost at which it would apply: its precision, or the lower bound of it; NaN if none, because with a
        guarantee nothing is promised to it.
    confidence : float, optional
        How sure people want to be, where they go by the lower bound.

    Examples
    --------
    >>> group_sentence("B", 0.7, 0, 100, 0.62, 0.08)
    'B stays away at a cost of 0.70: 62.0% of those who pass screening are qualified. Its people would apply at a cost
    of 0.62, or with a subsidy of 0.08.'
    """
    whom = spoken([name])
    subject = whom[:1].upper() + whom[1:] if needs_word(name) else whom
    some = f"{subject} applies" if share >= 1 else f"{percent(share)} of {whom} apply"
    if selected == 0:
        if share > 0:
            return f"{some} at a cost of {amount(cost)}, although nobody in it passes screening."
        return f"{subject} is shut out: nobody in it passes screening, so no subsidy can bring it in."
    hired = f"{percent(precision)} of those who pass screening are qualified"
    limit = precision if max_accepted_cost is None else max_accepted_cost
    if math.isnan(limit):
        return f"{subject} stays away: {hired}, but nothing is promised to it, so no subsidy can bring it in."
    if confidence is not None:
        hired += f", surely (at {level(confidence)}) at least {percent(limit)}"
    if share > 0:
        return f"{some} at a cost of {amount(cost)}: {hired}."
    if precision == 0:
        return f"{subject} stays away at a cost of {amount(cost)}: nobody of those who pass screening is qualified."
    further = "further subsidy" if subsidised else "subsidy"
    unit = " of the cost" if kind == "proportional" else ""
    return (
        f"{subject} stays away at a cost of {amount(cost)}: {hired}. Its people would apply at a cost of "
        f"{amount_down(limit)}, or with a {further} of {amount_up(subsidy_needed)}{unit}."
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
    who = spoken([names[z] for z in broken])
    told = f"The promises to {who} are broken, most to {spoken([names[worst]])}"
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


def group_warning(
    selected: float, precision_low: float, precision_high: float, cost: float, effective: float | None = None
) -> str:
    """Why the number of a group should be taken with care; empty if there is no reason.

    Parameters
    ----------
    selected : float
        How many of it pass screening.
    precision_low, precision_high : float
        Interval of its precision.
    cost : float
        What it faces.
    effective : float, optional
        Where people have weights, how many equally weighted ones those who pass are worth.
    """
    if selected == 0:
        return ""
    if effective is not None:
        if effective < FEW_SELECTED:
            worth = count(math.floor(effective * 10 + 0.5) / 10)
            return f"those who pass are worth only {worth} people: this is known only roughly"
    elif selected < FEW_SELECTED:
        who = "person passes" if selected == 1 else "people pass"
        return f"only {count(selected)} {who} screening: this is known only roughly"
    if precision_low < cost <= precision_high:
        return "too close to call: chance may decide"
    return ""
