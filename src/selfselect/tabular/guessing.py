"""Look at a table of which nothing is known: its columns, what each could be, and which command fits."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field, replace

import numpy as np

from .._text import quote
from .._validation import FloatArray
from .columns import NO, YES, as_floats, canonical_value, is_number, missing_texts
from .data_checks import DATE, NUMBERING
from .table import Column, Table

#: Words in the names of columns, by the role that they suggest.
ROLE_WORDS = {
    "label": "label|outcome|target|repaid|default|hired|qualif|success|attrition|recid|graduat|pass(ed)?|good|result|"
    "true|actual|reoffend|performance|promoted|y",
    "group": "group|sex|gender|race|ethnic\\w*|age|region|area|school|religion|marital|national\\w*|disab\\w*|origin|"
    "foreign\\w*|district|borough|state|country|branch|veteran",
    "score": "score\\d*|scores|prob\\w*|rating|risk|decile|points|predict\\w*|pd|yhat|rank",
    "prediction": "pred\\w*|decision|decided|approved|selected|screened?|accept\\w*|invited|offer\\w*|shortlist\\w*|"
    "advanced|admitted|granted|flag\\w*",
}
#: Values that mean qualified or passing, if one of two does.
GOOD_WORDS = frozenset(
    "1 yes y true t good repaid pass passed hired qualified success accept accepted approved paid".split()
)
#: Outcomes of which yes is bad news.
BAD_OUTCOMES = re.compile(r"recid|reoffend|default|attrition|churn|fraud|fail|dropout|bad", re.IGNORECASE)
#: Groups have at most so many values; scores have at least so many.
MAX_GROUPS, MIN_SCORES = 60, 15
#: Examples of cells that are shown.
MAX_EXAMPLES = 3


@dataclass(frozen=True)
class ColumnSummary:
    """What a column holds: its kind, how many cells are empty, how many values it has, some of them."""

    name: str
    kind: str
    missing: int
    distinct: int
    values: tuple[str, ...]
    low: float = np.nan
    high: float = np.nan

    def suggests(self, role: str) -> int:
        """How well the name and the kind fit a role: 0 is not at all."""
        fits = {
            "label": self.kind == "two values",
            "prediction": self.kind == "two values",
            "group": self.kind in ("two values", "category") or (self.kind == "number" and self._named("group")),
            "score": self.kind == "number" and (self.distinct >= MIN_SCORES or self._named("score")),
        }[role]
        if not fits:
            return 0
        share = role == "score" and self.low >= 0 and self.high <= 1
        return (
            1 + 4 * self._named(role) + 2 * share - 2 * any(self._named(other) for other in ROLE_WORDS if other != role)
        )

    def _named(self, role: str) -> bool:
        words = re.sub(r"([a-z])([A-Z])", r"\1 \2", self.name)
        return re.search(rf"(?<![^\W_])({ROLE_WORDS[role]})(?![^\W_])", words, re.IGNORECASE) is not None


@dataclass(frozen=True)
class Guess:
    """Columns of a table, those that the user or a guess gave a role, and what a command would need besides."""

    columns: tuple[ColumnSummary, ...]
    roles: dict[str, str] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    def command(self, file: str, further: tuple[str, ...] = ()) -> str:
        """The command to run next, with further options; empty if there is none."""
        named = [part for role in ("label", "group", "score", "prediction") for part in self._named(role)]
        if "group" not in self.roles or not {"score", "prediction"} & set(self.roles):
            return ""
        name = "audit" if "label" in self.roles else "impact"
        extra = [*self.options, *(("--cost", "0.3:0.9") if name == "audit" else ())]
        return shlex.join(["selfselect", name, file, *named, *extra, *further])

    def _named(self, role: str) -> tuple[str, ...]:
        return (f"--{role}", self.roles[role]) if role in self.roles else ()


def summarise(table: Table, column: Column) -> ColumnSummary:
    """What a column holds."""
    texts = [str(text).strip() for text in column.texts]
    empty = missing_texts(texts)
    counts = np.bincount(column.codes, minlength=len(texts))
    present = [(int(counts[i]), text) for i, text in enumerate(texts) if not empty[i]]
    missing, n = int(counts[empty].sum()), len(column.codes)
    common = tuple(text for _, text in sorted(present, key=lambda one: -one[0])[:MAX_EXAMPLES])
    distinct = len({canonical_value(text, table.decimal) for _, text in present})
    numeric = bool(present) and all(is_number(text, table.decimal) for _, text in present)
    found = ColumnSummary(column.name, "", missing, distinct, common)
    if not present:
        return replace(found, kind="empty")
    if distinct == 1:
        return replace(found, kind="one value")
    numbers: FloatArray = as_floats([text for _, text in present], table.decimal) if numeric else np.array([])
    different = distinct == n - missing and n >= MIN_SCORES
    if sum(DATE.fullmatch(text) is not None for _, text in present) > 0.9 * len(present):
        return replace(found, kind="date")
    if distinct == 2:
        return replace(found, kind="two values", values=tuple(sorted({text for _, text in present})[:2]))
    if numeric:
        steps = np.abs(np.diff(numbers)) if different else np.array([0.0])
        rising = bool((steps == 1).all()) or (different and NUMBERING.fullmatch(column.name.strip()) is not None)
        kind = "identifier" if rising else "number"
        return replace(found, kind=kind, low=float(numbers.min()), high=float(numbers.max()))
    if different or distinct > 0.5 * (n - missing):
        return replace(found, kind="identifier" if different else "text")
    return replace(found, kind="category" if distinct <= MAX_GROUPS else "text")


def guess_roles(table: Table, given: dict[str, str]) -> Guess:
    """What each column could be, starting from what the user said."""
    columns = tuple(summarise(table, column) for column in table.columns(range(len(table.header))))
    by_name, roles = {one.name: one for one in columns}, dict(given)
    for role in ("label", "score", "prediction", "group"):
        if role in roles or (role == "prediction" and "score" in roles) or (role == "score" and "prediction" in roles):
            continue
        free = [one for one in columns if one.name not in roles.values() and one.suggests(role) > 0]
        # a label, a score and a decision are known by their names; of groups, any column of few values will do
        named = [one for one in free if one.suggests(role) > (2 if role == "score" else 1)]
        best = named or (free if role == "group" else [])
        if best:
            roles[role] = max(best, key=lambda one: (one.suggests(role), -one.distinct)).name
    options, remarks = [], []
    for role, option in (("label", "--positive"), ("prediction", "--prediction-positive")):
        column = by_name.get(roles.get(role, ""))
        bad = column is not None and role == "label" and BAD_OUTCOMES.search(column.name) is not None
        if column is None or len(column.values) < 2 or (not bad and _plain(column.values)):
            continue
        good = [value for value in column.values if value.casefold() in GOOD_WORDS]
        if bad and _plain(column.values):
            good = [value for value in column.values if canonical_value(value) in NO]
        chosen = good[0] if len(good) == 1 else column.values[-1]
        options += [option, chosen]
        means = "qualified" if role == "label" else "passing"
        remarks.append(
            f"{quote(chosen)} is taken to mean {means} in column {quote(column.name)}; correct it if it does not."
        )
    label, group, score = (by_name.get(roles.get(role, "")) for role in ("label", "group", "score"))
    if label is not None and label.missing:
        options.append("--untested")
        remarks.append(
            f"{label.missing:,} labels are empty. --untested is right if only people who did not pass lack one."
        )
    if group is not None and group.missing:
        options += ["--missing", "own-group"]
        remarks.append(
            f"{group.missing:,} people have no group. --missing own-group counts them apart, drop leaves them out."
        )
    if group is not None and group.kind == "number":
        edges = np.linspace(group.low, group.high, 5)[1:-1]
        options += ["--bands", f"{group.name}={','.join(f'{edge:.3g}' for edge in edges)}"]
        remarks.append(f"Column {quote(group.name)} holds numbers, which --bands cuts into groups.")
    if score is not None and label is not None and not (score.low >= 0 and score.high <= 1):
        middle = (score.low + score.high) / 2
        options += ["--threshold", f"{middle:.3g}"]
        remarks.append(
            f"Scores run from {score.low:g} to {score.high:g}; the threshold {middle:.3g} is their middle. Write yours."
        )
    if group is None:
        remarks.append("No column has few values, as groups do. Add one with the group of each person.")
    if score is None and "prediction" not in roles:
        remarks.append("No column looks like the score or decision of a model. Name it with --score or --prediction.")
    if label is None:
        remarks.append("No column looks like the outcome. Without one, only selection rates can be compared.")
    return Guess(columns, roles, tuple(options), tuple(remarks))


def _plain(values: tuple[str, ...]) -> bool:
    """Whether values say by themselves which means yes."""
    return all(canonical_value(value) in YES | NO for value in values)


def summary_rows(guess: Guess) -> list[dict[str, str]]:
    """One row per column, for people."""
    chosen = {name: role for role, name in guess.roles.items()}
    return [
        {
            "column": one.name,
            "holds": one.kind,
            "values": f"{one.distinct:,}",
            "empty": f"{one.missing:,}" if one.missing else "",
            "for example": ", ".join(one.values),
            "could be": f"the {chosen[one.name]}" if one.name in chosen else _other_roles(one),
        }
        for one in guess.columns
    ]


def _other_roles(column: ColumnSummary) -> str:
    fits = [role for role in ROLE_WORDS if column.suggests(role) > 1]
    return " or ".join(f"a {role}" for role in fits)
