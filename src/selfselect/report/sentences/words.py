"""Sentences as functions of numbers and names only, so that the script of the report can say the same.

``report/scripts/words.js`` has the same functions. ``tests/report/cases.json`` lists inputs and texts for both.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..._formats import MAX_NAMED, amount_up, count, level, listed, percent, short_percent, short_percent_down
from ...auditing import Provenance
from ...auditing.promises import RARE
from ...behaviour import MAJORITY
from ...costs import SubsidyKind
from ...outcomes import Outcome

#: A group of which fewer people pass screening carries a warning: its published precision is mostly chance.
FEW_SELECTED = 30
#: What costs are a share of.
WORTH = "of what being selected is worth"

# ---------------------------------------------------------------------- names and numbers


def name_groups(names: Sequence[str]) -> str:
    """Names in a sentence, after the word group (or groups) if one of them is a number, a range or a truth value."""
    if all(name[:1].isalpha() and name not in ("True", "False", "None") for name in names):
        return listed(names)
    return ("group " if len(names) == 1 else "groups ") + listed(names)


def several(chosen: Sequence[str], names: Sequence[str]) -> str:
    """Some of the groups: by name if they are few."""
    return name_groups(chosen) if len(chosen) <= MAX_NAMED else f"{len(chosen)} of {len(names)} groups"


def capitalised(text: str) -> str:
    """A sentence with a capital for the word group at its beginning; names keep theirs."""
    return f"G{text[1:]}" if text.startswith(("group ", "groups ")) else text


def range_text(low: float, high: float) -> str:
    """A share that is known, or only within bounds."""
    least, most = percent(low), percent(high)
    return least if least == most else f"{least} to {most}"


def points(difference: float) -> str:
    """A difference of shares, in percentage points, with its sign."""
    text = percent(difference).removesuffix("%")
    text = "0.0" if text == "-0.0" else text
    return f"+{text}" if difference > 0 and text != "0.0" else text


def percent_or_bounds(numbers: Mapping[str, Any], name: str) -> str:
    """A share, or where people were not tested, the bounds within which it lies."""
    return range_text(numbers.get(f"{name}_low", numbers[name]), numbers.get(f"{name}_high", numbers[name]))


def merged_sentence(source: Provenance) -> str:
    """What is merged in a file that may be passed on; empty for exact counts."""
    if not source.min_cell:
        return ""
    whom = [f"{name} is {listed(of)}" for name, of in source.merged.items()]
    merged = f": small groups are merged ({'; '.join(whom)})" if whom else ""
    return f"No number in this file is about fewer than {count(source.min_cell)} people{merged}."


# ---------------------------------------------------------------------- the verdict


def terms_phrase(
    cost: float | None,
    names: Sequence[str],
    costs: Sequence[float],
    subsidies: Sequence[float],
    kind: SubsidyKind = "additive",
) -> str:
    """What applying costs each group (``cost`` if it is the same for all), and which subsidies there are."""
    costing = f"If applying costs {_costs_phrase(names, costs if cost is None else [cost] * len(names))}"
    form = percent if kind == "proportional" else amount_up
    paid = _by_text(names, subsidies, form)
    paid.pop(form(0), None)
    if not paid:
        return f"{costing},"
    if len(paid) > MAX_NAMED:
        return f"{costing}, with subsidies for {sum(map(len, paid.values()))} of {len(names)} groups,"
    unit = " of the cost" if kind == "proportional" else ""
    each = [
        f"{text}{unit} for {'every group' if len(whom) == len(names) > 1 else name_groups(whom)}"
        for text, whom in paid.items()
    ]
    return f"{costing}, with {'a subsidy' if len(each) == 1 else 'subsidies'} of {', of '.join(each)},"


def _costs_phrase(names: Sequence[str], costs: Sequence[float]) -> str:
    """The commonest cost, and those of the other groups."""
    by_text = _by_text(names, costs, short_percent)
    commonest = max(by_text, key=lambda text: len(by_text[text]))
    others = [f"{text} for {name_groups(whom)}" for text, whom in by_text.items() if text != commonest]
    if len(others) > MAX_NAMED:
        return f"{short_percent(min(costs))} to {short_percent(max(costs))} {WORTH}, depending on the group"
    return f"{commonest} {WORTH}" + (f" ({', '.join(others)})" if others else "")


def _by_text(names: Sequence[str], values: Sequence[float], form: Callable[[float], str]) -> dict[str, list[str]]:
    """Names by the text of their value, in the order of first mention."""
    texts: dict[str, list[str]] = {}
    for name, value in zip(names, values, strict=True):
        texts.setdefault(form(value), []).append(name)
    return texts


def verdict_sentence(
    cost: float | None,
    names: Sequence[str],
    shares: Sequence[float],
    result: Outcome,
    *,
    costs: Sequence[float],
    subsidies: Sequence[float],
    selected: Sequence[float],
    people: float,
    kind: SubsidyKind = "additive",
    confidence: float | None = None,
    behaviour: str | None = None,
    undecided: Sequence[bool] | None = None,
    ranges: Mapping[str, Any] | None = None,
    rejected: float | None = None,
    unqualified: Sequence[str] = (),
) -> str:
    """Who applies, and what follows.

    ``cost`` is that of all groups, or None if it differs. Then, of each group: its name, the share that applies, cost
    before subsidies, subsidy, and how many people pass screening. ``confidence`` is that of the lower bound that people
    go by, ``behaviour`` how they respond if they do not compare that, or the precision, with the cost. ``undecided``
    are groups whose interval includes their cost, with what follows over all their decisions (``ranges``); None if
    intervals do not change who applies. ``rejected`` is the share of qualified people who apply and do not pass,
    ``unqualified`` has groups in which nobody is qualified.
    """
    away = [z for z, share in enumerate(shares) if share < MAJORITY]
    open_ = [] if undecided is None else [z for z in range(len(names)) if undecided[z]]
    stay = [names[z] for z in away if selected[z] > 0 and z not in open_]
    shut = [names[z] for z in away if selected[z] == 0]
    who = _who(names, stay, [names[z] for z in open_], shut, shares, result)
    parts = [f"{terms_phrase(cost, names, costs, subsidies, kind)} {who}."]
    divided = any(0 < share < 1 for share in shares)
    staying = bool(open_) or len(away) > len(shut)
    depends = ranges if open_ else None
    parts.append(_numbers(result, None if divided else people, len(open_), depends, staying, bool(shut), rejected))
    if unqualified:
        parts.append(
            f"Nobody in {name_groups(unqualified)} counts as qualified: check whether the label is fair to them."
        )
    if behaviour is not None:
        parts.append(f"People are assumed to respond by {behaviour}.")
    elif confidence is not None:
        parts.append(
            f"People decide by a lower bound of precision ({level(confidence)} confidence, for each group by itself)."
        )
    untested = getattr(result, "untested", 0)
    if untested:
        were = "person was" if untested == 1 else "people were"
        parts.append(f"Some numbers are ranges because {count(untested)} {were} not tested.")
    if undecided is not None and any(selected):
        parts.append(_certainty(len(open_)))
    return " ".join(parts)


def _who(
    names: Sequence[str], stay: list[str], open_: list[str], shut: list[str], shares: Sequence[float], result: Outcome
) -> str:
    """Who applies, who stays away, and who could go either way."""
    if any(0 < share < 1 for share in shares):
        return f"{percent(result.application_rate)} of people apply"
    parts = []
    if not any(shares) and not open_:
        if not stay:
            return "nobody applies: nobody passes screening"
        parts.append("nobody applies")
    elif stay:
        parts.append(f"{several(stay, names)} {'stays' if len(stay) == 1 else 'stay'} away")
    if open_:
        parts.append(f"{several(open_, names)} could go either way")
    if shut:
        parts.append(f"nobody in {several(shut, names)} passes screening")
    others = len(names) - len(stay) - len(open_) - len(shut)
    if not parts:
        return "everybody applies"
    if others:
        parts.append("the other group applies" if others == 1 else f"the other {count(others)} groups apply")
    return "; ".join(parts)


def _numbers(
    result: Outcome,
    people: float | None,
    n_open: int,
    ranges: Mapping[str, Any] | None,
    staying: bool,
    shut: bool,
    rejected: float | None,
) -> str:
    """How many apply, accuracy among them and among everybody, and the qualified people who are lost."""
    numbers = result.to_dict()
    everybody = percent_or_bounds(numbers, "assumed_accuracy")
    if ranges is None:
        accuracy, social = (percent_or_bounds(numbers, name) for name in ("induced_accuracy", "social_cost"))
        low = high = result.application_rate
    else:
        accuracy, social = (range_text(*ranges[name]) for name in ("induced_accuracy", "social_cost"))
        low, high = ranges["application_rate"]
    compared = "the same as among everybody" if accuracy == everybody else f"against {everybody} among everybody"
    perhaps = ", if anybody applies," if low == 0 else ""
    text = f"accuracy among applicants (induced accuracy){perhaps} is {accuracy}, {compared}"
    if high == 0:
        text = "there is no accuracy among applicants"
    elif people is not None and low < 1:
        least, most = count(low * people), count(high * people)
        text = f"{least if least == most else f'{least} to {most}'} of {count(people)} people apply: {text}"
    if ranges is not None:
        text = f"depending on {'this group' if n_open == 1 else 'these groups'}, {text}"
    lost = "stay away or are shut out" if staying and shut else "are shut out" if shut else "stay away"
    lost = f"{social} of qualified people {lost} (social cost)"
    if math.isnan(result.social_cost) and not getattr(result, "untested", 0):
        lost = "nobody counts as qualified, so nobody qualified stays away"
    elif rejected is not None:
        span = percent(rejected) if ranges is None else range_text(*ranges["qualified_rejected"])
        lost += f", and {span} apply but are rejected"
    return f"{text[:1].upper()}{text[1:]}; {lost}."


def _certainty(n_open: int) -> str:
    """Which groups chance could change."""
    if not n_open:
        return "No 95% interval of precision includes the cost."
    return f"The 95% interval of precision of {'this group' if n_open == 1 else 'these groups'} includes the cost."


# ---------------------------------------------------------------------- groups


def group_status(selected: float, applies: bool, undecided: bool) -> str:
    """What a group does, in the words of charts and tables."""
    if not selected and not applies:
        return "nobody passes"
    if undecided:
        return "could go either way"
    return "applies" if applies else "stays away"


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
    undecided: bool = False,
    max_accepted_cost: float | None = None,
    confidence: float | None = None,
) -> str:
    """Whether a group is expected to apply, why, and what would change that.

    ``cost`` is after subsidies, ``subsidy_needed`` the least further subsidy at which the group applies, ``undecided``
    whether its interval includes the cost, and ``max_accepted_cost`` the highest cost at which it (or half of it)
    applies: by default its precision. With a ``confidence`` it is a lower bound of the precision. It is NaN if the
    group applies at no cost.
    """
    whom = name_groups([name])
    subject = capitalised(whom)
    some = f"{subject} applies" if share >= 1 else f"{percent(share)} of {whom} apply"
    none = f"{subject} stays away"
    if undecided:
        some = none = f"{subject} could go either way"
    limit = precision if max_accepted_cost is None else max_accepted_cost
    known = not math.isnan(limit)
    if selected == 0 and share > 0:
        return f"{some}, although nobody in it passes screening."
    if selected == 0 and not known:
        return f"Nobody in {whom} passes screening, so no subsidy can make it apply."
    qualified = f"{percent(precision)} of its people who pass screening are qualified"
    if share == 0 and not known:
        why = "nothing is guaranteed to it" if confidence is not None else "it would not apply at any cost"
        return f"{none}: {qualified}, but {why}, so no subsidy helps."
    if confidence is not None:
        sure = f"lower bound {percent(limit)}" if known else "nothing is guaranteed"
        qualified += f" ({sure})"
    why = f"{qualified}, and applying costs {short_percent(cost)}" if selected > 0 else "nobody in it passes screening"
    if share >= MAJORITY or (share > 0 and not known):
        return f"{some}: {why}."
    if share == 0 and precision == 0:
        return f"{none}: nobody who passes screening is qualified."
    who = "Half of it" if share > 0 else "It"
    subsidy = f"a {'further ' if subsidised else ''}subsidy of {amount_up(subsidy_needed)}"
    unit = " of the cost" if kind == "proportional" else ""
    return (
        f"{some if share > 0 else none}: {why}. {who} would apply at a cost of {short_percent_down(limit)} or less "
        f"({subsidy}{unit})."
    )


def group_warning(
    selected: float, precision_low: float, precision_high: float, cost: float, effective: float | None = None
) -> str:
    """Why the number of a group is uncertain; empty if it is not.

    With weights, ``effective`` is how many equally weighted people those who pass are worth.
    """
    if selected == 0:
        return ""
    if effective is not None and effective < FEW_SELECTED:
        worth = count(math.floor(effective * 10 + 0.5) / 10)
        return f"a rough estimate: those who pass count as only {worth} people"
    if effective is None and selected < FEW_SELECTED:
        return f"a rough estimate: only {count(selected)} {'person passes' if selected == 1 else 'people pass'}"
    if precision_low < cost <= precision_high:
        return "the 95% interval of precision includes the cost"
    return ""


# ---------------------------------------------------------------------- promises


def promises_sentence(
    names: Sequence[str],
    kept: Sequence[str],
    passed: Sequence[float],
    delivered: Sequence[float],
    costs: Sequence[float],
) -> str:
    """Whether new people of the groups that apply did as well as published; empty if no group applies.

    Of each group: whether the promise is kept ("yes", "no", "undecided", or empty if it stays away), how many new
    people pass screening, the share of them who are qualified, and the cost.
    """
    broken = [z for z, answer in enumerate(kept) if answer == "no"]
    yes, undecided = (sum(answer == end for answer in kept) for end in ("yes", "undecided"))
    promised = len(broken) + yes + undecided
    if not broken:
        return _kept_promises(yes, undecided)
    worst = max(broken, key=lambda z: costs[z] - delivered[z])
    parts = [f"New applicants from {name_groups([names[z] for z in broken])} did worse than published."]
    where = "" if len(broken) == 1 else f"The largest gap is in {name_groups([names[worst]])}: "
    parts.append(
        f"{where}{percent(delivered[worst])} of the {count(passed[worst])} who pass screening are qualified, and at "
        f"least {percent(costs[worst])} were needed (the probability of this by chance is below {level(RARE)})."
    )
    by_chance = math.floor(promised * RARE)
    if by_chance:
        parts.append(f"By chance alone, {count(by_chance)} of {count(promised)} groups may look like this.")
    if yes or undecided:
        parts.append(f"Other groups that apply: {count(yes)} as published, {count(undecided)} undecided.")
    return " ".join(parts)


def _kept_promises(yes: int, undecided: int) -> str:
    promised = yes + undecided
    groups = "the one group that applies" if promised == 1 else f"all {count(promised)} groups that apply"
    if not promised:
        return ""
    if not undecided:
        return f"New applicants did as well as published in {groups}."
    if not yes:
        return f"There are too few new applicants to tell whether they did as well as published in {groups}."
    return (
        f"New applicants did as well as published in {count(yes)} of {count(promised)} groups that apply; in the "
        "others there are too few to tell."
    )
