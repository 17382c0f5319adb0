"""Sentences about repeated deployment, and a picture of it in letters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..._formats import count, percent, short_percent
from .words import capitalised, name_groups

if TYPE_CHECKING:  # importing simulations would import all estimators
    from ...simulation import History

#: Columns of the picture, and of the table of shares on a page: more rounds are shown at even distances.
MAX_COLUMNS = 40
#: Letters for shares of at least so much.
SHADES = ((0.995, "#"), (0.5, "+"), (0.005, "-"), (0.0, "."))
KEY = "# all apply   + at least half   - fewer   . nobody"


def round_sentences(history: History) -> list[str]:
    """Who applies in the end, since when, what that does to accuracy and to qualified people, and what it costs."""
    if not len(history):
        return ["No round was simulated."]
    totals = history.totals()
    first, last, number = totals.iloc[0], totals.iloc[-1], len(history)
    when = "In the only round" if number == 1 else f"After {count(number)} rounds"
    sentences = [f"{when} {_who(history)}."]
    gone, back = _turned(history)
    for turned, verb in ((gone, "stayed away"), (back, "applied")):
        if turned:
            sentences.append(f"{capitalised(_since(turned, verb))}.")
    accuracy = [_or_none(row["induced_accuracy"]) for row in (first, last)]
    away = [_or_none(row["social_cost"]) for row in (first, last)]
    if number == 1:
        sentences.append(f"Accuracy among applicants (induced accuracy) is {accuracy[1]}.")
        sentences.append(f"Of qualified people, {away[1]} stay away (social cost).")
    else:
        for text, (before, after) in (
            ("Accuracy among applicants (induced accuracy) is {}", accuracy),
            ("Of qualified people, {} stay away (social cost)", away),
        ):
            then = ", as in the first round" if before == after else f", after {before} in the first round"
            sentences.append(f"{text.format(after)}{then if before != 'none' else ''}.")
    paid, explored = float(totals["subsidies"].sum()), float(totals["explored"].sum())
    if explored:
        sentences.append(f"Exploration tested {count(round(explored))} people who would not have been tested.")
    if paid:
        subsidised = any(one.subsidy.any() for one in history.rounds)
        what = "Subsidies and tests" if subsidised and explored else "Subsidies" if subsidised else "Its tests"
        sentences.append(f"{what} cost {count(round(paid))} in all, in units of what being hired is worth to a person.")
    return [*sentences, *([history.stopped] if history.stopped else [])]


def _or_none(share: float) -> str:
    return "none" if np.isnan(share) else percent(share)


def _who(history: History) -> str:
    shares = history.shares.to_numpy()[-1]
    most = [name for name, share in zip(history.names, shares, strict=True) if share >= 0.5]
    if not shares.any():
        return "nobody applies"
    if not most:
        return "less than half of every group applies"
    if len(most) == len(shares):
        return "every group applies" if len(most) > 1 else f"{name_groups(most)} applies"
    verb = "applies" if len(most) == 1 else "apply"
    return f"{name_groups(most)} {verb}, {count(len(most))} of {count(len(shares))} groups"


def _turned(history: History) -> tuple[dict[str, int], dict[str, int]]:
    """Groups that stay away at the end and did not always, and those that apply; each with the round since when."""
    applies = history.shares.to_numpy() >= 0.5
    turned: tuple[dict[str, int], dict[str, int]] = ({}, {})
    for i, name in enumerate(history.names):
        other = np.flatnonzero(applies[:, i] != applies[-1, i])
        if other.size:
            turned[int(applies[-1, i])][name] = int(other[-1]) + 2
    return turned


def _since(turned: dict[str, int], verb: str) -> str:
    """Which groups have done something since when, the first to do so first."""
    rounds: dict[int, list[str]] = {}
    for name, number in turned.items():
        rounds.setdefault(number, []).append(name)
    return "; ".join(
        f"{name_groups(names)} {'has' if len(names) == 1 else 'have'} {verb} since round {number}"
        for number, names in sorted(rounds.items())
    )


def shown_rounds(number: int) -> list[int]:
    """Rounds that a picture in letters shows: all, or some at even distances with the first and the last.

    Examples
    --------
    >>> shown_rounds(3)
    [1, 2, 3]
    >>> len(shown_rounds(1000))
    40
    """
    return sorted({int(i) for i in np.linspace(1, number, min(number, MAX_COLUMNS)).round()})


def letters(history: History, most: int = 20) -> list[dict[str, str]]:
    """Rows of the picture in letters: groups, the largest first if there are many, and a letter for each round."""
    shares, rounds = history.shares.to_numpy(), shown_rounds(len(history))
    size = history.counts.n[0]
    order = range(len(size)) if len(size) <= most else np.argsort(-size, kind="stable")[:most]
    title = f"round {rounds[0]} to {rounds[-1]}"
    return [
        {
            "group": history.names[i],
            title: "".join(next(letter for least, letter in SHADES if shares[t - 1, i] >= least) for t in rounds),
            "applies at the end": short_percent(shares[-1, i]),
        }
        for i in order
    ]
