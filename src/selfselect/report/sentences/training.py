"""Sentences about a trained model: who applies, who stays away, and whom the model rejects."""

from __future__ import annotations

import numpy as np

from ..._formats import count, level, percent
from ..._validation import BoolArray
from ...auditing import Audit
from ..pages import Opening
from .audits import audit_promises
from .words import capitalised, spoken, terms_phrase


def answers(audit: Audit, rejected: BoolArray) -> list[str]:
    """What each group does: "yes" (it applies), "no" (it stays away), or "rejected" (the model passes nobody)."""
    return [
        "yes" if share > 0 else "rejected" if out else "no" for share, out in zip(audit.shares, rejected, strict=True)
    ]


def training_verdict(audit: Audit, whose: str, rejected: BoolArray) -> str:
    """Who applies, who stays away and who is rejected, how accurate the model is, and whether promises are kept.

    Parameters
    ----------
    audit : Audit
        Audit of the trained model.
    whose : str
        Who the people are whose accuracy is counted: "held-out people".
    rejected : ndarray of bool of shape (n_groups,)
        Groups of which the model passes (next to) nobody.

    Examples
    --------
    >>> from selfselect import audit
    >>> made = audit([1, 0] * 4, y_pred=[1, 0] * 2 + [0] * 4, sensitive_features=["A"] * 4 + ["B"] * 4, cost=0.5)
    >>> print(training_verdict(made, "people", np.array([False, True])))
    If applying costs 50% of what being selected is worth, A is expected to apply: 4 of 8 people. (Almost)
    nobody in B passes screening. Accuracy among applicants is 100.0%, against 75.0% among everybody. Of qualified
    people, 50.0% are rejected.
    """
    answer = answers(audit, rejected)
    parts = [_who(audit, answer, whose), _accuracy(audit), _lost(audit, answer)]
    return " ".join(part for part in [*parts, audit_promises(audit)] if part)


def _who(audit: Audit, answer: list[str], whose: str) -> str:
    groups = audit.published.groups
    terms = terms_phrase(
        audit.terms.uniform_cost,
        audit.names,
        audit.terms.listed_cost(groups).tolist(),
        audit.terms.subsidies_for(groups).tolist(),
        audit.terms.kind,
    )
    applying, away, out = (_named(audit, answer, wanted) for wanted in ("yes", "no", "rejected"))
    total = audit.population.counts.n.sum()
    of_all = f"{count(round(float(audit.application_rate * total)))} of {count(total)} {whose}"
    who = spoken(applying) if len(applying) < len(audit.names) else "everybody"
    parts = [f"{terms} {who} {_be(applying) if who != 'everybody' else 'is'} expected to apply: {of_all}."]
    if not applying:
        parts = [f"{terms} nobody is expected to apply: 0 of {count(total)} {whose}."]
    if away and applying:
        parts.append(capitalised(f"{spoken(away)} {_be(away)} not expected to apply."))
    if out:
        parts.append(f"(Almost) nobody in {spoken(out)} passes screening.")
    if audit.terms.confidence is not None:
        sure = level(audit.terms.confidence)
        parts.append(f"People are assumed to go by a lower bound of precision ({sure} confidence).")
    return " ".join(parts)


def _accuracy(audit: Audit) -> str:
    if np.isnan(audit.induced_accuracy):
        return ""
    own, everybody = percent(audit.induced_accuracy), percent(audit.assumed_accuracy)
    compared = "the same as among everybody" if own == everybody else f"against {everybody} among everybody"
    return f"Accuracy among applicants is {own}, {compared}."


def _lost(audit: Audit, answer: list[str]) -> str:
    """Share of the qualified that stays away, and that is rejected; together the social cost."""
    positives = audit.population.reindex(audit.published.groups).counts.positives
    parts = []
    for end, verb in (("no", "stay away"), ("rejected", "are rejected")):
        lost = sum(float(n) for n, given in zip(positives, answer, strict=True) if given == end)
        parts += [f"{percent(lost / float(positives.sum()))} {verb}"] if lost else []
    return f"Of qualified people, {' and '.join(parts)}." if parts else ""


def _named(audit: Audit, answer: list[str], wanted: str) -> list[str]:
    return [name for name, given in zip(audit.names, answer, strict=True) if given == wanted]


def _be(names: list[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _trained(trained_on: float, unseen: bool) -> str:
    each = ", each scored by a model that was fitted to others" if unseen else ""
    return f"{count(trained_on)} people that the model was trained on{each}"


def training_note(trained_on: float, held_out: float, unseen: bool) -> str:
    """Whose counts are published, and whom the other numbers are about."""
    trained = _trained(trained_on, unseen)
    if not held_out:
        return f"All numbers are about the {trained}. Nobody was held out."
    return (
        f"Published precision is about the {trained}. All other numbers are about {count(held_out)} held-out people, "
        "whom the model has not seen."
    )


def training_opening(audit: Audit, trained_on: float, held_out: float, unseen: bool) -> Opening:
    """What the report of a trained model says first."""
    shut = [name for name, n in zip(audit.names, audit.published.counts.selected, strict=True) if not n]
    rejected = (f"Nobody in {spoken(shut)} passes screening.",) if shut and held_out else ()
    return Opening(
        "A trained model: who will apply",
        paragraphs=(training_note(trained_on, held_out, unseen), *rejected),
        published="training people" if held_out else "people it was trained on",
        counted="held-out people" if held_out else "",
    )
