"""How what was typed becomes a table on disk, an audit of it, and a record of where it came from."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pandas as pd

from selfselect.auditing import Audit, Provenance
from selfselect.deciding import SubsidyKind, Terms
from selfselect.tabular.checking import match_groups
from selfselect.tabular.chunks import TableReader
from selfselect.tabular.loading import DecisionColumn, PeopleColumns, ScoreColumn, read_screened, read_screened_each
from selfselect.tabular.reading import open_table

from .options import CostSpan
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


def load_audit(file: str, **reading: Any) -> Audit:
    """Audit a table on disk; for what it takes see :func:`load_audits`."""
    return load_audits(file, **reading)[0]


def load_audits(
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
    costs_of: Sequence[tuple[str, float]] = (),
    separately: bool = False,
) -> list[Audit]:
    """Audit a table on disk, read once: one audit, or one for each column of groups."""
    people = people_columns(label, positive, groups, missing, weight, untested)
    model = (
        ScoreColumn(score, threshold) if score is not None else DecisionColumn(prediction or "", prediction_positive)
    )
    with table_at(file, encoding, delimiter) as table:
        screened = read_screened_each(table, people, model) if separately else [read_screened(table, people, model)]
        source = provenance(title_of(file), people, model.name, table.sha256())
    first, *others = dict.fromkeys(cost for option in costs for cost in option)
    span = next(((option[0], option[-1]) for option in costs if isinstance(option, CostSpan)), None)
    sources = [replace(source, groups=column) for column in people.groups] if separately else [source]
    audits = [
        Audit(one, one, Terms(first, kind=kind), tuple(others), where, span)
        for one, where in zip(screened, sources, strict=True)
    ]
    return with_costs_of(with_each_subsidy(audits, subsidies), costs_of)


def _by_label(audits: Sequence[Audit], named: Sequence[tuple[str, float]], named_by: str) -> list[dict[Any, float]]:
    """Numbers given by the names of groups: of each audit those that it has. A name that none has is an error."""
    for name, _ in named:
        if not any(name in audit.names for audit in audits):
            everyone = (
                audits[0].published.groups if len(audits) == 1 else pd.Index([n for a in audits for n in a.names])
            )
            match_groups([name], everyone.drop_duplicates(), named_by)
    found = []
    for audit in audits:
        own = [(name, value) for name, value in named if name in audit.names]
        labels = match_groups([name for name, _ in own], audit.published.groups, named_by)
        found.append({label: value for label, (_, value) in zip(labels, own, strict=True)})
    return found


def with_each_subsidy(audits: Sequence[Audit], subsidies: Sequence[tuple[str, float]]) -> list[Audit]:
    """The same audits with subsidies given by the names of groups."""
    paid = _by_label(audits, subsidies, "subsidy")
    return [_checked(audit, audit.terms.paying(own)) if own else audit for audit, own in zip(audits, paid, strict=True)]


def with_costs_of(audits: Sequence[Audit], costs_of: Sequence[tuple[str, float]]) -> list[Audit]:
    """The same audits with costs of single groups, given by their names."""
    costs = _by_label(audits, costs_of, "cost_of")
    return [
        _checked(audit, replace(audit.terms, cost_of=own)) if own else audit
        for audit, own in zip(audits, costs, strict=True)
    ]


def _checked(audit: Audit, terms: Terms) -> Audit:
    terms.faced_by(audit.published.groups)  # complains about terms that make no sense
    return replace(audit, terms=terms)


def with_subsidies(audit: Audit, subsidies: Sequence[tuple[str, float]]) -> Audit:
    """The same audit with subsidies given by the names of groups."""
    return with_each_subsidy([audit], subsidies)[0]
