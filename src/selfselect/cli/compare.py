"""``selfselect compare``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import click
import numpy as np

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
    screen_twice,
)

from .errors import show_findings
from .inputs import group_terms, meaning_line, people_columns, provenance, read_results, table_at, title_of
from .outputs import check_files, deliver
from .terminal import text_table


def run(files: tuple[str, ...], cost: tuple[float, ...], same_people: str | None, **options: Any) -> None:
    """Compare two tables, or two models on the same people. An option that is given once holds for both."""
    check_files(options, force=options["force"], inputs=[*files, options["costs_file"]])
    models = _models(options)
    pairs: PairedCounts | None = None
    if len(files) == 1 or same_people is not None:
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


def _screen_same_people(
    files: Sequence[str], models: Sequence[Model], identifier: str | None, options: Mapping[str, Any]
) -> tuple[list[tuple[ScreeningResult, Provenance]], PairedCounts]:
    """Results of two models for the same people, with their sources, and how often the two agree."""
    columns, others = people_columns(options), [] if identifier is None else [identifier]
    people, sources = [], []
    for file, wanted in zip(files, [[models[0]], [models[1]]] if len(files) == 2 else [list(models)], strict=True):
        with table_at(file, options) as table:
            read = People(table, columns, wanted, others, "same_people")
            for model, output in zip(wanted, read.outputs, strict=True):
                words = read.label, output.passes
                sources.append(provenance(title_of(file), model, *words, table, options, read.persons))
        people.append(read)
    first, second = people[0], people[-1]
    rows = (np.arange(len(first.y)),) * 2 if identifier is None else match_people(first, second)
    left_out = len(first.y) + len(second.y) - 2 * len(rows[0])
    if left_out:
        click.echo(f"Note: {left_out:,} people are in one of the two files only, and are left out.", err=True)
    before, after, pairs = screen_twice(first, second, rows)
    show_findings(
        [
            *check_column_roles(columns.label, columns.groups),
            *([Finding("persons", "hint", first.persons)] if first.persons else []),
            *check_labels_and_groups(before.table, columns.label),
            *check_output(before, models[0]),
            *(check_output(after, models[1]) if models[0] != models[1] else ()),
        ]
    )
    return [(before, sources[0]), (after, sources[-1])], pairs


def _show(result: Comparison) -> None:
    click.echo(printable(result.verdict()))
    click.echo(meaning_line(result.before.provenance, result.after.provenance))
    click.echo("\n" + text_table(difference_rows(result), left=("",)))
    rows = change_rows(result)
    if all(len({row["cost before"], row["cost after"]} - {"-"}) < 2 for row in rows):  # the columns say nothing new
        rows = [{name: cell for name, cell in row.items() if not name.startswith("cost")} for row in rows]
    click.echo("\n" + text_table(rows, left=("group", "change"), rest="--csv and --json hold all"))
    click.echo(f"\n{comparison_note(result)}")
