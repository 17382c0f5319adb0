"""What became of a trained model, in sentences: who applies, who stays away, and whom the model rejects."""

from __future__ import annotations

import numpy as np

from .._validation import BoolArray
from ..auditing import Audit
from ..auditing.formats import amount, count, level, listed, percent
from ..auditing.words import promises_sentence
from .model_checks import rejected


def rejected_groups(found: Audit) -> BoolArray:
    """Groups, in the order of what is published, of which (next to) nobody passes by what is published."""
    return rejected(found.published.counts)


def answers(found: Audit) -> list[str]:
    """What each group does: "yes" (it applies), "no" (it stays away), or "rejected" (it has nothing to apply for)."""
    return [
        "yes" if share > 0 else "rejected" if out else "no"
        for share, out in zip(found.shares, rejected_groups(found), strict=True)
    ]


def headline(found: Audit, whose: str) -> str:
    """Who applies, who stays away and who is rejected, how accurate the model is, and what became of promises.

    Parameters
    ----------
    found : Audit
        Of a trained model.
    whose : str
        What the people are called whose accuracy is counted: "held-out people".

    Examples
    --------
    >>> from selfselect import audit
    >>> found = audit([1, 0] * 4, y_pred=[1, 0] * 2 + [0] * 4, sensitive_features=["A"] * 4 + ["B"] * 4, cost=0.5)
    >>> print(headline(found, "people"))
    At a cost of 0.50, A applies: 4 of 8 people. B is rejected: the model passes nobody of it, or next to nobody. The
    model is right for 100.0% of those who apply (75.0% of all). Of those who are qualified, 50.0% are rejected.
    """
    parts = [_who(found, whose), _rejections(found), _accuracy(found), _lost(found)]
    if found.of_new_people:
        parts.append(_promises(found))
    return " ".join(part for part in parts if part)


def _who(found: Audit, whose: str) -> str:
    cost = found.terms.uniform_cost
    at = "At the costs given," if cost is None else f"At a cost of {amount(cost)},"
    if found.terms.confidence is not None:
        at += f" for people who go by the lower bound of precision (at {level(found.terms.confidence)}),"
    applying = _named(found, "yes")
    total = found.population.counts.n.sum()
    of_all = f"{count(round(float(found.application_rate * total)))} of {count(total)} {whose}"
    if not applying:
        return f"{at} nobody applies, of {count(total)} {whose}.{_away(found)}"
    if len(applying) == len(found.names) > 1:
        return f"{at} all {len(applying)} groups apply: {of_all}."
    return f"{at} {listed(applying)} {_verb(applying, 'applies', 'apply')}: {of_all}.{_away(found)}"


def _away(found: Audit) -> str:
    away = _named(found, "no")
    return f" {listed(away)} {_verb(away, 'stays', 'stay')} away." if away else ""


def _rejections(found: Audit) -> str:
    out = _named(found, "rejected")
    if not out:
        return ""
    is_rejected = _verb(
        out, "is rejected: the model passes nobody of it", "are rejected: the model passes nobody of them"
    )
    return f"{listed(out)} {is_rejected}, or next to nobody."


def _accuracy(found: Audit) -> str:
    if np.isnan(found.induced_accuracy):
        return ""
    own, everybody = percent(found.induced_accuracy), percent(found.assumed_accuracy)
    if found.application_rate == 1:
        return f"The model is right for {everybody} of them."
    return f"The model is right for {own} of those who apply ({everybody} of all)."


def _lost(found: Audit) -> str:
    """Share of the qualified that stays away, and that is rejected; together the social cost."""
    groups, counts = found.population.groups, found.population.counts
    answer = dict(zip(found.published.groups, answers(found), strict=True))
    qualified = counts.positives.sum()
    if not qualified:
        return ""
    ends = [("no", "stay away"), ("rejected", "are rejected")]
    told = []
    for end, verb in ends:
        lost = sum(float(counts.positives[i]) for i, label in enumerate(groups) if answer[label] == end)
        told += [f"{percent(lost / float(qualified))} {verb}"] if lost else []
    return f"Of those who are qualified, {' and '.join(told)}." if told else ""


def _promises(found: Audit) -> str:
    groups, became = found.published.groups, found.promises()
    return promises_sentence(
        found.names,
        became["promise_kept"].tolist(),
        found.population.spread_over(groups).counts.selected.tolist(),
        became["delivered"].tolist(),
        found.terms.effective_cost(groups).tolist(),
    )


def _named(found: Audit, answer: str) -> list[str]:
    return [name for name, said in zip(found.names, answers(found), strict=True) if said == answer]


def _verb(names: list[str], one: str, several: str) -> str:
    return one if len(names) == 1 else several
