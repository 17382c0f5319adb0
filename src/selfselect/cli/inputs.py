"""How what was typed becomes a table on disk, an audit of it, and a record of where it came from."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from selfselect.auditing import Audit, Provenance
from selfselect.deciding import SubsidyKind, Terms
from selfselect.tabular.checking import match_groups
from selfselect.tabular.chunks import TableReader
from selfselect.tabular.loading import DecisionColumn, PeopleColumns, ScoreColumn, read_screened
from selfselect.tabular.reading import open_table
from selfselect.tabular.suspicion import Finding

from .findings import tell_findings
from .terminal import progress_bar

#: Delimiters that are hard to type.
SPELLED_OUT = {"\\t": "\t", "tab": "\t"}


@contextmanager
def table_at(file: str, encoding: str, delimiter: str) -> Iterator[TableReader]:
    """Open a table, with a progress bar on a terminal."""
    sign = SPELLED_OUT.get(delimiter, delimiter)
    with (
        progress_bar(file) as progress,
        open_table(file, encoding=encoding, delimiter=sign, progress=progress) as table,
    ):
        yield table


def people_columns(
    label: str, positive: str | Sequence[str] | None, groups: Sequence[str], missing: str
) -> PeopleColumns:
    """Columns of labels and groups, as the options name them."""
    named = (positive,) if isinstance(positive, str) else tuple(positive or ())
    return PeopleColumns(label, tuple(groups), named or None, missing.replace("-", "_"))


def model_column(
    score: str | None,
    threshold: float | None,
    lower_passes: bool,
    prediction: str | None,
    prediction_positive: str | None,
) -> ScoreColumn | DecisionColumn:
    """The column that says what a model made of people, as the options name it."""
    if score is not None:
        return ScoreColumn(score, threshold, lower_passes)
    return DecisionColumn(prediction or "", prediction_positive)


def score_name(model: ScoreColumn | DecisionColumn) -> str:
    """What a report calls the score; of one that is turned round, that it is."""
    return f"minus {model.name}" if isinstance(model, ScoreColumn) and model.lower_passes else model.name


def subsidy_kind(proportional: bool) -> SubsidyKind:
    """Kind of subsidies, as the option says it."""
    return "proportional" if proportional else "additive"


def title_of(file: str) -> str:
    """What a report calls a table."""
    return "standard input" if file == "-" else os.path.basename(file)


def provenance(title: str, people: PeopleColumns, score: str, sha256: str) -> Provenance:
    """Where numbers come from: the file, what was typed, and the columns."""
    return Provenance(
        title=title,
        command=shlex.join(["selfselect", *sys.argv[1:]]),
        sha256=sha256,
        label=people.label,
        groups=" / ".join(people.groups),
        score=score,
    )


def load_audit(
    file: str,
    *,
    encoding: str,
    delimiter: str,
    label: str,
    positive: str | Sequence[str] | None,
    groups: Sequence[str],
    missing: str,
    score: str | None,
    threshold: float | None,
    lower_passes: bool = False,
    prediction: str | None,
    prediction_positive: str | None,
    costs: Sequence[tuple[float, ...]],
    subsidies: Sequence[tuple[str, float]] = (),
    kind: SubsidyKind = "additive",
) -> Audit:
    """Audit a table on disk; what looks wrong with it is told first."""
    people = people_columns(label, positive, groups, missing)
    model = model_column(score, threshold, lower_passes, prediction, prediction_positive)
    found: list[Finding] = []
    with table_at(file, encoding, delimiter) as table:
        screened = read_screened(table, people, model, found)
        source = provenance(title_of(file), people, score_name(model), table.sha256())
    tell_findings(found)
    first, *others = dict.fromkeys(cost for option in costs for cost in option)
    return with_subsidies(Audit(screened, screened, Terms(first, kind=kind), tuple(others), source), subsidies)


def with_subsidies(audit: Audit, subsidies: Sequence[tuple[str, float]]) -> Audit:
    """The same audit with subsidies given by the names of groups."""
    if not subsidies:
        return audit
    groups = audit.published.groups
    labels = match_groups([name for name, _ in subsidies], groups, "subsidy")
    terms = audit.terms.paying({label: value for label, (_, value) in zip(labels, subsidies, strict=True)})
    for cost in (terms.cost, *audit.other_costs):
        terms.at_cost(cost).faced_by(groups)  # complains about subsidies that make no sense
    return replace(audit, terms=terms)
