"""What ``selfselect compare`` does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

import click

from selfselect._text import printable
from selfselect.auditing import Audit, Comparison, PairedCounts, ScreeningResult, compare
from selfselect.costs import Terms
from selfselect.report.sentences.comparisons import comparison_notes
from selfselect.report.tables import change_rows, difference_rows
from selfselect.tabular.loading import DecisionColumn, PeopleColumns, ScoreColumn, read_screening_result
from selfselect.tabular.pairing import Model, Rows, read_rows, same_people, screened_twice
from selfselect.tabular.suspicion import (
    Finding,
    suspect_columns,
    suspect_decisions,
    suspect_names,
    suspect_people,
    suspect_score,
)

from ..findings import tell_findings
from ..inputs import people_columns, provenance, score_name, table_at, title_of
from ..options import report_words
from ..outputs import Outputs
from ..terminal import text_table

Given = TypeVar("Given")


def run(
    *,
    files: tuple[str, ...],
    label: str,
    positive: tuple[str, ...],
    groups: tuple[str, ...],
    missing: str,
    weight: str | None,
    scores: tuple[str, ...],
    thresholds: tuple[float, ...],
    lower_passes: bool,
    predictions: tuple[str, ...],
    prediction_positive: str | None,
    costs: tuple[tuple[float, ...], ...],
    same_people: str | None,
    resamples: int,
    seed: int,
    report: str | None,
    json_file: str | None,
    csv_file: str | None,
    force: bool,
    encoding: str,
    delimiter: str,
) -> None:
    """Compare two tables, or two models on one, show and write what changed."""
    outputs = Outputs(report, json_file, csv_file, force)
    outputs.check(files)
    people = people_columns(label, positive, groups, missing, weight)
    models = _models(scores, thresholds, lower_passes, predictions, prediction_positive)
    how = (encoding, delimiter)
    first, second = (Terms(cost[0]) for cost in _twice(costs))
    pairs: PairedCounts | None = None
    if len(files) == 1 or same_people is not None:
        before, after, pairs = _the_same(files, people, models, same_people, (first, second), how)
    else:
        before, after = (
            _audit(file, people, model, terms, how)
            for file, model, terms in zip(files, models, (first, second), strict=True)
        )
    tell_findings(suspect_names(before.names, after.names))
    made = compare(before, after, pairs=pairs, names=_names(files, models), n_resamples=resamples, random_state=seed)
    made = replace(made, title=report_words().get("title", ""))
    frame = made.to_frame()
    frame.insert(0, "group", made.group_names)
    outputs.deliver(made, frame, _show)


def _twice(given: Sequence[Given]) -> tuple[Given, Given]:
    """What was given once holds for both."""
    return given[0], given[-1]


def _models(
    scores: Sequence[str],
    thresholds: Sequence[float],
    lower_passes: bool,
    predictions: Sequence[str],
    positive: str | None,
) -> tuple[Model, Model]:
    if predictions:
        one, other = _twice(predictions)
        return DecisionColumn(one, positive), DecisionColumn(other, positive)
    names, limits = _twice(scores), _twice(list(thresholds) or [None])
    return ScoreColumn(names[0], limits[0], lower_passes), ScoreColumn(names[1], limits[1], lower_passes)


def _names(files: Sequence[str], models: tuple[Model, Model]) -> tuple[str, str]:
    """What the two are called: the files, or in one file what differs between the models."""
    if len(files) == 2:
        one, other = (title_of(file) for file in files)
        return (one, other) if one != other else (files[0], files[1])
    if models[0].name != models[1].name:
        return models[0].name, models[1].name
    said = [
        f"{model.name} {'<' if model.lower_passes else '>'} {model.threshold:g}"
        for model in models
        if isinstance(model, ScoreColumn) and model.threshold is not None
    ]
    return (said[0], said[1]) if len(said) == 2 and said[0] != said[1] else ("the first", "the second")


def _audit(file: str, people: PeopleColumns, model: Model, terms: Terms, how: tuple[str, str]) -> Audit:
    found: list[Finding] = []
    with table_at(file, *how) as table:
        screened = read_screening_result(table, people, model, found)
        source = provenance(title_of(file), people, score_name(model), table.sha256())
    tell_findings([replace(finding, text=f"{title_of(file)}: {finding.text}") for finding in found])
    return Audit(screened, screened, terms, (), source)


def _the_same(
    files: Sequence[str],
    people: PeopleColumns,
    models: tuple[Model, Model],
    identifier: str | None,
    terms: tuple[Terms, Terms],
    how: tuple[str, str],
) -> tuple[Audit, Audit, PairedCounts]:
    """Audits of the same people under two models."""
    rows: list[Rows] = []
    sources = []
    for file, wanted in zip(files, [[models[0]], [models[1]]] if len(files) == 2 else [list(models)], strict=True):
        with table_at(file, *how) as table:
            rows.append(read_rows(table, people, wanted, identifier))
            sources.append(provenance(title_of(file), people, score_name(wanted[0]), table.sha256()))
    both = (rows[0], rows[-1])
    if identifier is not None:
        one, other, left_out = same_people(both[0], both[1], identifier, people.weight)
        both = (one, other)
        if left_out:
            click.echo(f"Note: {left_out:,} people are in one of the two files only, and are left out.", err=True)
    before, after, pairs = screened_twice(both, models, people)
    tell_findings(
        [
            *suspect_columns(people.label, people.groups),
            *suspect_people(before.table, people.label),
            *suspected(before, models[0]),
            *(suspected(after, models[1]) if models[0] != models[1] else ()),
        ]
    )
    return (
        Audit(before, before, terms[0], (), sources[0]),
        Audit(after, after, terms[1], (), sources[-1]),
        pairs,
    )


def suspected(people: ScreeningResult, model: Model) -> list[Finding]:
    """What looks wrong with what a model says."""
    return (suspect_score if isinstance(model, ScoreColumn) else suspect_decisions)(people, model.name)


def _show(made: Comparison) -> None:
    click.echo(printable(made.verdict()))
    click.echo("\n" + text_table(difference_rows(made), left=("",)))
    # costs are the same in most comparisons, and columns that say nothing new are left out
    rows = change_rows(made)
    if all(
        row["cost before"] == row["cost after"] for row in rows if "-" not in (row["cost before"], row["cost after"])
    ):
        rows = [{name: cell for name, cell in row.items() if not name.startswith("cost")} for row in rows]
    click.echo("\n" + text_table(rows, left=("group", "change"), rest="--csv and --json hold all"))
    click.echo()
    for note in comparison_notes(made):
        click.echo(note)
