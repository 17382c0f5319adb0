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
    label: str,
    positive: str | None,
    groups: Sequence[str],
    missing: str,
    weight: str | None = None,
    untested: bool = False,
) -> PeopleColumns:
    """Columns of labels, groups and weights, as the options name them."""
    return PeopleColumns(label, tuple(groups), positive, missing.replace("-", "_"), weight, untested)


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
    positive: str | None,
    groups: Sequence[str],
    missing: str,
    score: str | None,
    threshold: float | None,
    prediction: str | None,
    prediction_positive: str | None,
    costs: Sequence[tuple[float, ...]],
    subsidies: Sequence[tuple[str, float]] = (),
    kind: SubsidyKind = "additive",
    weight: str | None = None,
    untested: bool = False,
) -> Audit:
    """Audit a table on disk."""
    people = people_columns(label, positive, groups, missing, weight, untested)
    model = (
        ScoreColumn(score, threshold) if score is not None else DecisionColumn(prediction or "", prediction_positive)
    )
    with table_at(file, encoding, delimiter) as table:
        screened = read_screened(table, people, model)
        source = provenance(title_of(file), people, model.name, table.sha256())
    first, *others = dict.fromkeys(cost for option in costs for cost in option)
    return with_subsidies(Audit(screened, screened, Terms(first, kind=kind), tuple(others), source), subsidies)


def with_subsidies(audit: Audit, subsidies: Sequence[tuple[str, float]]) -> Audit:
    """The same audit with subsidies given by the names of groups."""
    if not subsidies:
        return audit
    groups = audit.published.groups
    labels = match_groups([name for name, _ in subsidies], groups, "subsidy")
    terms = audit.terms.paying({label: value for label, (_, value) in zip(labels, subsidies, strict=True)})
    terms.faced_by(groups)  # complains about subsidies that make no sense
    return replace(audit, terms=terms)
