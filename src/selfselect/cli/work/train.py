"""What ``selfselect train`` does."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import click
import pandas as pd

from selfselect._formats import amount, count, level
from selfselect._text import printable
from selfselect.auditing import Audit
from selfselect.costs import Terms
from selfselect.learning import InfeasibleError
from selfselect.report.sentences.training import answers, training_note, training_opening, training_verdict
from selfselect.report.tables import outcome_rows
from selfselect.tabular.checking import match_groups
from selfselect.tabular.fitness import broken_conditions, rejected, shut_out
from selfselect.tabular.loading import TrainingTable, read_for_training
from selfselect.tabular.suspicion import Finding
from selfselect.tabular.training import Method, TrainingResult, make_classifier, train_on_table

from ..errors import CONDITION_FAILED
from ..findings import tell_findings
from ..inputs import people_columns, provenance, subsidy_kind, table_at, title_of
from ..outputs import check_report_available, refuse_existing, write_output
from ..terminal import or_dash, text_table


def run(
    *,
    file: str,
    encoding: str,
    delimiter: str,
    label: str,
    positive: tuple[str, ...],
    groups: tuple[str, ...],
    missing: str,
    cost: float,
    method: Method,
    use_group: bool,
    ignore: tuple[str, ...],
    require: tuple[str, ...],
    max_social_cost: float | None,
    min_selection_rate: float | None,
    allow_shut_out: bool,
    subsidies: tuple[tuple[str, float], ...],
    proportional: bool,
    holdout: float,
    seed: int,
    model_file: str,
    report: str | None,
    force: bool,
    **settings: Any,
) -> None:
    """Train a model on a table, show what it does to held-out people, and write it, unless that would mislead."""
    refuse_existing([model_file, report], force=force, inputs=[file])
    if report is not None:
        check_report_available()
    columns = people_columns(label, positive, groups, missing)
    found: list[Finding] = []
    with table_at(file, encoding, delimiter) as table:
        people = read_for_training(table, columns, ignore=ignore, learn_from_groups=use_group, found=found)
        source = provenance(f"{method} model of {title_of(file)}", columns, "score of the model", table.sha256())
    tell_findings(found)
    terms = Terms(cost, _subsidies(subsidies, people), subsidy_kind(proportional))
    conditions: dict[str, Any] = {
        "require": match_groups(list(dict.fromkeys(require)), people.groups.labels, "require"),
        "max_social_cost": max_social_cost,
        "min_selection_rate": min_selection_rate,
    }
    classifier = make_classifier(method, terms, random_state=seed, **conditions, **settings)
    try:
        done = train_on_table(people, classifier, holdout=holdout, seed=seed, provenance=source)
    except InfeasibleError as error:
        _refuse([f"Condition failed: {error}"], model_file)
    failed = [
        f"Condition failed: {broken.text} (--{broken.condition.replace('_', '-')})."
        for broken in broken_conditions(done.audit, **conditions)
    ]
    shut = [f"{str(group)[0].upper()}{str(group)[1:]}." for group in shut_out(done.audit)]
    if shut and not allow_shut_out:
        failed += shut
    if not failed:  # files first: what is printed may be cut short
        write_output(model_file, done.model.to_json(), force=force)
        if report is not None:
            write_output(
                report,
                done.audit.to_html(opening=training_opening(done.audit, done.trained_on, done.held_out, done.unseen)),
                force=force,
            )
    _show(done)
    if failed:
        hint = (
            "Ask for --min-selection-rate (semi, thresholds, strategic), --require or --max-social-cost (thresholds, "
            "strategic), try another --method, or pass --allow-shut-out."
        )
        _refuse([*failed, *([hint] if shut and not allow_shut_out else [])], model_file)
    for line in shut:
        click.echo(f"Warning: {printable(line)}", err=True)
    click.echo(f"\nModel: {printable(model_file)} (selfselect predict {printable(model_file)} NEW.csv)")
    if report is not None:
        click.echo(f"Report: {printable(report)} (open it in any browser; it needs no network)")


def _refuse(reasons: list[str], model_file: str) -> NoReturn:
    """End without a model, saying why."""
    for line in reasons:
        click.echo(printable(line), err=True)
    click.echo(f"No model is written to {printable(model_file)}.", err=True)
    sys.exit(CONDITION_FAILED)


def _subsidies(subsidies: Sequence[tuple[str, float]], people: TrainingTable) -> dict[Any, float] | None:
    labels = match_groups([name for name, _ in subsidies], people.groups.labels, "subsidy")
    return {label: value for label, (_, value) in zip(labels, subsidies, strict=True)} or None


def _group_rows(found: Audit) -> list[dict[str, str]]:
    """Groups as the table shows them; with the bound of precision, where people go by it."""
    frame, terms = found.to_frame(), found.terms
    bounds = terms.max_accepted_cost(found.published.counts)
    counted = found.population.spread_over(found.published.groups).to_frame()
    answer = answers(found, rejected(found.published.counts))
    rows = []
    for i, name in enumerate(found.names):
        bound = (
            {} if terms.confidence is None else {f"at least ({level(terms.confidence)} confidence)": or_dash(bounds[i])}
        )
        rows.append(_group_row(name, frame.iloc[i], counted.iloc[i], bound, answer[i], found.of_new_people))
    return rows


def _group_row(
    name: str, row: pd.Series, counted: pd.Series, bound: dict[str, str], answer: str, of_new_people: bool
) -> dict[str, str]:
    """A group as the table shows it: the people who are counted, what was published, and what they got of it."""
    of_published = f" of {count(row['selected'])}" if of_new_people and row["selected"] else ""
    shown = {
        "group": name,
        "people": count(counted["n"]),
        "qualified": or_dash(counted["base_rate"]),
        "pass": count(counted["selected"]),
        "published precision": or_dash(row["precision"]) + of_published,
        **bound,
        "cost": amount(row["cost"]),
        "applies": answer,
    }
    if not of_new_people:
        return shown
    interval = f"{or_dash(row['delivered_low'])} to {or_dash(row['delivered_high'])}"
    return shown | {
        "new precision": or_dash(row["delivered"]),
        "95% interval": "-" if math.isnan(row["delivered"]) else interval,
        "as published": row["promise_kept"] or "-",
    }


def _show(done: TrainingResult) -> None:
    for note in done.notes:
        click.echo(f"Note: {printable(note)}", err=True)
    found = done.audit
    click.echo(training_note(done.trained_on, done.held_out, done.unseen))
    whose = "held-out people" if done.held_out else "people"
    click.echo(printable(training_verdict(found, whose, rejected(found.published.counts))))
    click.echo("\n" + text_table(_group_rows(found), left=("group",)))
    click.echo(text_table(outcome_rows({" ": found}), left=("",)))
