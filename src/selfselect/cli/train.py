"""``selfselect train``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import click
import numpy as np
import pandas as pd

from selfselect._text import printable
from selfselect._validation import BoolArray
from selfselect.auditing import Provenance, group_names
from selfselect.auditing.numbers import amount, count, percent
from selfselect.counting import encode_groups
from selfselect.tabular.encoding import TextArray
from selfselect.tabular.reading import TableReader, TwoValues
from selfselect.tabular.training import METHODS, TrainingResult, make_classifier, train_on_table

from . import BadInput
from ._files import refuse_existing, write_whole
from ._inputs import (
    NamedAmount,
    Number,
    check_report_available,
    command_line,
    file_options,
    group_columns,
    label_and_group_options,
    match_names,
    table_at,
)
from ._tables import text_table


@click.command()
@click.argument("file")
@label_and_group_options
@click.option("--cost", type=Number(0, 1), required=True, help="Cost of being tested.")
@click.option(
    "--method",
    type=click.Choice(METHODS),
    default="strategic",
    show_default=True,
    help="Blind to applications; one good threshold; or trained for those who apply.",
)
@click.option("--drop-group", is_flag=True, help="Do not let the model see the group columns.")
@click.option("--ignore", multiple=True, metavar="COLUMN", help="Column not to learn from.")
@click.option("--parity", type=Number(0), default=0.0, help="Weight of equal selection rates (strategic).")
@click.option("--equal-tpr", type=Number(0), default=0.0, help="Weight of equal true-positive rates (strategic).")
@click.option("--tolerance", type=Number(0, 1), default=0.0, help="Margin by which groups must clear the cost.")
@click.option("--subsidy", "subsidies", type=NamedAmount(), multiple=True, help="Subsidy that training counts on.")
@click.option("--proportional", is_flag=True, help="Subsidies are shares of the cost, not amounts.")
@click.option("--holdout", type=Number(0, 0.9), default=0.3, show_default=True, help="Share kept for evaluation.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the split.")
@click.option("--model", "model_file", required=True, metavar="JSON", help="Where to write the model.")
@click.option("--report", metavar="HTML", help="Write a page that people can play with.")
@file_options
def train(
    file: str,
    label: str,
    positive: str | None,
    groups: tuple[str, ...],
    missing: str,
    cost: float,
    method: Any,
    drop_group: bool,
    ignore: tuple[str, ...],
    parity: float,
    equal_tpr: float,
    tolerance: float,
    subsidies: tuple[tuple[str, float], ...],
    proportional: bool,
    holdout: float,
    seed: int,
    model_file: str,
    report: str | None,
    encoding: str,
    delimiter: str,
    force: bool,
) -> None:
    """Train a model on a table with ordinary columns: numbers, categories, missing values.

    All columns but the label are learnt from (--ignore leaves some out). Part of the rows is held out; what the model
    does to those people is shown.

    \b
    Example:
      selfselect train loans.csv --label repaid --group region --cost 0.7 --method semi --model loans.json
    """  # noqa: D301
    refuse_existing([model_file, report], force=force, inputs=[file])
    if report is not None:
        check_report_available()
    with table_at(file, encoding, delimiter) as table:
        cells, y, group_frame = read_for_training(
            table, label=label, positive=positive, groups=groups, missing=missing, ignore=ignore, drop_group=drop_group
        )
        digest = table.sha256()
    kind: Any = "proportional" if proportional else "additive"
    paid = None
    if subsidies:
        labels = encode_groups(group_frame, n_rows=len(y), missing=missing.replace("-", "_")).labels
        chosen = match_names([name for name, _ in subsidies], group_names(labels), labels, "--subsidy")
        paid = {label: value for label, (_, value) in zip(chosen, subsidies, strict=True)}
    classifier = make_classifier(
        method,
        cost=cost,
        subsidies=paid,
        subsidy_kind=kind,
        parity=parity,
        equal_tpr=equal_tpr,
        tolerance=tolerance,
        random_state=seed,
    )
    source = Provenance(
        title=f"{method} model of {'standard input' if file == '-' else os.path.basename(file)}",
        command=command_line(),
        sha256=digest,
        label=label,
        groups=" / ".join(groups),
        score="score of the model",
    )
    done = train_on_table(
        cells, y, group_frame, classifier, holdout=holdout, seed=seed, missing=missing.replace("-", "_"), source=source
    )
    _show(done)
    write_whole(model_file, done.model.to_json(), force=force)
    click.echo(f"\nModel: {printable(model_file)} (selfselect predict {printable(model_file)} NEW.csv)")
    if report is not None:
        write_whole(report, done.audit.to_html(), force=force)
        click.echo(f"Report: {printable(report)} (open it in any browser; it needs no network)")


def read_for_training(
    table: TableReader,
    *,
    label: str,
    positive: str | None,
    groups: Sequence[str],
    missing: str,
    ignore: Sequence[str],
    drop_group: bool,
) -> tuple[dict[str, TextArray], BoolArray, pd.DataFrame]:
    """Columns to learn from as text, who is qualified, and the groups."""
    if len(set(groups)) < len(groups):
        raise BadInput("--group names a column twice.")
    where = [table.position(label, "--label"), *(table.position(name, "--group") for name in groups)]
    for name in ignore:
        table.position(name, "--ignore")
    if label in groups:
        raise BadInput("--label and --group name the same column.")
    hidden = {label, *ignore, *(groups if drop_group else ())}
    used = [name for name in table.header if name not in hidden]
    where += [table.position(name, "to learn from") for name in used]
    labels = TwoValues(label, positive, "qualified")
    parts: list[list[TextArray]] = [[] for _ in used]
    y_parts, group_parts = [], []
    for chunk in table.chunks(where):
        y_parts.append(labels(table, chunk, 0))
        group_parts.append(group_columns(table, chunk, groups, 1, missing))
        for part, cells in zip(parts, chunk.columns[1 + len(groups) :], strict=True):
            part.append(np.array(cells, dtype=object))
    if not y_parts:
        raise table.error("there is a header but no row.")
    labels.finish(table)
    y = np.concatenate(y_parts)
    if y.all() or not y.any():
        raise table.error("all rows have the same value; training needs both.", column=label)
    if not used:
        raise table.error("no column is left to learn from.")
    columns = {name: np.concatenate(part) for name, part in zip(used, parts, strict=True)}
    return columns, y, pd.concat(group_parts, ignore_index=True)


def _show(done: TrainingResult) -> None:
    for note in done.notes:
        click.echo(f"Note: {printable(note)}", err=True)
    found = done.audit
    on = f"{count(done.held_out)} people it has not seen" if done.held_out else "the same people (nobody was held out)"
    click.echo(f"Trained on {count(done.trained_on)} people, evaluated on {on}.")
    click.echo(printable(found.verdict()))
    frame = found.to_frame()
    rows = [
        {
            "group": name,
            "people": count(row.n),
            "qualified": percent(row.base_rate),
            "pass": count(row.selected),
            "published precision": percent(row.precision) if row.selected else "-",
            "cost": amount(row.cost),
            "applies": "yes" if row.applies else "no",
        }
        for name, row in zip(found.names, frame.itertuples(), strict=True)
    ]
    click.echo("\n" + text_table(rows, left=("group",)))
    result = found.outcome
    lines = [
        {"": "assumed accuracy", " ": percent(result.assumed_accuracy)},
        {"": "induced accuracy", " ": percent(result.induced_accuracy)},
        {"": "social cost", " ": percent(result.social_cost)},
        {"": "people who apply", " ": percent(result.application_rate)},
    ]
    click.echo(text_table(lines, left=("",)))
