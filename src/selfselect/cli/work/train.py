"""What ``selfselect train`` does."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import click
import pandas as pd

from selfselect._text import printable
from selfselect.auditing import Audit
from selfselect.auditing.formats import amount, count, level, percent
from selfselect.deciding import Terms
from selfselect.tabular.checking import match_groups
from selfselect.tabular.loading import TrainingTable, read_for_training
from selfselect.tabular.training import Method, TrainingResult, make_classifier, train_on_table

from ..inputs import people_columns, provenance, subsidy_kind, table_at, title_of
from ..outputs import check_report_available, refuse_existing, write_output
from ..terminal import or_dash, text_table, yes_or_no


def run(
    *,
    file: str,
    encoding: str,
    delimiter: str,
    label: str,
    positive: str | None,
    groups: tuple[str, ...],
    missing: str,
    cost: float,
    method: Method,
    drop_group: bool,
    ignore: tuple[str, ...],
    subsidies: tuple[tuple[str, float], ...],
    proportional: bool,
    holdout: float,
    seed: int,
    model_file: str,
    report: str | None,
    force: bool,
    **settings: Any,
) -> None:
    """Train a model on a table, show what it does to held-out people, and write it."""
    refuse_existing([model_file, report], force=force, inputs=[file])
    if report is not None:
        check_report_available()
    columns = people_columns(label, positive, groups, missing)
    with table_at(file, encoding, delimiter) as table:
        people = read_for_training(table, columns, ignore=ignore, learn_from_groups=not drop_group)
        source = provenance(f"{method} model of {title_of(file)}", columns, "score of the model", table.sha256())
    terms = Terms(cost, _subsidies(subsidies, people), subsidy_kind(proportional))
    classifier = make_classifier(method, terms, random_state=seed, **settings)
    done = train_on_table(people, classifier, holdout=holdout, seed=seed, provenance=source)
    write_output(model_file, done.model.to_json(), force=force)
    if report is not None:
        write_output(report, done.audit.to_html(), force=force)
    _show(done)
    click.echo(f"\nModel: {printable(model_file)} (selfselect predict {printable(model_file)} NEW.csv)")
    if report is not None:
        click.echo(f"Report: {printable(report)} (open it in any browser; it needs no network)")


def _subsidies(subsidies: Sequence[tuple[str, float]], people: TrainingTable) -> dict[Any, float] | None:
    labels = match_groups([name for name, _ in subsidies], people.groups.labels, "subsidy")
    return {label: value for label, (_, value) in zip(labels, subsidies, strict=True)} or None


def _group_rows(found: Audit) -> list[dict[str, str]]:
    """Groups as the table shows them; with the bound of precision, where people go by it."""
    frame, terms = found.to_frame(), found.terms
    bounds = terms.comes_at(found.published.counts)
    rows = []
    for i, name in enumerate(found.names):
        bound = {} if terms.confidence is None else {f"surely ({level(terms.confidence)})": or_dash(bounds[i])}
        rows.append(_group_row(name, frame.iloc[i], bound, found.of_new_people))
    return rows


def _group_row(name: str, row: pd.Series, bound: dict[str, str], of_new_people: bool) -> dict[str, str]:
    """A group as the table shows it; what it got of what it was promised, where new people can tell."""
    shown = {
        "group": name,
        "people": count(row["n"]),
        "qualified": percent(row["base_rate"]),
        "pass": count(row["selected"]),
        "published precision": or_dash(row["precision"]),
        **bound,
        "cost": amount(row["cost"]),
        "applies": yes_or_no(row["applies"]),
    }
    if not of_new_people:
        return shown
    interval = f"{or_dash(row['delivered_low'])} to {or_dash(row['delivered_high'])}"
    return shown | {
        "delivered": or_dash(row["delivered"]),
        "95% interval": "-" if math.isnan(row["delivered"]) else interval,
        "promise kept": row["promise_kept"] or "-",
    }


def _show(done: TrainingResult) -> None:
    for note in done.notes:
        click.echo(f"Note: {printable(note)}", err=True)
    found = done.audit
    if done.held_out:
        on = f"{count(done.held_out)} people it has not seen"
    else:
        each = ", each by a model that was not fitted to them" if done.unseen else ""
        on = f"the same people{each} (nobody was held out)"
    click.echo(f"Trained on {count(done.trained_on)} people, evaluated on {on}.")
    click.echo(printable(found.verdict()))
    click.echo("\n" + text_table(_group_rows(found), left=("group",)))
    lines = [
        {"": "assumed accuracy", " ": percent(found.assumed_accuracy)},
        {"": "induced accuracy", " ": percent(found.induced_accuracy)},
        {"": "social cost", " ": percent(found.social_cost)},
        {"": "people who apply", " ": percent(found.application_rate)},
    ]
    click.echo(text_table(lines, left=("",)))
