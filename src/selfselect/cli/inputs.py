"""From the options of a command to a table on disk, an audit of it, and a record of where it comes from."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import click
import pandas as pd

from selfselect._text import printable
from selfselect.auditing import Audit, Provenance, ScreeningResult
from selfselect.costs import SubsidyKind, Terms
from selfselect.tabular.columns import match_groups
from selfselect.tabular.data_checks import Finding
from selfselect.tabular.loading import (
    DecisionColumn,
    Meaning,
    Model,
    PeopleColumns,
    ScoreColumn,
    read_screening_results,
)
from selfselect.tabular.read import open_table
from selfselect.tabular.table import Table

from .errors import show_findings, sort_findings
from .options import CostSpan
from .terminal import progress_bar

#: Options of a command by name, as click parsed them.
Options = Mapping[str, Any]

#: Delimiters that are hard to type.
DELIMITERS = {"\\t": "\t", "tab": "\t"}
#: Key of the notes that were shown, in click's context.
SHOWN_NOTES = "selfselect.shown_notes"


@contextmanager
def table_at(file: str, options: Options) -> Iterator[Table]:
    """Open a table, with a progress bar on a terminal. Notes about how it is read are shown once, at the end."""
    delimiter: str = options["delimiter"]
    written = {name: options[name] for name in ("encoding", "decimal", "sheet", "max_bytes")}
    notes: list[str] = []
    try:
        with (
            progress_bar(file) as progress,
            open_table(file, delimiter=DELIMITERS.get(delimiter, delimiter), progress=progress, **written) as table,
        ):
            notes = table.notes
            yield table
    finally:
        shown: set[str] = click.get_current_context().meta.setdefault(SHOWN_NOTES, set())
        for note in notes:
            if note not in shown:  # a command may read a table twice
                click.echo(f"Note: {printable(note)}", err=True)
                shown.add(note)


def people_columns(options: Options) -> PeopleColumns:
    """Columns of labels, groups and weights."""
    return PeopleColumns(
        options["label"],
        tuple(options["groups"]),
        tuple(options["positive"]) or None,
        options["missing"].replace("-", "_"),
        options.get("weight"),
        options.get("untested", False),
    )


def model_column(options: Options) -> Model:
    """Column of a model's scores or decisions."""
    if options["score"] is not None:
        return ScoreColumn(options["score"], options["threshold"], options["lower_passes"])
    return DecisionColumn(options["prediction"], options["prediction_positive"])


def score_name(model: Model) -> str:
    """Name of a score in a report; "minus NAME" if lower scores pass."""
    return f"minus {model.name}" if isinstance(model, ScoreColumn) and model.lower_passes else model.name


def subsidy_kind(proportional: bool) -> SubsidyKind:
    """Kind of subsidies."""
    return "proportional" if proportional else "additive"


def title_of(file: str) -> str:
    """Name of a table in a report."""
    return "standard input" if file == "-" else os.path.basename(file)


def provenance(
    title: str, people: PeopleColumns, score: str, meaning: tuple[str, str], sha256: str, options: Options
) -> Provenance:
    """Where numbers come from: the file, the command and the columns; and the words of the user for the report."""
    return Provenance(
        title=options["title"] or title,
        command=shlex.join(["selfselect", *sys.argv[1:]]),
        sha256=sha256,
        label=meaning[0],
        groups=" / ".join(people.groups),
        score=score,
        passes=meaning[1],
        note=options["note"] or "",
        dated=options["data_date"] or "",
    )


def meaning_line(*sources: Provenance | Meaning) -> str:
    """Who is qualified and who passes screening, in parentheses; of two sources that differ, both."""
    lines = [
        f"Qualified: {one.label}." + (f" A person passes screening when {one.passes}." if one.passes else "")
        for one in sources
    ]
    return printable(f"({' Then: '.join(dict.fromkeys(lines))})")


def read_results(
    file: str, model: Model, options: Options, groups: Sequence[str | None] = (None,), *, named: bool = False
) -> tuple[list[ScreeningResult], Provenance]:
    """Results of a model on a table on disk, by each column of groups. Findings are shown, with the file if named."""
    people = people_columns(options)
    findings: list[Finding] = []
    with table_at(file, options) as table:
        results, meaning = read_screening_results(table, people, model, findings, groups)
        source = provenance(title_of(file), people, score_name(model), meaning, table.sha256(), options)
    prefix = f"{title_of(file)}: " if named else ""
    show_findings([replace(finding, text=prefix + finding.text) for finding in findings])
    warnings = tuple(str(finding) for finding in sort_findings(findings) if finding.severity != "hint")
    return results, replace(source, warnings=warnings)


def load_audits(
    file: str, costs: Sequence[tuple[float, ...]], options: Options, *, separately: bool = False
) -> list[Audit]:
    """Audit a table on disk: one audit, or one for each column of groups. Findings are shown first."""
    groups = tuple(options["groups"]) if separately else (None,)
    results, source = read_results(file, model_column(options), options, groups)
    sources = [source if column is None else replace(source, groups=column) for column in groups]
    first, *others = dict.fromkeys(cost for option in costs for cost in option)
    span = next(((option[0], option[-1]) for option in costs if isinstance(option, CostSpan)), None)
    terms = Terms(first, kind=subsidy_kind(options.get("proportional", False)))
    audits = [
        Audit(result, result, terms, tuple(others), where, span) for result, where in zip(results, sources, strict=True)
    ]
    subsidies = _by_group(audits, options.get("subsidies", ()), "subsidy")
    costs_of = _by_group(audits, options["costs_of"], "cost_of")
    audits = [
        replace(audit, terms=replace(terms, subsidies=paid or None, cost_of=own or None))
        for audit, paid, own in zip(audits, subsidies, costs_of, strict=True)
    ]
    for audit in audits:
        for cost in audit.costs:  # subsidies and costs of single groups must make sense at every cost
            audit.terms.at_cost(cost).effective_cost(audit.published.groups)
    return audits


def _by_group(audits: Sequence[Audit], named: Sequence[tuple[str, float]], option: str) -> list[dict[Any, float]]:
    """Numbers given by group: for each audit those of its groups. A name that no audit has is an error."""
    values = dict(named)
    match_groups([name for name, _ in named], all_groups(audits), option)
    return [
        {label: values[name] for label, name in zip(audit.published.groups, audit.names, strict=True) if name in values}
        for audit in audits
    ]


def all_groups(audits: Sequence[Audit]) -> pd.Index:
    """Names of the groups of all audits."""
    return pd.Index([name for audit in audits for name in audit.names]).drop_duplicates()
