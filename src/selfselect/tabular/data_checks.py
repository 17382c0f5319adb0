"""Checks of a table for problems: wrong columns, odd groups, reversed scores, columns that leak the label.

Each check takes columns or counts and returns findings. None reads the table again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._formats import MAX_NAMED, count, listed, percent
from .._text import quote
from .._validation import BoolArray, FloatArray
from ..auditing import ScreeningResult, group_names
from ..auditing.impact import is_unknown
from ..counting import MISSING, GroupCounts, plain_label
from ..publishing import PublishedStatistics, ThresholdCurves
from .columns import is_missing, numbers_or_missing, reason_to_leave_out
from .table import TextArray, listing

Severity: TypeAlias = Literal["error", "warning", "hint"]

#: Most checks need at least so many rows.
MIN_ROWS = 50
#: Among fewer rows, many groups and reversed scores are not reported.
MIN_ROWS_OF_GROUPS = 20
#: A group of fewer people is too small to publish anything about.
MIN_GROUP_SIZE = 10
#: Fewer copies of rows, or a smaller share of all rows, are not reported; nor are those of tables with fewer distinct
#: rows.
MIN_COPIES, MIN_SHARE_OF_COPIES, MIN_SHARE_DISTINCT = 10, 0.01, 0.02
#: AUC from which a score or decision is nearly the label.
LABEL_AUC = 0.99
#: AUC from which a feature gives the label away: it may have been recorded afterwards.
LEAK_AUC = 0.95
#: How far below 1/2, at least and in standard errors, the AUC of a reversed score is.
MIN_REVERSAL, STANDARD_ERRORS = 0.02, 3.0
#: A column with a larger share of distinct texts looks like names.
NEARLY_UNIQUE = 0.5
#: A column of which a larger share of cells are dates is a column of dates.
MOSTLY = 0.9
#: Rows of a column that are checked, evenly spread, where there are more.
MAX_ROWS = 50_000
#: How names differ that are one name for a reader.
DIFFER_BY_SPELLING = "differ only by case, blanks, the encoding of accents or the way to write a number"
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
    """Something that looks wrong with a table: a sentence, and what to do about it.

    An error makes results meaningless, a warning makes them misleading, a hint is good to know. By ``key`` the command
    names the option that solves it; ``details`` are values for its message.
    """

    key: str
    severity: Severity
    text: str
    advice: str = ""
    details: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.text} {self.advice}".rstrip()


# ---------------------------------------------------------------------- columns and labels


def check_column_roles(label: str, groups: Sequence[str], model: str | None = None) -> Iterator[Finding]:
    """Columns that are named for two roles."""
    if label in groups:
        text = f"The label and the groups are the same column {quote(label)}."
        yield Finding("label_is_group", "error", text, "Name another column for the groups.")
    if model == label:
        text = f"Column {quote(label)} is both the label and the output of the model."
        yield Finding("label_is_model", "warning", text, "Name the column of actual outcomes as the label.")


def check_label_values(column: str, qualified: list[str], others: list[str]) -> Iterator[Finding]:
    """Labels of more than two values. Those that are not named as qualified count as not qualified."""
    if len(qualified) + len(others) > 2:
        text = (
            f"Column {quote(column)} holds {len(qualified) + len(others)} values: {listing(qualified, MAX_NAMED)} "
            f"{'counts' if len(qualified) == 1 else 'count'} as qualified, {listing(others, MAX_NAMED)} as not."
        )
        yield Finding("more_labels", "hint", text, "Name every value that means qualified.")


# ---------------------------------------------------------------------- people and groups


def check_copies(y: BoolArray, groups: NDArray[Any], columns: Sequence[NDArray[Any]]) -> Iterator[Finding]:
    """Rows that are exact copies of others, if there are more than chance explains.

    ``columns`` are codes of all other columns. People who agree in everything else by chance often differ in the label;
    copies never do. Where few rows are distinct, people agree by chance.
    """
    frame = pd.DataFrame({"group": groups, **{str(i): column for i, column in enumerate(columns)}})
    n, alike = len(y), frame.duplicated(keep=False).to_numpy()  # in everything but the label
    if n < MIN_ROWS or alike.sum() < MIN_COPIES:
        return
    people = frame[alike].groupby(list(frame), sort=False).ngroup().to_numpy()
    size, qualified = np.bincount(people), np.bincount(people, weights=y[alike])
    distinct = n - len(people) + len(size)
    copies = int((np.maximum(qualified - 1, 0) + np.maximum(size - qualified - 1, 0)).sum())
    pairs = size * (size - 1) / 2
    rate = float((pairs * qualified / size).sum() / pairs.sum())
    differ, by_chance = float((qualified * (size - qualified)).sum()), 2 * rate * (1 - rate) * float(pairs.sum())
    enough = copies >= max(MIN_COPIES, MIN_SHARE_OF_COPIES * n) and distinct >= MIN_SHARE_DISTINCT * n
    if enough and differ <= by_chance / 2:
        text = f"{count(copies)} rows are exact copies of another row."
        advice = "If they are the same people, keep one row of each: repeated people make results look more certain."
        yield Finding("copies", "warning", text, advice)


def _effective_sizes(counts: GroupCounts) -> FloatArray:
    """People of each group; where they have weights, the effective sample size."""
    return np.asarray(counts.n * counts.people_per_weight, dtype=np.float64)


def check_labels_and_groups(table: PublishedStatistics, label: str) -> Iterator[Finding]:
    """Labels that are all the same, and groups that are not useful as groups."""
    n, positives = table.counts.n, table.counts.positives
    if not (positives + table.counts.unknown).any() or (positives == n).all():
        who = "Nobody" if not positives.any() else "Everybody"
        text = f"{who} is qualified by column {quote(label)}."
        yield Finding("one_label", "warning", text, "Check that it is the right column and the right value.")
        return
    wrong_column = list(_wrong_column(table, label))
    yield from [*wrong_column, *_differ_by_case(table), *_unknown_groups(table)]
    if not wrong_column:
        yield from _small_groups(table)


def _wrong_column(table: PublishedStatistics, label: str) -> Iterator[Finding]:
    """Groups that name people, or repeat the label."""
    n, positives, groups = table.counts.n, table.counts.positives, len(table.groups)
    people = float(_effective_sizes(table.counts).sum())
    pure = table.counts.labels_known and ((positives == 0) | (positives == n)).all()
    if people >= MIN_ROWS_OF_GROUPS and groups > people / 2:
        text = f"There are {count(groups)} groups for {count(people)} people: hardly two people share one."
        yield Finding("groups_of_one", "error", text, "Name a column that many people share, or merge its values.")
    elif pure and groups <= n.sum() / MIN_GROUP_SIZE and n.sum() >= MIN_ROWS_OF_GROUPS:
        text = f"In each group everybody or nobody is qualified: the groups repeat the label {quote(label)}."
        yield Finding("group_is_label", "warning", text, "Name a column of who people are, not of their outcome.")


def _names_and_sizes(table: PublishedStatistics, groups: Sequence[int]) -> str:
    names = group_names(table.groups)
    return listed([f"{quote(names[i])} ({count(table.counts.n[i])} people)" for i in groups])


def _differ_by_case(table: PublishedStatistics) -> Iterator[Finding]:
    names, n = group_names(table.groups), table.counts.n
    levels = [table.groups.get_level_values(i) for i in range(table.groups.nlevels)]
    plain = pd.Series(list(zip(*(map(plain_label, level) for level in levels), strict=True)))
    for same in plain[plain.duplicated(keep=False)].groupby(plain).groups.values():
        several = [int(i) for i in same]
        largest = max(several, key=lambda i: float(n[i]))
        text = f"{_names_and_sizes(table, several)} {DIFFER_BY_SPELLING}, and count as {len(several)} groups."
        yield Finding(
            "case_of_groups", "warning", text, f"If they are one group, write {quote(names[largest])} in every row."
        )


def check_group_names(first: Sequence[str], second: Sequence[str]) -> Iterator[Finding]:
    """Groups of two tables that differ only by their spelling."""
    in_first = {plain_label(name): name for name in first}
    for name in second:
        other = in_first.get(plain_label(name))
        if other is not None and name not in first and other not in second:
            text = (
                f"{quote(other)} in the first table and {quote(name)} in the second {DIFFER_BY_SPELLING}, and count as "
                "two groups."
            )
            yield Finding("case_of_groups", "warning", text, "If they are one group, write it alike in both.")


def _unknown_groups(table: PublishedStatistics) -> Iterator[Finding]:
    labels = [label if isinstance(label, tuple) else (label,) for label in table.groups]
    # the group of empty cells was asked for
    unknown = [i for i, parts in enumerate(labels) if any(is_unknown(part) and part != MISSING for part in parts)]
    if unknown:
        seem, count_as = ("seems", "counts as a group") if len(unknown) == 1 else ("seem", "count as groups")
        text = f"{_names_and_sizes(table, unknown)} {seem} to mean that the group is unknown, but {count_as}."
        yield Finding("unknown_group", "warning", text, "Empty these cells, or drop these rows, if it is unknown.")


def _small_groups(table: PublishedStatistics) -> Iterator[Finding]:
    n, names = _effective_sizes(table.counts), group_names(table.groups)
    small = np.flatnonzero((n > 0) & (n < MIN_GROUP_SIZE))
    if n.sum() >= MIN_ROWS and small.size:
        shown, have = listed([f"{names[i]} ({count(n[i])})" for i in small]), "has" if small.size == 1 else "have"
        text = f"{shown} {have} fewer than {MIN_GROUP_SIZE} people: too few to publish anything about."
        yield Finding("small_groups", "warning", text, "Merge them with others, or leave them out.")


# ---------------------------------------------------------------------- scores and decisions


def check_scores(people: ScreeningResult, name: str) -> Iterator[Finding]:
    """Scores that are reversed or repeat the label, and thresholds that everybody or nobody passes."""
    if people.curves is None:  # the labels of some people are not known
        yield from _passes_all_or_none(people)
        return
    auc, pairs, spread = _auc_within_groups(people.curves)
    n = _effective_sizes(people.counts)
    if pairs:  # weights are not numbers of people
        spread *= float(np.sqrt(people.counts.n.sum() / n.sum()))
    if pairs and n.sum() >= MIN_ROWS_OF_GROUPS and auc < 0.5 - max(MIN_REVERSAL, STANDARD_ERRORS * spread):
        key, higher, advice = "lower_passes", "higher", "If lower scores are better, let lower scores pass."
        if people.lower_passes:
            key, higher = "higher_passes", "lower"
            advice = "Lower scores pass here. If higher scores are better, let higher scores pass."
        text = f"The score {quote(name)} tends to be {higher} for people who are not qualified (AUC {auc:.2f})."
        yield Finding(key, "warning", text, advice, {"name": name})
    elif pairs and n.sum() >= MIN_ROWS and auc > LABEL_AUC:
        yield _label_finding(name, f"AUC {auc:.2f}")
    yield from list(_threshold_outside(people, name)) or _passes_all_or_none(people)


def check_decisions(people: ScreeningResult, name: str) -> Iterator[Finding]:
    """Decisions that are reversed, repeat the label, or are the same for everybody."""
    counts = people.counts
    per_weight = float(_effective_sizes(counts).sum()) / max(float(counts.n.sum()), 1e-300)
    n, positives, selected, true_positives = (
        float(column.sum()) * per_weight
        for column in (counts.n, counts.positives, counts.selected, counts.true_positives)
    )
    yield from _passes_all_or_none(people)
    if n < MIN_ROWS_OF_GROUPS or not 0 < positives < n or not 0 < selected < n or not counts.labels_known:
        return
    above, below = true_positives / selected, (positives - true_positives) / (n - selected)
    spread = float(np.sqrt(positives / n * (1 - positives / n) * (1 / selected + 1 / (n - selected))))
    if above < below - max(MIN_REVERSAL, STANDARD_ERRORS * spread):
        text = (
            f"People who pass by column {quote(name)} are less often qualified ({percent(above)}) than people who do "
            f"not pass ({percent(below)})."
        )
        yield Finding("decisions_reversed", "warning", text, "Check which value means passing.")
        return
    agree = min(true_positives / positives, 1 - (selected - true_positives) / (n - positives))
    if agree > LABEL_AUC and n >= MIN_ROWS:
        yield _label_finding(name, f"they agree for {percent(agree)}")


def _label_finding(name: str, evidence: str) -> Finding:
    text = f"Column {quote(name)} almost gives away the label ({evidence})."
    advice = "Was it recorded afterwards? Then it is not known of new people."
    return Finding("label_again", "warning", text, advice, {"name": name})


def _auc_within_groups(curves: ThresholdCurves) -> tuple[float, float, float]:
    """AUC over pairs within groups (ties count one half), number of pairs, standard error of the AUC at 1/2."""
    same = curves.group[1:] == curves.group[:-1]
    tied = (curves.selected[:-1] - curves.selected[1:]).astype(np.float64)
    tied_qualified = (curves.true_positives[:-1] - curves.true_positives[1:]).astype(np.float64)
    unqualified = (curves.n - curves.positives).astype(np.float64)
    below = unqualified[curves.group[:-1]] - (curves.selected - curves.true_positives)[:-1]
    wins = tied_qualified * (below + 0.5 * (tied - tied_qualified))
    positives = curves.positives.astype(np.float64)
    pairs = positives * unqualified
    total = float(pairs.sum())
    if not total:
        return 0.5, 0.0, 0.0
    variance = float((pairs * (positives + unqualified) / 12).sum())  # of the Mann-Whitney statistic in large samples
    return float(wins[same].sum()) / total, total, float(np.sqrt(variance)) / total


def _threshold_outside(people: ScreeningResult, name: str) -> Iterator[Finding]:
    """A threshold above or below all scores."""
    assert people.curves is not None
    assert people.threshold is not None
    scores = people.curves.threshold[np.isfinite(people.curves.threshold)]
    low, high, at = float(scores.min()), float(scores.max()), people.threshold
    if low <= at < high or low == high:  # at the largest score nobody passes either
        return
    who = "everybody" if at < low else "nobody"
    if people.lower_passes:
        low, high, at = -high, -low, -at
    text = f"The threshold {at:g} is outside the scores of {quote(name)}, {low:g} to {high:g}: {who} passes."
    yield Finding("threshold_outside", "warning", text, "Check that it is on the scale of the score.")


def _passes_all_or_none(people: ScreeningResult) -> Iterator[Finding]:
    passed, n = people.counts.selected.sum(), people.counts.n.sum()
    if not 0 < passed < n:
        text = f"{'Nobody' if passed == 0 else 'Everybody'} passes screening."
        yield Finding("all_or_none", "warning", text, "Check that it is the right column, value or threshold.")


# ---------------------------------------------------------------------- columns to learn from


#: Findings that matter for training only.
FOR_TRAINING = frozenset({"left_out", "leaks", "names_people"})


def check_features(columns: Mapping[str, TextArray], y: BoolArray) -> Iterator[Finding]:
    """Features (cells as text, by name) that give away the label, or identify people: one finding for all of a kind."""
    if len(y) < MIN_ROWS:
        return
    rows = np.unique(np.linspace(0, len(y) - 1, min(len(y), MAX_ROWS)).astype(np.intp))
    useless, leaking, naming = {}, {}, {}
    for name, cells in columns.items():
        reason = reason_to_leave_out(cells)
        if reason:
            useless[name] = reason
            continue
        some = cells[rows]
        values, wrong = numbers_or_missing(some)
        numbers = None if wrong.size else values
        auc, what = _label_auc(some, numbers, y[rows]), _identifies_people(name, some, numbers)
        if auc > LEAK_AUC:
            leaking[name] = f"AUC {auc:.2f}"
        elif what:
            naming[name] = what
    if leaking:
        text = f"{_columns(leaking)} almost {'gives' if len(leaking) == 1 else 'give'} away the label."
        advice = "Recorded afterwards? Then it is not known of new people."
        yield Finding("leaks", "warning", text, advice, {"names": list(leaking)})
    if naming:
        one = len(naming) == 1
        text = f"{_columns(naming)} {'identifies' if one else 'identify'} people or dates."
        advice = f"A model learns nothing general from {'it' if one else 'them'}."
        yield Finding("names_people", "warning", text, advice, {"names": list(naming)})
    if useless:
        text = f"{_columns(useless)} {'is' if len(useless) == 1 else 'are'} not learnt from."
        yield Finding("left_out", "hint", text, details={"names": list(useless)})


def _columns(reasons: Mapping[str, str]) -> str:
    """Columns with what is wrong with each, at most a few."""
    some = [f"{quote(name)} ({reason})" for name, reason in list(reasons.items())[:MAX_NAMED]]
    if len(reasons) == 1:
        return f"Column {some[0]}"
    more = f" and {len(reasons) - MAX_NAMED} more" if len(reasons) > MAX_NAMED else ""
    return f"{len(reasons)} columns, {', '.join(some)}{more},"


def _label_auc(cells: TextArray, numbers: FloatArray | None, y: BoolArray) -> float:
    """Largest AUC of a column for the label: as a number, as a category, or by being empty."""
    best = _auc(is_missing(cells).astype(np.float64), y)
    if numbers is not None:
        there = ~np.isnan(numbers)
        if there.sum() >= MIN_ROWS and 0 < y[there].sum() < there.sum() and there.mean() > MOSTLY:
            best = max(best, _auc(numbers[there], y[there]))
    codes, values = pd.factorize(cells)
    if len(values) * MIN_GROUP_SIZE <= len(cells):  # rarer values would fit the label by chance
        rate = np.bincount(codes, weights=y, minlength=len(values)) / np.bincount(codes, minlength=len(values))
        best = max(best, _auc(rate[codes], y))
    return best


def _auc(values: FloatArray, y: BoolArray) -> float:
    """AUC of a column or of its negative, whichever is larger."""
    if y.all() or not y.any():
        return 0.5
    ranks, n = pd.Series(values).rank().to_numpy(), int(y.sum())
    area = float(ranks[y].sum() - n * (n + 1) / 2) / (n * (len(y) - n))
    return max(area, 1 - area)


def _identifies_people(name: str, cells: TextArray, numbers: FloatArray | None) -> str:
    """Why a column looks like names, dates or identifiers; empty if it does not."""
    present = cells[~is_missing(cells)]
    values = pd.unique(present)
    if len(present) < MIN_ROWS:
        return ""
    texts = [str(value).strip() for value in values[:1000]]
    if sum(DATE.fullmatch(text) is not None for text in texts) > MOSTLY * len(texts):
        return f"holds dates ({quote(texts[0])})"
    if numbers is not None:
        whole = numbers[~np.isnan(numbers)]
        if len(np.unique(whole)) < len(whole) or (whole != np.floor(whole)).any():
            return ""
        rising = abs(np.corrcoef(pd.Series(whole).rank(), np.arange(len(whole)))[0, 1]) > LABEL_AUC
        if rising or NUMBERING.fullmatch(name.strip()):
            return "holds a different whole number in every row, like an identifier"
        return ""
    if len(values) > NEARLY_UNIQUE * len(present):
        return f"holds {count(len(values))} different texts in {count(len(present))} rows, like names or remarks"
    return ""
