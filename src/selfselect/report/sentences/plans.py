"""Sentences about a plan of subsidies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._formats import MOST_NAMED, amount, amount_up, count, level, listed, percent
from ...outcomes import Outcome

if TYPE_CHECKING:  # importing plans would import all estimators
    from ...planning import SubsidyPlan


def plan_sentences(plan: SubsidyPlan) -> list[str]:
    """The sentences of the verdict."""
    said = _without_payments(plan) if not (plan.subsidies > 0).any() else _with_payments(plan)
    if plan.path is not None and plan.impossible:
        said = _not_found(plan)
    return [*said, *_on_confidence(plan)]


def _not_found(plan: SubsidyPlan) -> list[str]:
    who, fits = listed(plan.impossible), len(plan.path) if plan.path is not None else 0
    said = (
        f"No subsidy was found that brings in {who} once the firm re-trains: in {count(fits)} fits, with up to the "
        "whole cost paid, it shut the group out each time."
    )
    return [said, *(_with_payments(plan) if (plan.subsidies > 0).any() else [])]


def _without_payments(plan: SubsidyPlan) -> list[str]:
    if plan.spending is None:
        hopeless = _on_impossible(plan)
        return [*hopeless, "No other target needs a subsidy." if hopeless else _nothing_needed(plan)]
    cheapest, budget = plan.spending.cheapest, amount(plan.spending.budget)
    if len(plan.targets):
        return [f"Of a budget of {budget} nothing is needed: {listed(_target_names(plan))} comes for nothing."]
    if cheapest is not None:
        return [
            f"A budget of {budget} brings nobody in: the cheapest group, {plan.before.names[cheapest]}, would take "
            f"{amount_up(plan.spending.price.iloc[cheapest])} (in units of what being hired is worth)."
        ]
    stays = [name for name, comes in zip(plan.before.names, plan.unpaid.applies, strict=True) if not comes]
    if not stays:
        return ["Every group applies already: nothing is paid."]
    if plan.path is not None:
        return [f"No use of a budget of {budget} was found that brings more people in once the firm re-trains."]
    hopeless = [name for name in stays if _passes_nobody(plan, name)]
    others = [name for name in stays if name not in hopeless]
    said = []
    if hopeless:
        said.append(f"No subsidy can bring in {listed(hopeless)}: nobody there passes screening.")
    if others:
        said.append(f"Nothing is paid to {listed(others)}: no target{'' if len(others) == 1 else 's'}.")
    return said


def _passes_nobody(plan: SubsidyPlan, name: str) -> bool:
    """Whether the model, as it is, passes nobody of a group."""
    return not plan.before.published.counts.selected[plan.before.names.index(name)]


def _nothing_needed(plan: SubsidyPlan) -> str:
    if plan.path is not None:
        return "The targets come once the firm re-trains, without any subsidy."
    return "The targets apply already: no subsidy."


def _with_payments(plan: SubsidyPlan) -> list[str]:
    paid = [
        f"{name} {amount_up(value)}" + (" of the cost" if plan.subsidy_kind == "proportional" else "")
        for name, value in zip(plan.before.names, plan.subsidies, strict=True)
        if value > 0
    ]
    old, new = plan.unpaid.outcome, plan.after.outcome
    told = [
        *(_on_impossible(plan) if plan.path is None else []),
        f"{_title(plan)}: {listed(paid) if len(paid) <= MOST_NAMED else f'{len(paid)} groups are paid'}.",
        f"{count(plan.recipients)} people receive {'them' if len(paid) > 1 or plan.spending is None else 'it'}, "
        f"{amount(plan.total)} in all (in units of what being hired is worth).",
        f"{_compared_with(plan)}ocial cost {_change(old, new, 'social_cost')}, accuracy on those who apply "
        f"{_change(old, new, 'induced_accuracy')}.",
    ]
    if plan.driven_out:
        told.append(f"It drives out {listed(plan.driven_out)}: no better was found.")
    if plan.spending is not None and plan.path is None and not plan.spending.exact:
        told.append("It is not shown that no other use is better.")
    return told


def _compared_with(plan: SubsidyPlan) -> str:
    """How the sentence on what subsidies do begins; re-training's own part is not theirs."""
    if plan.retrained is None:
        return "S"
    return "Compared with a firm that re-trains and pays nothing, s"


def _on_impossible(plan: SubsidyPlan) -> list[str]:
    if not plan.impossible:
        return []
    return [
        f"No subsidy can bring in {listed(plan.impossible)}: nobody there passes screening, so there is nothing to "
        "be hired from; a lower threshold might."
    ]


def _on_confidence(plan: SubsidyPlan) -> list[str]:
    if not (plan.subsidies > 0).any():
        return []
    if plan.confidence is None and plan.path is not None:
        return []
    if plan.confidence is None:
        return [
            "They are just enough: whoever is paid sits on the boundary, where chance decides; to be surer takes "
            "more (a confidence can be asked for)."
        ]
    return [
        "They reach up to the lower bound of precision: the true precision of a group reaches what it faces then "
        f"with a probability of {level(plan.confidence)}, if new people are like these."
    ]


def _target_names(plan: SubsidyPlan) -> list[str]:
    return [name for name, is_target in zip(plan.before.names, plan.is_target, strict=True) if is_target]


def _title(plan: SubsidyPlan) -> str:
    if plan.spending is not None:
        found = "Best use" if plan.path is None else "Best use found, once the firm re-trains,"
        return f"{found} of a budget of {amount(plan.spending.budget)}"
    return "Least subsidies" if plan.path is None else "Subsidies that still work after the firm re-trains"


def _change(old: Outcome, new: Outcome, name: str) -> str:
    before, after = percent(getattr(old, name)), percent(getattr(new, name))
    return f"stays {before}" if before == after else f"goes from {before} to {after}"
