"""``selfselect train``."""

from __future__ import annotations

import sys
from typing import Any, NoReturn

import click

from selfselect._files import write_atomically
from selfselect._formats import amount, count, or_dash, percent
from selfselect._text import printable
from selfselect.auditing import Audit
from selfselect.estimators.io import model_bytes
from selfselect.learning import InfeasibleError
from selfselect.report.pages import audit_page, training_opening
from selfselect.report.sentences.frontiers import BY_GROUP
from selfselect.report.tables import interval_text, outcome_rows, status_text
from selfselect.tabular.columns import match_groups
from selfselect.tabular.data_checks import Finding
from selfselect.tabular.loading import read_for_training
from selfselect.tabular.train import Method, make_classifier, shut_out, train_on_table, unmet_conditions

from .audit import basis_of_conditions, stated_conditions
from .errors import CONDITION_FAILED, show_findings
from .inputs import group_terms, meaning_line, people_columns, provenance, table_at, title_of
from .outputs import check_files, for_files
from .terminal import text_table

#: Share of qualified people who stay away from which on no model is written, unless that is allowed.
MOST = 0.5


def run(file: str, method: Method, seed: int, model: str, report: str | None, **options: Any) -> None:
    """Train a model, and write it if it meets the conditions."""
    check_files({"model": model, "report": report}, force=options["force"], inputs=[file, options["costs_file"]])
    columns = people_columns(options)
    findings: list[Finding] = []
    with table_at(file, options) as table:
        people = read_for_training(
            table, columns, ignore=options["ignore"], learn_from_groups=options["use_group"], findings=findings
        )
        title = f"{method} model of {title_of(file)}"
        score = "score of the model"
        source = provenance(title, score, people.qualified, f"{score} > 0", table, options, people.persons)
    show_findings(findings)
    names, amounts = zip(*options["subsidies"], strict=True) if options["subsidies"] else ((), ())
    paid = dict(zip(match_groups(names, people.groups.labels, "subsidy"), amounts, strict=True))
    terms = group_terms(
        people.groups.labels, options["cost"], options, subsidies=paid or None, kind=options["subsidy_kind"]
    )
    conditions = {name: options[name] for name in ("max_social_cost", "min_selection_rate")}
    conditions["require"] = match_groups(list(dict.fromkeys(options["require"])), people.groups.labels, "require")
    settings = {name: options[name] for name in ("parity", "tpr_parity", "margin")}
    classifier = make_classifier(method, terms, random_state=seed, **conditions, **settings)
    try:
        result = train_on_table(people, classifier, holdout=options["holdout"], seed=seed, provenance=source)
    except InfeasibleError as error:
        _refuse([f"Condition failed: {error}"], model)
    failed = [
        f"Condition failed: {text} (--{name.replace('_', '-')})."
        for name, text in unmet_conditions(result.audit, **conditions)
    ]
    shut = shut_out(result.audit)
    if shut and not options["allow_shut_out"]:
        failed += [
            *shut,
            "Ask for --min-selection-rate (semi, thresholds, strategic), --require or --max-social-cost (thresholds, "
            "strategic), try another --method, or pass --allow-shut-out.",
        ]
    if options["surely"]:
        known = set(failed)
        stated = stated_conditions(result.audit, conditions["require"], options["max_social_cost"], surely=True)
        checked = [wrong for _, wrong in stated if wrong]
        failed += [f"Condition failed: {line}" for line in checked if f"Condition failed: {line}" not in known]
    if options["require"] or options["max_social_cost"] is not None:
        click.echo(basis_of_conditions(options["surely"]), err=True)
    away = result.audit.social_cost
    stay_away = []
    if options["max_social_cost"] is None and away > MOST:
        stay_away = [f"{percent(away)} of qualified people would stay away from this model."]
        if not options["allow_shut_out"]:
            failed += [
                *stay_away,
                "Lower the cost, try another --method, state a --max-social-cost, or pass --allow-shut-out.",
            ]
    opening = training_opening(result.trained_on, result.held_out, result.unseen)
    if not failed:  # files first: printing may end early
        least = options["min_cell"]
        shared = for_files(result.audit, least, {"model": model})
        write_atomically(model, model_bytes(result.model, least))
        if report is not None:
            write_atomically(report, audit_page(shared, opening))
    for note in result.notes:
        click.echo(f"Note: {printable(note)}", err=True)
    click.echo(opening.paragraphs[0])
    click.echo(printable(result.audit.verdict()))
    click.echo(meaning_line(result.audit.provenance))
    click.echo("\n" + text_table(_group_rows(result.audit), left=("group",)))
    click.echo(text_table(outcome_rows({" ": result.audit}), left=("",)))
    if failed:
        _refuse(failed, model)
    warnings = [*shut, *stay_away, *([BY_GROUP] if method == "thresholds" else [])]
    for line in warnings:
        click.echo(f"Warning: {printable(line)}", err=True)
    click.echo(f"\nModel: {printable(model)} (selfselect predict {printable(model)} NEW.csv)")
    if report is not None:
        click.echo(f"Report: {printable(report)} (open it in any browser; it needs no network)")


def _refuse(reasons: list[str], model_file: str) -> NoReturn:
    """End without a model, saying why."""
    for line in reasons:
        click.echo(printable(line), err=True)
    click.echo(f"No model is written to {printable(model_file)}.", err=True)
    sys.exit(CONDITION_FAILED)


def _group_rows(audit: Audit) -> list[dict[str, str]]:
    """Groups as the table shows them: the people who are counted, what was published, and what new people got."""
    confidence = audit.terms.confidence
    published = audit.to_frame().to_dict("records")
    counted = audit.population.reindex(audit.published.groups).to_frame().to_dict("records")
    bounds = audit.terms.max_accepted_cost(audit.published.groups, audit.published.counts)
    rows = []
    for i, (name, row, people) in enumerate(zip(audit.names, published, counted, strict=True)):
        of_published = f" of {count(row['selected'])}" if audit.of_new_people and row["selected"] else ""
        cells = {
            "group": name,
            "people": count(people["n"]),
            "qualified": or_dash(people["base_rate"]),
            "pass": count(people["selected"]),
            "published precision": or_dash(row["precision"]) + of_published,
        }
        if confidence is not None:
            cells["lower bound"] = or_dash(bounds[i])
        cells |= {"cost": amount(row["cost"]), "status": status_text(row)}
        if audit.of_new_people:
            cells |= {
                "new precision": or_dash(row["delivered"]),
                "95% interval": interval_text(row["delivered_low"], row["delivered_high"]),
                "as published": row["promise_kept"] or "-",
            }
        rows.append(cells)
    return rows
