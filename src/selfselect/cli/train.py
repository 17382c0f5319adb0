"""``selfselect train``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NoReturn

import click

from selfselect._files import write_atomically
from selfselect._formats import amount, count, level, or_dash
from selfselect._text import printable

from .errors import CONDITION_FAILED, show_findings
from .options import Number, cost_option, file_options, people_options, report_options, seed_option, subsidy_options
from .outputs import HTML, MODEL, check_files
from .terminal import text_table

if TYPE_CHECKING:
    from selfselect.auditing import Audit
    from selfselect.tabular.data_checks import Finding
    from selfselect.tabular.train import Method


#: Methods by name; see :mod:`selfselect.tabular.train`.
METHODS = ("naive", "semi", "thresholds", "strategic")


@click.command(short_help="Train a model that takes self-selection into account.")
@click.argument("file")
@people_options
@cost_option
@click.option(
    "--method",
    type=click.Choice(METHODS),
    default="strategic",
    show_default=True,
    help="naive: ignores who applies; semi: one good threshold; thresholds: one per group, over a logistic regression "
    "(predictions need the group); strategic: trained for those who apply.",
)
@click.option("--use-group", is_flag=True, help="Let the model learn from the group columns too.")
@click.option("--ignore", multiple=True, metavar="COLUMN", help="Column not to learn from.")
@click.option(
    "--parity",
    type=Number(0, 1),
    metavar="RATIO",
    help="Least ratio of selection rates between any two groups, in training (0.8: four fifths).",
)
@click.option(
    "--tpr-parity",
    type=Number(0, 1),
    metavar="RATIO",
    help="The same of true-positive rates: of qualified people who pass.",
)
@click.option(
    "--margin",
    type=Number(0, 1),
    help="Margin by which groups must clear the cost (semi, strategic) [default: that of the method's classifier in "
    "Python].",
)
@click.option(
    "--require", multiple=True, metavar="NAME", help="Write no model (exit code 1) unless this group applies."
)
@click.option(
    "--max-social-cost",
    type=Number(0, 1),
    metavar="SHARE",
    help="Write no model (exit code 1) if a larger share of qualified people would not apply.",
)
@click.option(
    "--min-selection-rate",
    type=Number(0, 1),
    metavar="SHARE",
    help="Write no model (exit code 1) that passes a smaller share of any group.",
)
@click.option("--allow-shut-out", is_flag=True, help="Write a model even if it passes nobody of a group.")
@subsidy_options
@click.option("--holdout", type=Number(0, 0.9), default=0.3, show_default=True, help="Share kept for evaluation.")
@seed_option("Of the split.")
@click.option("--model", "model_file", required=True, metavar="SKOPS", help="Where to write the model (.skops).")
@report_options
@file_options
def train(file: str, method: Method, seed: int, model_file: str, report: str | None, **options: Any) -> None:
    """Train a model on a table with ordinary columns: numbers, categories, missing values.

    Features are all columns but the label and the groups (--ignore leaves some out, --use-group adds the groups). Part
    of the rows is held out to evaluate the model. A model that does not meet --require, --max-social-cost and
    --min-selection-rate is not written. Methods are trained to meet the conditions that they support.

    \b
    Example:
      selfselect train loans.csv --label repaid --positive yes --group region \\
        --cost 0.7 --method semi --model loans.skops

    Exit code 0: fine; 1: a condition does not hold, or the model passes nobody (or under 1%) of a group with ten or
    more qualified people (--allow-shut-out writes it all the same); 2: wrong input.
    """  # noqa: D301
    from selfselect.costs import Terms
    from selfselect.estimators.io import model_bytes
    from selfselect.learning import InfeasibleError
    from selfselect.report import check_available
    from selfselect.report.pages import audit_page, training_opening
    from selfselect.report.tables import outcome_rows
    from selfselect.tabular.columns import match_groups
    from selfselect.tabular.loading import read_for_training
    from selfselect.tabular.model_checks import shut_out, unmet_conditions
    from selfselect.tabular.train import make_classifier, train_on_table

    from .inputs import meaning_line, people_columns, provenance, subsidy_kind, table_at, title_of

    check_files([(model_file, MODEL), (report, HTML)], force=options["force"], inputs=[file])
    if report is not None:
        check_available()
    columns = people_columns(options)
    findings: list[Finding] = []
    with table_at(file, options) as table:
        people = read_for_training(
            table, columns, ignore=options["ignore"], learn_from_groups=options["use_group"], findings=findings
        )
        title = f"{method} model of {title_of(file)}"
        meaning = (people.qualified, "score of the model > 0")
        source = provenance(title, columns, "score of the model", meaning, table.sha256(), options)
    show_findings(findings)
    names, amounts = zip(*options["subsidies"], strict=True) if options["subsidies"] else ((), ())
    paid = dict(zip(match_groups(names, people.groups.labels, "subsidy"), amounts, strict=True))
    terms = Terms(options["cost"], paid or None, subsidy_kind(options["proportional"]))
    conditions = {name: options[name] for name in ("max_social_cost", "min_selection_rate")}
    conditions["require"] = match_groups(list(dict.fromkeys(options["require"])), people.groups.labels, "require")
    settings = {name: options[name] for name in ("parity", "tpr_parity", "margin")}
    classifier = make_classifier(method, terms, random_state=seed, **conditions, **settings)
    try:
        result = train_on_table(people, classifier, holdout=options["holdout"], seed=seed, provenance=source)
    except InfeasibleError as error:
        _refuse([f"Condition failed: {error}"], model_file)
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
    opening = training_opening(result.trained_on, result.held_out, result.unseen)
    if not failed:  # files first: printing may end early
        write_atomically(model_file, model_bytes(result.model))
        if report is not None:
            write_atomically(report, audit_page(result.audit, opening))
    for note in result.notes:
        click.echo(f"Note: {printable(note)}", err=True)
    click.echo(opening.paragraphs[0])
    click.echo(printable(result.audit.verdict()))
    click.echo(meaning_line(result.audit.provenance))
    click.echo("\n" + text_table(_group_rows(result.audit), left=("group",)))
    click.echo(text_table(outcome_rows({" ": result.audit}), left=("",)))
    if failed:
        _refuse(failed, model_file)
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


def _group_rows(audit: Audit) -> list[dict[str, str]]:
    """Groups as the table shows them: the people who are counted, what was published, and what new people got."""
    from selfselect.report.tables import applies_text, interval_text

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
            cells[f"at least ({level(confidence)} confidence)"] = or_dash(bounds[i])
        cells |= {"cost": amount(row["cost"]), "applies": applies_text(row)}
        if audit.of_new_people:
            cells |= {
                "new precision": or_dash(row["delivered"]),
                "95% interval": interval_text(row["delivered_low"], row["delivered_high"]),
                "as published": row["promise_kept"] or "-",
            }
        rows.append(cells)
    return rows
