"""``selfselect compare``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import click

from selfselect._text import printable
from selfselect.auditing import Audit, Comparison, PairedCounts, Provenance, ScreeningResult, compare
from selfselect.report.sentences.comparisons import comparison_note
from selfselect.report.tables import change_rows, difference_rows
from selfselect.tabular.data_checks import Finding, check_column_roles, check_group_names, check_labels_and_groups
from selfselect.tabular.loading import (
    DecisionColumn,
    Model,
    People,
    ScoreColumn,
    check_output,
    match_people,
    read_people,
    screen_twice,
)
from selfselect.tabular.table import Table

from .errors import show_findings
from .inputs import group_terms, meaning_line, people_columns, provenance, read_results, table_at, title_of
from .outputs import check_files, deliver
from .terminal import text_table


def run(files: tuple[str, ...], cost: tuple[float, ...], same_people: str | None, **options: Any) -> None:
    """Compare two tables, or two models on the same people. An option that is given once holds for both."""
    check_files(options, force=options["force"], inputs=[*files, options["costs_file"]])
    models = _models(options)
    pairs: PairedCounts | None = None
    if len(files) == 1:
        screened, pairs = _screen_one_file(files[0], models, options)
    elif same_people is not None:
        screened, pairs = _screen_same_people(files, models, same_people, options)
    else:
        read = [read_results(*each, options, named=True) for each in zip(files, models, strict=True)]
        screened = [(results[0], source) for results, source in read]
    before, after = (
        Audit(result, result, group_terms(result.groups, each, options), (), source)
        for (result, source), each in zip(screened, (cost[0], cost[-1]) if cost else (None, None), strict=True)
    )
    show_findings(check_group_names(before.names, after.names))
    drawn = {"n_resamples": options["resamples"], "random_state": options["seed"]}
    result = compare(before, after, pairs=pairs, names=_names(files, models), **drawn)
    result = replace(result, title=options["title"] or "")
    deliver(result, options, _show)


def _models(options: Mapping[str, Any]) -> list[Model]:
    if options["prediction"]:
        return [DecisionColumn(options["prediction"][at], options["prediction_positive"]) for at in (0, -1)]
    limits = options["threshold"] or (None,)
    return [ScoreColumn(options["score"][at], limits[at], options["lower_passes"]) for at in (0, -1)]


def _names(files: Sequence[str], models: Sequence[Model]) -> tuple[str, str]:
    """What the two are called: the files, or in one file what differs between the models."""
    if len(files) == 2:
        one, other = (title_of(file) for file in files)
        return (one, other) if one != other else (files[0], files[1])
    if models[0].name != models[1].name:
        return models[0].name, models[1].name
    texts = [
        f"{model.name} {'<' if model.lower_passes else '>'} {model.threshold:g}"
        for model in models
        if isinstance(model, ScoreColumn) and model.threshold is not None
    ]
    return (texts[0], texts[1]) if len(set(texts)) == 2 else ("the first", "the second")


Screened = tuple[list[tuple[ScreeningResult, Provenance]], PairedCounts | None]


def _screen_one_file(file: str, models: Sequence[Model], options: Mapping[str, Any]) -> Screened:
    """Results of two models of one file, with their source, and how often the two agree."""
    with table_at(file, options) as table:
        people, pairs = read_people(table, people_columns(options), models)
        sources = [_source(file, *each, table, options) for each in zip(models, people, strict=True)]
    results = [each.screen() for each in people]
    _show_findings(results, models, people[0].persons, options)
    return list(zip(results, sources, strict=True)), pairs


def _screen_same_people(
    files: Sequence[str], models: Sequence[Model], identifier: str, options: Mapping[str, Any]
) -> Screened:
    """Results of two models for the people who are in both files, with their sources, and how often the two agree."""
    people, sources = [], []
    for file, model in zip(files, models, strict=True):
        with table_at(file, options) as table:
            people.append(People(table, people_columns(options), [model], [identifier], "same_people"))
            sources.append(_source(file, model, people[-1], table, options))
    first, second = people
    rows = match_people(first, second)
    left_out = sum(len(each.y) for each in people) - 2 * len(rows[0])
    if left_out:
        click.echo(f"Note: {left_out:,} people are in one of the two files only, and are left out.", err=True)
    before, after, pairs = screen_twice(first, second, rows)
    _show_findings([before, after], models, people[0].persons, options)
    return [(before, sources[0]), (after, sources[1])], pairs


def _source(file: str, model: Model, people: People, table: Table, options: Mapping[str, Any]) -> Provenance:
    return provenance(title_of(file), model, people.label, people.passes, table, options, people.persons)


def _show_findings(
    results: Sequence[ScreeningResult], models: Sequence[Model], persons: str, options: Mapping[str, Any]
) -> None:
    columns, (before, after) = people_columns(options), results
    show_findings(
        [
            *check_column_roles(columns.label, columns.groups),
            *([Finding("persons", "hint", persons)] if persons else []),
            *check_labels_and_groups(before.table, columns.label),
            *check_output(before, models[0]),
            *(check_output(after, models[1]) if models[0] != models[1] else ()),
        ]
    )


def _show(result: Comparison) -> None:
    click.echo(printable(result.verdict()))
    click.echo(meaning_line(result.before.provenance, result.after.provenance))
    click.echo("\n" + text_table(difference_rows(result), left=("",)))
    rows = change_rows(result)
    if all(len({row["cost before"], row["cost after"]} - {"-"}) < 2 for row in rows):  # the columns say nothing new
        rows = [{name: cell for name, cell in row.items() if not name.startswith("cost")} for row in rows]
    click.echo("\n" + text_table(rows, left=("group", "change"), rest="--csv and --json hold all"))
    click.echo(f"\n{comparison_note(result)}")
