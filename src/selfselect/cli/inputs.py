"""From the options of a command to a table on disk, an audit of it, and a record of where it comes from."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from typing import Any

import click
import pandas as pd

from selfselect._text import printable
from selfselect.auditing import Audit, Provenance, ScreeningResult, group_names
from selfselect.costs import Terms
from selfselect.report.money import Money
from selfselect.tabular.columns import GroupRules, match_groups
from selfselect.tabular.data_checks import Finding
from selfselect.tabular.loading import (
    DecisionColumn,
    Model,
    People,
    PeopleColumns,
    ScoreColumn,
    read_screening_results,
)
from selfselect.tabular.read import open_table
from selfselect.tabular.table import Table, listing

from .errors import BadInput, show_findings, sort_findings
from .options import CostSpan

#: Options of a command by name, as click parsed them.
Options = Mapping[str, Any]

#: Key of the notes that were shown, in click's context.
SHOWN_NOTES = "selfselect.shown_notes"


@contextmanager
def table_at(file: str, options: Options) -> Iterator[Table]:
    """Open a table. Notes about how it is read are shown once, at the end."""
    notes: list[str] = []
    try:
        names = ("encoding", "delimiter", "decimal", "sheet", "header_row", "max_bytes")
        with open_table(file, **{name: options[name] for name in names}) as table:
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
        **{field.name: options[field.name] for field in fields(PeopleColumns) if field.name in options}
    )


def group_rules(options: Options) -> GroupRules:
    """How cells become groups."""
    return GroupRules(**{field.name: options[field.name] for field in fields(GroupRules)})


def money(options: Options) -> Money | None:
    """What shares are worth, if the user said it."""
    return None if options.get("worth") is None else Money(options["worth"], options["currency"])


def model_column(options: Options) -> Model:
    """Column of a model's scores or decisions."""
    if options["score"] is not None:
        return ScoreColumn(options["score"], options["threshold"], options["lower_passes"])
    return DecisionColumn(options["prediction"], options["prediction_positive"])


def title_of(file: str) -> str:
    """Name of a table in a report."""
    return "standard input" if file == "-" else os.path.basename(file)


def provenance(
    title: str, score: Model | str, label: str, passes: str, table: Table, options: Options, persons: str
) -> Provenance:
    """Where numbers come from: the file, the command and the columns; and the words of the user for the report."""
    score = score if isinstance(score, str) else score.name
    return Provenance(
        title=options["title"] or title,
        command=shlex.join(["selfselect", *sys.argv[1:]]),
        sha256=table.sha256(),
        label=label,
        groups=" / ".join(options["groups"]),
        score=score,
        passes=passes,
        note=options["note"] or "",
        dated=options["data_date"] or "",
        persons=persons,
    )


def meaning_line(*sources: Provenance | People) -> str:
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
    findings: list[Finding] = []
    with table_at(file, options) as table:
        results, people = read_screening_results(table, people_columns(options), model, findings, groups)
        source = provenance(title_of(file), model, people.label, people.passes, table, options, people.persons)
    prefix = f"{title_of(file)}: " if named else ""
    show_findings([replace(finding, text=prefix + finding.text) for finding in findings])
    kept = [finding for finding in sort_findings(findings) if finding.severity != "hint" or finding.key == "bins"]
    warnings = tuple(map(str, kept))  # a report says what is wrong, and how far scores are rounded
    return results, replace(source, warnings=warnings)


def read_costs_file(path: str) -> dict[str, float]:
    """Costs by the name of the group, from a file that ``estimate-cost`` wrote."""
    try:
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(f"{printable(path)} is not a JSON file. Write one with selfselect estimate-cost.") from error
    costs = content.get("costs") if isinstance(content, dict) else None
    if not isinstance(costs, dict) or not costs:
        raise BadInput(f'{printable(path)} has no costs: it should hold {{"costs": {{"NAME": 0.7}}}}, one per group.')
    wrong = [
        name
        for name, cost in costs.items()
        if isinstance(cost, bool) or not isinstance(cost, int | float) or not 0 <= cost <= 1
    ]
    if wrong:
        raise BadInput(f"{printable(path)}: the cost of {listing(wrong)} is not a number between 0 and 1.")
    return {name: float(cost) for name, cost in costs.items()}


def costs_by_group(groups: Sequence[pd.Index], options: Options, general: bool) -> list[dict[Any, float]]:
    """Costs of single groups, by label, of each of some tables: those of --cost-of, else those of --costs.

    Without a general cost every group needs one. Names of --cost-of that no table has are an error; those of the file
    are not.
    """
    names, given = [group_names(each) for each in groups], dict(options.get("costs_of", ()))
    known = pd.Index([name for each in names for name in each]).drop_duplicates()
    match_groups([name for name, _ in options.get("costs_of", ())], known, "cost_of")
    if options["costs_file"] is not None:
        given = read_costs_file(options["costs_file"]) | given
    lacking = [] if general else [name for name in known if name not in given]
    if lacking:
        raise BadInput(
            f"There is no cost for {listing(lacking)}. Pass --cost for all groups without a cost of their own."
        )
    return [
        {label: given[name] for label, name in zip(labels, texts, strict=True) if name in given}
        for labels, texts in zip(groups, names, strict=True)
    ]


def group_terms(groups: pd.Index, general: float | None, options: Options, **others: Any) -> Terms:
    """Terms of one table: a cost for all groups, or one by group."""
    (own,) = costs_by_group([groups], options, general is not None)
    return Terms({z: own.get(z, general) for z in groups} if own else general, **others)


def load_audits(
    file: str, costs: Sequence[tuple[float, ...]] | float | None, options: Options, *, separately: bool = False
) -> list[Audit]:
    """Audit a table on disk: one audit, or one for each column of groups. Findings are shown first."""
    groups = tuple(options["groups"]) if separately else (None,)
    if not isinstance(costs, Sequence):
        costs = [] if costs is None else [(costs,)]
    results, source = read_results(file, model_column(options), options, groups)
    general = list(dict.fromkeys(cost for option in costs for cost in option))
    span = next(((option[0], option[-1]) for option in costs if isinstance(option, CostSpan)), None)
    costs_of = costs_by_group([result.groups for result in results], options, bool(general))
    kind = options["subsidy_kind"]
    audits = [
        Audit(
            result,
            result,
            Terms(general[0], kind=kind, cost_of=own or None) if general else Terms(own, kind=kind),
            tuple(general[1:]),
            replace(source, groups=column or source.groups),
            span,
        )
        for result, column, own in zip(results, groups, costs_of, strict=True)
    ]
    subsidies = _by_group(audits, options.get("subsidies", ()), "subsidy")
    audits = [
        replace(audit, terms=replace(audit.terms, subsidies=paid or None))
        for audit, paid in zip(audits, subsidies, strict=True)
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
