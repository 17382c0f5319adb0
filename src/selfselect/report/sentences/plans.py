"""Sentences about a plan of subsidies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._formats import MAX_NAMED, amount, amount_up, count, level, listed
from .words import capitalised, name_groups, percent_or_bounds

if TYPE_CHECKING:  # importing plans would import all estimators
    from ...planning import SubsidyPlan

#: What to ask before groups are treated differently.
BY_GROUP = (
    "These subsidies depend on the group. Where the group is protected by law (sex, race, age, ...) this may be "
    "unlawful: ask a lawyer first."
)
#: The unit of payments.
UNIT = "1 is what being selected is worth to one person"


def plan_sentences(plan: SubsidyPlan) -> list[str]:
    """Who is paid, what that changes and how sure it is; the first sentence is a headline."""
    paid = bool((plan.subsidies > 0).any())
    sentences = _impossible(plan)
    sentences += _payments(plan) if paid else [] if sentences and plan.path is not None else _no_payments(plan)
    return [*sentences, *(_safety(plan) if paid else [])]


def plan_warnings(plan: SubsidyPlan) -> list[str]:
    """What to think of before anybody is paid."""
    paid = (plan.subsidies > 0).to_numpy()
    applied = [
        name for name, is_paid, was in zip(plan.before.names, paid, plan.before.applies, strict=True) if is_paid and was
    ]
    warnings = []
    if applied and plan.path is not None:
        warnings.append(
            f"{capitalised(name_groups(applied))} {'applies' if len(applied) == 1 else 'apply'} to the present model "
            "without a subsidy. It is the re-training that would lose them: keeping the present model costs nothing."
        )
    return [*warnings, *([BY_GROUP] if paid.any() else [])]


def _impossible(plan: SubsidyPlan) -> list[str]:
    if not plan.impossible:
        return []
    who = name_groups(plan.impossible)
    if plan.path is None:
        if plan.before.published.counts.selected[plan.subsidies.isna().to_numpy()].any():
            return [f"No subsidy can make {who} apply, not even one of the whole cost."]
        return [f"No subsidy can make {who} apply, because nobody there passes screening. A lower threshold might."]
    return [
        f"No subsidy was found that makes {who} apply once the firm re-trains: {count(len(plan.path))} models were "
        "tried, with up to the whole cost paid."
    ]


def _no_payments(plan: SubsidyPlan) -> list[str]:
    if plan.spending is None:
        if plan.impossible:
            return ["No other target needs a subsidy."]
        if plan.path is not None:
            return ["Once the firm has re-trained, the targets apply without a subsidy."]
        undecided = plan.before.undecided
        near = (
            []
            if undecided is None
            else [
                name
                for name, is_near, target in zip(plan.before.names, undecided, plan.is_target, strict=True)
                if is_near and target
            ]
        )
        if near:
            return [
                f"{capitalised(name_groups(near))} could go either way: in these data the targets apply without a "
                "subsidy. To be safe, plan with a confidence (--confidence 0.9)."
            ]
        return ["The targets apply already, so no subsidy is needed."]
    cheapest, budget = plan.spending.cheapest, amount(plan.spending.budget)
    if len(plan.targets):
        targets = [name for name, is_target in zip(plan.before.names, plan.is_target, strict=True) if is_target]
        return [f"The budget of {budget} is not needed: bringing in {name_groups(targets)} costs nothing."]
    if cheapest is not None:
        price = amount_up(plan.spending.price.iloc[cheapest])
        return [
            f"A budget of {budget} brings nobody in. The cheapest group, {plan.before.names[cheapest]}, needs {price} "
            f"({UNIT})."
        ]
    rows = zip(plan.before.names, plan.unpaid.applies, plan.before.published.counts.selected, strict=True)
    stay = [(name, selected) for name, applies, selected in rows if not applies]
    if not stay:
        return ["Every group applies already, so nothing is paid."]
    if plan.path is not None:
        return [f"No use of a budget of {budget} was found that brings more people in once the firm re-trains."]
    shut, others = [name for name, n in stay if not n], [name for name, n in stay if n]
    sentences = (
        [f"No subsidy can make {name_groups(shut)} apply, because nobody there passes screening."] if shut else []
    )
    return sentences + ([f"Nothing is paid to {name_groups(others)}: only targets are paid."] if others else [])


def _payments(plan: SubsidyPlan) -> list[str]:
    unit = " of the cost" if plan.subsidy_kind == "proportional" else ""
    paid = [
        f"{amount_up(value)}{unit} for {name_groups([name])}"
        for name, value in zip(plan.before.names, plan.subsidies, strict=True)
        if value > 0
    ]
    subsidies = listed(paid) if len(paid) <= MAX_NAMED else f"see the table for {count(len(paid))} groups"
    one, several = ("row receives", "rows receive") if plan.repeated else ("person receives", "people receive")
    people = f"{count(plan.recipients)} {one if plan.recipients == 1 else several}"
    compared = "The" if plan.retrained is None else "Compared with re-training alone, the"
    sentences = [
        f"{_title(plan, len(paid) == 1)} {subsidies}{_chance(plan)}.",
        f"{people} {amount(plan.total)} in all ({UNIT})"
        + ("; a person is paid for each row that passes." if plan.repeated else "."),
        f"{compared} share of qualified people who stay away {_change(plan, 'social_cost')}, and accuracy among "
        f"applicants {_change(plan, 'induced_accuracy')}{', if the subsidies are enough' if _chance(plan) else ''}.",
    ]
    if plan.driven_out:
        sentences.append(f"As a result {name_groups(plan.driven_out)} no longer applies. No better plan was found.")
    if plan.spending is not None and plan.path is None and not plan.spending.exact:
        sentences.append("A better use may exist: the search stopped early.")
    return sentences


def _title(plan: SubsidyPlan, one: bool) -> str:
    smallest = "Smallest subsidy" if one else "Smallest subsidies"
    if plan.spending is None:
        return f"{smallest}:" if plan.path is None else f"{smallest} found once the firm re-trains:"
    best, retrains = ("Best use", "") if plan.path is None else ("Best use found", " once the firm re-trains")
    subsidies = "a subsidy of" if one else "subsidies of"
    return f"{best} of a budget of {amount(plan.spending.budget)}{retrains}: {subsidies}"


def _change(plan: SubsidyPlan, name: str) -> str:
    before, after = (percent_or_bounds(audit.outcome.to_dict(), name) for audit in (plan.unpaid, plan.after))
    return f"stays at {before}" if before == after else f"goes from {before} to {after}"


def _chance(plan: SubsidyPlan) -> str:
    """How sure the subsidies are to be enough, if that is not for sure."""
    return "" if plan.confidence is not None or plan.path is not None else ", with about a 50% chance to be enough"


def _safety(plan: SubsidyPlan) -> list[str]:
    """How sure the subsidies are to be enough, and what would be safer."""
    if plan.confidence is not None:
        sure = level(plan.confidence)
        return [f"Each subsidised group gets enough with {sure} confidence, if new people are like these."]
    return ["For a safer amount, plan with a confidence (--confidence 0.9)."] if _chance(plan) else []
