"""Sentences about a trained model: who applies, who stays away, and whom the model rejects."""

from __future__ import annotations

import numpy as np

from ..._formats import count, percent
from ..._validation import BoolArray
from ...auditing import Audit
from ..pages import Opening
from .audits import audit_promises
from .words import bound_sentence, capitalised, compared_with, spoken, terms_phrase


def answers(audit: Audit, rejected: BoolArray) -> list[str]:
    """What each group does: "yes" (it applies), "no" (it stays away), or "rejected" (the model passes nobody)."""
    return [
        "yes" if share > 0 else "rejected" if out else "no" for share, out in zip(audit.shares, rejected, strict=True)
    ]


def training_verdict(audit: Audit, whose: str, rejected: BoolArray) -> str:
    """Who applies, who stays away and who is rejected, how accurate the model is, and whether promises are kept.

    ``whose`` names the people who are counted ("held-out people"). Of ``rejected`` groups, (almost) nobody passes.
    """
    answer = answers(audit, rejected)
    parts = [_who(audit, answer, whose), _accuracy(audit), _lost(audit, answer), audit_promises(audit)]
    return " ".join(filter(None, parts))


def _who(audit: Audit, answer: list[str], whose: str) -> str:
    groups = audit.published.groups
    terms = terms_phrase(
        audit.terms.uniform_cost,
        audit.names,
        audit.terms.listed_cost(groups).tolist(),
        audit.terms.subsidies_for(groups).tolist(),
        audit.terms.kind,
    )
    applying, away, out = (
        [name for name, given in zip(audit.names, answer, strict=True) if given == wanted]
        for wanted in ("yes", "no", "rejected")
    )
    total = audit.population.counts.n.sum()
    of_all = f"{count(round(float(audit.application_rate * total)))} of {count(total)} {whose}"
    who = "nobody is" if not applying else "everybody is" if len(applying) == len(audit.names) else _who_are(applying)
    parts = [f"{terms} {who} expected to apply: {of_all}."]
    if away and applying:
        parts.append(capitalised(f"{_who_are(away)} not expected to apply."))
    if out:
        parts.append(f"(Almost) nobody in {spoken(out)} passes screening.")
    if audit.terms.confidence is not None:
        parts.append(bound_sentence(audit.terms.confidence))
    return " ".join(parts)


def _accuracy(audit: Audit) -> str:
    if np.isnan(audit.induced_accuracy):
        return ""
    own, everybody = percent(audit.induced_accuracy), percent(audit.assumed_accuracy)
    return f"Accuracy among applicants is {own}, {compared_with(own, everybody)}."


def _lost(audit: Audit, answer: list[str]) -> str:
    """Share of the qualified that stays away, and that is rejected; together the social cost."""
    positives = audit.population.reindex(audit.published.groups).counts.positives
    parts = []
    for end, verb in (("no", "stay away"), ("rejected", "are rejected")):
        lost = sum(float(n) for n, given in zip(positives, answer, strict=True) if given == end)
        parts += [f"{percent(lost / float(positives.sum()))} {verb}"] if lost else []
    return f"Of qualified people, {' and '.join(parts)}." if parts else ""


def _who_are(names: list[str]) -> str:
    return f"{spoken(names)} {'is' if len(names) == 1 else 'are'}"


def training_note(trained_on: float, held_out: float, unseen: bool) -> str:
    """Whose counts are published, and whom the other numbers are about."""
    each = "; each of them was scored by a model fitted to others" if unseen else ""
    trained = f"the {count(trained_on)} people that the model was trained on{each}"
    if not held_out:
        return f"All numbers are about {trained}. Nobody was held out."
    return f"Published precision is about {trained}. All other numbers are about {count(held_out)} held-out people."


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
