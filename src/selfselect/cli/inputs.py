"""How what was typed becomes a table on disk, an audit of it, and a record of where it came from."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import click
import pandas as pd

from selfselect._text import printable
from selfselect.auditing import Audit, Provenance
from selfselect.costs import SubsidyKind, Terms
from selfselect.tabular.columns import match_groups
from selfselect.tabular.data_checks import Finding
from selfselect.tabular.loading import (
    DecisionColumn,
    PeopleColumns,
    ScoreColumn,
    read_screening_result,
    read_screening_results,
)
from selfselect.tabular.read import open_table
from selfselect.tabular.table import Table

from .findings import in_order, tell_findings
from .options import WRITTEN, CostSpan, report_words
from .terminal import progress_bar

#: Delimiters that are hard to type.
SPELLED_OUT = {"\\t": "\t", "tab": "\t"}
#: Where the command keeps what it has said about its tables.
TOLD = "selfselect.told"


@contextmanager
def table_at(file: str, encoding: str, delimiter: str) -> Iterator[Table]:
    """Open a table, with a progress bar on a terminal; what was found out about it is said once it is read.

    The other options of :data:`.options.file_options` are taken from the running command.
    """
    sign = SPELLED_OUT.get(delimiter, delimiter)
    context = click.get_current_context(silent=True)
    written = {} if context is None else context.meta.get(WRITTEN, {})
    notes: list[str] = []
    try:
        with (
            progress_bar(file) as progress,
            open_table(file, encoding=encoding, delimiter=sign, progress=progress, **written) as table,
        ):
            notes = table.notes
            yield table
    finally:
        tell_notes(notes)


def tell_notes(notes: Sequence[str]) -> None:
    """Say what was found out about a table and is not said yet: it may be read twice."""
    context = click.get_current_context(silent=True)
    told: set[str] = set() if context is None else context.meta.setdefault(TOLD, set())
    for note in notes:
        if note not in told:
            click.echo(f"Note: {printable(note)}", err=True)
            told.add(note)


def people_columns(
    label: str,
    positive: str | Sequence[str] | None,
    groups: Sequence[str],
    missing: str,
    weight: str | None = None,
    untested: bool = False,
) -> PeopleColumns:
    """Columns of labels, groups and weights, as the options name them."""
    named = (positive,) if isinstance(positive, str) else tuple(positive or ())
    return PeopleColumns(label, tuple(groups), named or None, missing.replace("-", "_"), weight, untested)


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


def _either(values: str | Sequence[str]) -> str:
    return values if isinstance(values, str) else " or ".join(values)


def provenance(title: str, people: PeopleColumns, score: str, sha256: str) -> Provenance:
    """Where numbers come from: the file, what was typed, and the columns; and what a report was told to say."""
    said = report_words()
    return Provenance(
        title=said.get("title") or title,
        command=shlex.join(["selfselect", *sys.argv[1:]]),
        sha256=sha256,
        label=people.label if not people.positive else f"{people.label} = {_either(people.positive)}",
        groups=" / ".join(people.groups),
        score=score,
        note=said.get("note", ""),
        dated=said.get("data_date", ""),
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
    weight: str | None = None,
    untested: bool = False,
    costs_of: Sequence[tuple[str, float]] = (),
    separately: bool = False,
) -> list[Audit]:
    """Audit a table on disk, read once: one audit, or one for each column of groups. What looks wrong is told first."""
    people = people_columns(label, positive, groups, missing, weight, untested)
    model = model_column(score, threshold, lower_passes, prediction, prediction_positive)
    found: list[Finding] = []
    with table_at(file, encoding, delimiter) as table:
        if separately:
            screened = read_screening_results(table, people, model, found)
        else:
            screened = [read_screening_result(table, people, model, found)]
        source = provenance(title_of(file), people, score_name(model), table.sha256())
    tell_findings(found)
    source = replace(source, warnings=tuple(str(finding) for finding in in_order(found) if finding.severity != "hint"))
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
    return [
        _checked(audit, audit.terms.with_subsidies(own)) if own else audit
        for audit, own in zip(audits, paid, strict=True)
    ]


def with_costs_of(audits: Sequence[Audit], costs_of: Sequence[tuple[str, float]]) -> list[Audit]:
    """The same audits with costs of single groups, given by their names."""
    costs = _by_label(audits, costs_of, "cost_of")
    return [
        _checked(audit, replace(audit.terms, cost_of=own)) if own else audit
        for audit, own in zip(audits, costs, strict=True)
    ]


def _checked(audit: Audit, terms: Terms) -> Audit:
    for cost in (terms.cost, *audit.other_costs):
        terms.at_cost(cost).effective_cost(audit.published.groups)  # complains about terms that make no sense
    return replace(audit, terms=terms)


def with_subsidies(audit: Audit, subsidies: Sequence[tuple[str, float]]) -> Audit:
    """The same audit with subsidies given by the names of groups."""
    return with_each_subsidy([audit], subsidies)[0]
