"""What looks wrong with a table, before anybody is misled by what is computed from it.

Small functions over columns and counts, each of which gives findings: what was found, how grave it is, and what to do.
None of them reads the table again, and none takes longer than sorting a column.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import rankdata

from .._formats import count, listed, percent
from .._text import shown
from .._validation import BoolArray, FloatArray
from ..auditing import ScreeningResult, group_names
from ..counting import MISSING, GroupCounts
from ..publishing import PublishedStatistics, ThresholdCurves
from .checking import is_missing, numbers_or_missing
from .chunks import TextArray, listing
from .encoding import useless

Severity: TypeAlias = Literal["error", "warning", "hint"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "hint")

#: Fewer rows say too little to be suspicious of.
ENOUGH_ROWS = 50
#: Of so few rows, groups may well be as many as people.
FEW_ROWS = 20
#: In a group of fewer people, whatever is published is chance.
FEWEST_PEOPLE = 10
#: A column that orders people by their label as well as this says the label again.
NEARLY_THE_LABEL = 0.99
#: And a column to learn from, which may know what came later, already if it does so as well as this.
SUSPICIOUSLY_NEAR = 0.95
#: How far from chance, at least and in standard errors, a score must be to be held for one that runs the other way.
WRONG_WAY, STANDARD_ERRORS = 0.02, 3.0
#: Columns of more different texts than this share of rows look like names.
NEARLY_UNIQUE = 0.5
#: Columns of which so many cells are dates are columns of dates.
MOSTLY = 0.9
#: Rows of a column that are looked at, evenly spread, where there are more.
MOST_ROWS = 50_000
#: Cells and names that a finding shows.
MOST_SHOWN = 5
#: Words for a group that is not known, whatever the case of their letters.
UNKNOWN = frozenset(
    "na n/a n.a. nan null none nil ? - -- . unknown missing unspecified undefined #n/a not_available".split()
) | {"not available", "not known", "not stated", "no data", "no answer", "prefer not to say"}
DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([ T]\d.*)?"  # 2024-01-31
    r"|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2})( \d.*)?"  # 31.01.2024
    r"|\d{1,2}[ -][A-Za-z]{3,9}[ -]\d{2,4}"  # 31 Jan 2024
    r"|(19|20)\d\d[-/.](0[1-9]|1[0-2])"  # 2024-01
    r"|(19|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])"  # 20240131
)
#: Names of columns that number people.
NUMBERING = re.compile(r"(.*[_\s.-])?(id|nr|no|num|number|key|uuid|guid|index)|.*[a-z]I[dD]", re.IGNORECASE)


@dataclass(frozen=True)
class Finding:
    """Something that looks wrong.

    Attributes
    ----------
    key : str
        What it is; whoever shows it may name the argument or option that settles it.
    severity : {"error", "warning", "hint"}
        Whether nothing should be computed, whether what is computed would mislead, or whether it is good to know.
    text : str
        What was found, in a sentence.
    advice : str
        What to do about it.
    details : dict
        What a more helpful message may be made of.
    """

    key: str
    severity: Severity
    text: str
    advice: str = ""
    details: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.text} {self.advice}".rstrip()


# ---------------------------------------------------------------------- columns and labels


def suspect_columns(label: str, groups: Sequence[str], model: str | None = None) -> list[Finding]:
    """Columns that are named for two things.

    Examples
    --------
    >>> [finding.key for finding in suspect_columns("hired", ["hired"])]
    ['label_is_group']
    """
    found = []
    if label in groups:
        text = f"The label and the groups are the same column {shown(label)}."
        found.append(Finding("label_is_group", "error", text, "Name another column for the groups."))
    if model == label:
        text = f"The model is judged by its own column: {shown(label)} is both the label and what the model says."
        found.append(Finding("label_is_model", "warning", text, "Name the column of what turned out."))
    return found


def suspect_labels(column: str, qualified: Sequence[str], others: Sequence[str]) -> list[Finding]:
    """Labels of more than two values: what is not named as qualified counts as not qualified.

    Examples
    --------
    >>> print(*suspect_labels("end", ["promoted"], ["left", "stayed"]))
    Column 'end' holds 3 values: 'promoted' counts as qualified, 'left', 'stayed' as not. Name every value that means
    qualified.
    """
    if len(qualified) + len(others) <= 2:
        return []
    text = (
        f"Column {shown(column)} holds {len(qualified) + len(others)} values: {listing(list(qualified), MOST_SHOWN)} "
        f"{'counts' if len(qualified) == 1 else 'count'} as qualified, {listing(list(others), MOST_SHOWN)} as not."
    )
    return [Finding("more_labels", "hint", text, "Name every value that means qualified.")]


# ---------------------------------------------------------------------- people and groups


def _worth(counts: GroupCounts) -> FloatArray:
    """People of each group; where they have weights, as many equally weighted ones as they are worth."""
    return np.asarray(counts.n * counts.worth, dtype=np.float64)


def suspect_people(table: PublishedStatistics, label: str) -> list[Finding]:
    """Labels that all say the same, and groups that are none."""
    n, positives = table.counts.n, table.counts.positives
    if not (positives + table.counts.unknown).any() or (positives == n).all():
        who = "Nobody" if not positives.any() else "Everybody"
        text = f"{who} is qualified by column {shown(label)}: there is nothing to tell people apart by."
        return [Finding("one_label", "warning", text, "Look whether it is the right column, and the right value.")]
    found = list(_as_many_as_people(table)) or list(_label_again(table, label))
    return [*found, *_differ_by_case(table), *_unknown(table), *(_small(table) if not found else ())]


def _as_many_as_people(table: PublishedStatistics) -> Iterator[Finding]:
    people, groups = float(_worth(table.counts).sum()), len(table.groups)
    if people >= FEW_ROWS and groups > people / 2:
        text = f"There are {count(groups)} groups of {count(people)} people: hardly two people share one."
        yield Finding("groups_of_one", "error", text, "Name a column that many people share, or merge its values.")


def _label_again(table: PublishedStatistics, label: str) -> Iterator[Finding]:
    if not table.counts.is_known:
        return
    n, positives = table.counts.n, table.counts.positives
    pure = (positives == 0) | (positives == n)
    if pure.all() and len(n) <= n.sum() / FEWEST_PEOPLE and n.sum() >= FEW_ROWS:
        text = f"Of each group either everybody or nobody is qualified: the groups say the same as the label {label!r}."
        yield Finding("group_is_label", "warning", text, "Name a column of who people are, not of what became of them.")


def _differ_by_case(table: PublishedStatistics) -> Iterator[Finding]:
    names, n = group_names(table.groups), table.counts.n
    alike = pd.Series([" ".join(name.split()).casefold() for name in names])
    for same in alike[alike.duplicated(keep=False)].groupby(alike).groups.values():
        several = [int(i) for i in same]
        largest = max(several, key=lambda i: float(n[i]))
        told = listed([f"{shown(names[i])} ({count(n[i])} people)" for i in several], MOST_SHOWN)
        yield Finding(
            "case_of_groups",
            "warning",
            f"{told} differ by case or blanks only, and count as {len(several)} groups.",
            f"If they are one, write {shown(names[largest])} in every row.",
        )


def suspect_names(first: Sequence[str], second: Sequence[str]) -> list[Finding]:
    """Groups of two tables that differ by case or blanks only.

    Examples
    --------
    >>> print(*suspect_names(["North", "South"], ["north", "South"]))
    'North' in the first table and 'north' in the second differ by case or blanks only, and count as two groups. If they
    are one, write it alike in both.
    """
    plain = {" ".join(name.split()).casefold(): name for name in first}
    found = []
    for name in second:
        other = plain.get(" ".join(name.split()).casefold())
        if other is not None and name not in first and other not in second:
            text = (
                f"{shown(other)} in the first table and {shown(name)} in the second differ by case or blanks only, and "
                "count as two groups."
            )
            found.append(Finding("case_of_groups", "warning", text, "If they are one, write it alike in both."))
    return found


def _unknown(table: PublishedStatistics) -> Iterator[Finding]:
    several = table.groups.nlevels > 1
    n = table.counts.n
    odd = [
        i
        for i, label in enumerate(table.groups)
        if any(_is_unknown(str(part)) for part in (label if several else (label,)))
    ]
    if odd:
        names = group_names(table.groups)
        told = listed([f"{shown(names[i])} ({count(n[i])} people)" for i in odd], MOST_SHOWN)
        text = f"{told} {'reads' if len(odd) == 1 else 'read'} like a group that is not known, and counts as one."
        yield Finding("unknown_group", "warning", text, "Empty such cells, or drop these rows, if nothing is known.")


def _is_unknown(text: str) -> bool:
    return text != MISSING and text.strip().casefold() in UNKNOWN


def _small(table: PublishedStatistics) -> Iterator[Finding]:
    n = _worth(table.counts)
    if n.sum() < ENOUGH_ROWS:
        return
    small = np.flatnonzero((n > 0) & (n < FEWEST_PEOPLE))
    if small.size:
        names = group_names(table.groups)
        told = listed([f"{names[i]} ({count(n[i])})" for i in small], MOST_SHOWN)
        have = "has" if small.size == 1 else "have"
        text = f"{told} {have} fewer than {FEWEST_PEOPLE} people: whatever is published about so few is chance."
        yield Finding("small_groups", "warning", text, "Merge them with others, or leave them out.")


# ---------------------------------------------------------------------- scores and decisions


def suspect_score(people: ScreeningResult, name: str) -> list[Finding]:
    """Scores that run the wrong way or say the label again, and thresholds that tell nobody apart.

    Examples
    --------
    >>> people = ScreeningResult.from_scores([1] * 30 + [0] * 30, [0.2] * 30 + [0.8] * 30)
    >>> print(*suspect_score(people, "risk"))
    The score 'risk' is higher for people who are not qualified: of one who is and one who is not, the latter has the
    higher score in 100.0% of pairs. If lower scores are better, let lower scores pass.
    """
    if people.curves is None:  # some people were not tested, so that nothing can be said of all
        return _all_or_none(people)
    found = []
    right, pairs, spread = _pairs_in_order(people.curves)
    n = _worth(people.counts)
    if pairs:  # of weighted people there are fewer than their weights say, or more
        spread *= float(np.sqrt(people.counts.n.sum() / n.sum()))
    if pairs and n.sum() >= FEW_ROWS and right < 0.5 - max(WRONG_WAY, STANDARD_ERRORS * spread):
        higher, advice = "higher", "If lower scores are better, let lower scores pass."
        if people.lower_passes:
            higher, advice = "lower", "Lower scores pass here: let higher ones pass."
        text = (
            f"The score {shown(name)} is {higher} for people who are not qualified: of one who is and one who is not, "
            f"the latter has the {higher} score in {percent(1 - right)} of pairs."
        )
        key = "higher_passes" if people.lower_passes else "lower_passes"
        found.append(Finding(key, "warning", text, advice, {"name": name}))
    elif pairs and n.sum() >= ENOUGH_ROWS and right > NEARLY_THE_LABEL:
        found.append(_nearly_the_label(name, right))
    return [*found, *(_outside(people, name) or _all_or_none(people))]


def suspect_decisions(people: ScreeningResult, name: str) -> list[Finding]:
    """Decisions that pass the unqualified, say the label again, or are the same for everybody."""
    counts = people.counts
    worth = float(_worth(counts).sum()) / max(float(counts.n.sum()), 1e-300)
    n, positives = float(counts.n.sum()) * worth, float(counts.positives.sum()) * worth
    passed, hits = float(counts.selected.sum()) * worth, float(counts.true_positives.sum()) * worth
    found = _all_or_none(people)
    if found or n < FEW_ROWS or not 0 < positives < n or not counts.is_known:
        return found
    above, below = hits / passed, (positives - hits) / (n - passed)
    spread = float(np.sqrt(positives / n * (1 - positives / n) * (1 / passed + 1 / (n - passed))))
    if above < below - max(WRONG_WAY, STANDARD_ERRORS * spread):
        text = (
            f"Those who pass by column {shown(name)} are less often qualified ({percent(above)}) than those who do not "
            f"({percent(below)})."
        )
        return [Finding("decisions_reversed", "warning", text, "Look whether the other value means passing.")]
    agree = min(hits / positives, 1 - (passed - hits) / (n - positives))
    return [_nearly_the_label(name, agree)] if agree > NEARLY_THE_LABEL and n >= ENOUGH_ROWS else []


def _nearly_the_label(name: str, right: float) -> Finding:
    text = f"Column {shown(name)} says the label again, or nearly (it puts {percent(right)} of pairs in order)."
    advice = "Look whether it was known before the label was; a model that knows it tells nothing about new people."
    return Finding("label_again", "warning", text, advice, {"name": name})


def _pairs_in_order(curves: ThresholdCurves) -> tuple[float, float, float]:
    """Share of pairs within groups, one qualified and one not, in which the former has the higher score.

    Also how many pairs there are, and the standard error of the share if the score said nothing. Ties count one half.
    """
    same = curves.group[1:] == curves.group[:-1]
    tied = (curves.selected[:-1] - curves.selected[1:]).astype(np.float64)
    tied_qualified = (curves.true_positives[:-1] - curves.true_positives[1:]).astype(np.float64)
    unqualified = (curves.n - curves.positives).astype(np.float64)
    from_here_on = (curves.selected - curves.true_positives)[:-1]
    below = unqualified[curves.group[:-1]] - from_here_on
    wins = tied_qualified * (below + 0.5 * (tied - tied_qualified))
    positives = curves.positives.astype(np.float64)
    pairs = positives * unqualified
    total = float(pairs.sum())
    if not total:
        return 0.5, 0.0, 0.0
    variance = float(
        (pairs * (positives + unqualified) / 12).sum()
    )  # but for the 1 of small samples, whatever the scale
    return float(wins[same].sum()) / total, total, float(np.sqrt(variance)) / total


def _outside(people: ScreeningResult, name: str) -> list[Finding]:
    """A threshold above or below all scores."""
    assert people.curves is not None
    assert people.threshold is not None
    scores = people.curves.threshold[np.isfinite(people.curves.threshold)]
    low, high, at = float(scores.min()), float(scores.max()), people.threshold
    if low <= at < high or low == high:  # at the largest score nobody passes either
        return []
    who = "everybody" if at < low else "nobody"
    if people.lower_passes:
        low, high, at = -high, -low, -at
    text = f"The threshold {at:g} is outside the scores of {shown(name)}, {low:g} to {high:g}: {who} passes."
    return [Finding("threshold_outside", "warning", text, "Look whether it is on the scale of the score.")]


def _all_or_none(people: ScreeningResult) -> list[Finding]:
    passed, n = people.counts.selected.sum(), people.counts.n.sum()
    if 0 < passed < n:
        return []
    who = "Nobody" if passed == 0 else "Everybody"
    text = f"{who} passes screening: such a model tells nobody apart."
    return [Finding("all_or_none", "warning", text, "Look whether it is the right column, value or threshold.")]


# ---------------------------------------------------------------------- columns to learn from


def suspect_features(columns: Mapping[str, TextArray], y: BoolArray) -> list[Finding]:
    """Columns to learn from that say the label again, or who a person is rather than what.

    Parameters
    ----------
    columns : mapping from name to array of str
        Cells as text.
    y : ndarray of bool
        Who is qualified.

    Examples
    --------
    >>> y = np.arange(100) % 3 == 0
    >>> cells = np.array(["paid" if yes else "" for yes in y], dtype=object)
    >>> [finding.key for finding in suspect_features({"fee": cells}, y)]
    ['label_again']
    """
    if len(y) < ENOUGH_ROWS:
        return []
    rows = np.unique(np.linspace(0, len(y) - 1, min(len(y), MOST_ROWS)).astype(np.intp))
    found = []
    for name, cells in columns.items():
        finding = _suspect_feature(name, cells, y, rows)
        found += [finding] if finding is not None else []
    return found


def _suspect_feature(name: str, cells: TextArray, y: BoolArray, rows: NDArray[np.intp]) -> Finding | None:
    reason = useless(cells)
    if reason:
        return Finding(
            "left_out", "hint", f"Column {shown(name)} is not learnt from: {reason}.", details={"name": name}
        )
    some, labels = cells[rows], y[rows]
    numbers, wrong = numbers_or_missing(some)
    order = _says_label(some, None if wrong.size else numbers, labels)
    if order > SUSPICIOUSLY_NEAR:
        return _nearly_the_label(name, order)
    what = _names_people(name, some, None if wrong.size else numbers)
    if not what:
        return None
    text = f"Column {shown(name)} {what}: it says who or when somebody is rather than what."
    return Finding("names_people", "warning", text, "Leave it out, unless you know better.", {"name": name})


def _says_label(cells: TextArray, numbers: FloatArray | None, y: BoolArray) -> float:
    """How well a column orders people by their label, from 1/2 to 1: as a number, as a category, by being empty."""
    absent = is_missing(cells)
    best = _order(absent.astype(np.float64), y)
    if numbers is not None:
        there = ~np.isnan(numbers)
        if there.sum() >= ENOUGH_ROWS and 0 < y[there].sum() < there.sum() and there.mean() > MOSTLY:
            best = max(best, _order(numbers[there], y[there]))
    codes, values = pd.factorize(cells)
    if len(values) * FEWEST_PEOPLE <= len(cells):  # of rarer values, each row would explain itself
        rate = np.bincount(codes, weights=y, minlength=len(values)) / np.bincount(codes, minlength=len(values))
        best = max(best, _order(rate[codes], y))
    return best


def _order(values: FloatArray, y: BoolArray) -> float:
    """Area under the curve of a column, whichever way it runs."""
    positives = int(y.sum())
    negatives = len(y) - positives
    if not positives or not negatives:
        return 0.5
    area = (float(rankdata(values)[y].sum()) - positives * (positives + 1) / 2) / (positives * negatives)
    return max(area, 1 - area)


def _names_people(name: str, cells: TextArray, numbers: FloatArray | None) -> str:
    """Why a column looks like names, dates or numbers of people; empty if it does not."""
    present = cells[~is_missing(cells)]
    values = pd.unique(present)
    if len(present) < ENOUGH_ROWS:
        return ""
    texts = [str(value).strip() for value in values[:1000]]
    if sum(DATE.fullmatch(text) is not None for text in texts) > MOSTLY * len(texts):
        return f"holds dates ({shown(texts[0])})"
    if numbers is not None:
        whole = numbers[~np.isnan(numbers)]
        if len(np.unique(whole)) < len(whole) or (whole != np.floor(whole)).any():
            return ""
        rising = abs(np.corrcoef(rankdata(whole), np.arange(len(whole)))[0, 1]) > NEARLY_THE_LABEL
        if rising or NUMBERING.fullmatch(name.strip()):
            return "holds another whole number in every row, like the number of a person"
        return ""
    if len(values) > NEARLY_UNIQUE * len(present):
        return f"holds {count(len(values))} different texts in {count(len(present))} rows, like names or remarks"
    return ""
