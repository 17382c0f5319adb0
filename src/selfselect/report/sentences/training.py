"""Sentences about a trained model: who applies, who stays away, and whom the model rejects."""

from __future__ import annotations

import numpy as np

from ..._formats import amount, count, level, listed, percent
from ..._validation import BoolArray
from ...auditing import Audit
from ..pages import Opening
from .audits import audit_promises


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
    At a cost of 0.50, A applies: 4 of 8 people. B is rejected: the model passes nobody of it, or next to nobody. The
    model is right for 100.0% of those who apply (75.0% of all). Of those who are qualified, 50.0% are rejected.
    """
    answer = answers(audit, rejected)
    parts = [_who(audit, answer, whose), _rejections(audit, answer), _accuracy(audit), _lost(audit, answer)]
    return " ".join(part for part in [*parts, audit_promises(audit)] if part)


def _who(audit: Audit, answer: list[str], whose: str) -> str:
    cost = audit.terms.uniform_cost
    at = "At the costs given," if cost is None else f"At a cost of {amount(cost)},"
    if audit.terms.confidence is not None:
        at += f" for people who go by the lower bound of precision (at {level(audit.terms.confidence)}),"
    applying, away = _named(audit, answer, "yes"), _named(audit, answer, "no")
    stay = f" {listed(away)} {'stays' if len(away) == 1 else 'stay'} away." if away else ""
    total = audit.population.counts.n.sum()
    of_all = f"{count(round(float(audit.application_rate * total)))} of {count(total)} {whose}"
    if not applying:
        return f"{at} nobody applies, of {count(total)} {whose}.{stay}"
    if len(applying) == len(audit.names) > 1:
        return f"{at} all {len(applying)} groups apply: {of_all}."
    return f"{at} {listed(applying)} {'applies' if len(applying) == 1 else 'apply'}: {of_all}.{stay}"


def _rejections(audit: Audit, answer: list[str]) -> str:
    out = _named(audit, answer, "rejected")
    if not out:
        return ""
    one = len(out) == 1
    return (
        f"{listed(out)} {'is' if one else 'are'} rejected: the model passes nobody of {'it' if one else 'them'}, or "
        "next to nobody."
    )


def _accuracy(audit: Audit) -> str:
    if np.isnan(audit.induced_accuracy):
        return ""
    own, everybody = percent(audit.induced_accuracy), percent(audit.assumed_accuracy)
    if audit.application_rate == 1:
        return f"The model is right for {everybody} of them."
    return f"The model is right for {own} of those who apply ({everybody} of all)."


def _lost(audit: Audit, answer: list[str]) -> str:
    """Share of the qualified that stays away, and that is rejected; together the social cost."""
    positives = audit.population.spread_over(audit.published.groups).counts.positives
    told = []
    for end, verb in (("no", "stay away"), ("rejected", "are rejected")):
        lost = sum(float(n) for n, given in zip(positives, answer, strict=True) if given == end)
        told += [f"{percent(lost / float(positives.sum()))} {verb}"] if lost else []
    return f"Of those who are qualified, {' and '.join(told)}." if told else ""


def _named(audit: Audit, answer: list[str], wanted: str) -> list[str]:
    return [name for name, given in zip(audit.names, answer, strict=True) if given == wanted]


def training_note(trained_on: float, held_out: float, unseen: bool) -> str:
    """Whom the model was trained on, whose counts are published, and whom the numbers are about."""
    each = ", each scored by a model that was not fitted to them" if unseen else ""
    trained = f"Trained on {count(trained_on)} people; what is published is about them{each}."
    if not held_out:
        return f"{trained} So is everything below: nobody was held out."
    return f"{trained} Everything else below is about {count(held_out)} held-out people, whom the model has not seen."


def training_opening(audit: Audit, trained_on: float, held_out: float, unseen: bool) -> Opening:
    """What the report of a trained model says first."""
    each = ", each scored by a model that was not fitted to them" if unseen else ""
    trained = f"{count(trained_on)} people the model was trained on{each}"
    if not held_out:
        told = f"Everything on this page is about the {trained}: nobody was held out."
        return Opening("A trained model: who will apply", paragraphs=(told,), published="people it was trained on")
    counts = audit.published.counts
    out = [name for name, passed in zip(audit.names, counts.selected, strict=True) if not passed]
    told = (
        f"What is published, and so who applies, comes from the {trained}. Whether the model is right, who is lost and "
        f"which promises are kept is judged by {count(held_out)} held-out people, whom it has not seen."
    )
    rejected = (f"The model rejects everybody of {listed(out)}.",) if out else ()
    return Opening(
        "A trained model: who will apply",
        paragraphs=(told, *rejected),
        published="training people",
        counted="held-out people",
    )
