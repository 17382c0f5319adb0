"""``selfselect plan``."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import click
from sklearn.exceptions import ConvergenceWarning

from selfselect._formats import amount, amount_up, count, or_dash, percent
from selfselect._text import printable, quote
from selfselect.costs import Terms
from selfselect.planning import SubsidyPlan, plan_for, plan_under_retraining, refit
from selfselect.publishing import PublishedStatistics
from selfselect.report.money import Money
from selfselect.report.sentences.plans import plan_warnings
from selfselect.report.tables import outcome_rows
from selfselect.tabular.columns import match_groups
from selfselect.tabular.features import fit_encoder, read_features
from selfselect.tabular.loading import read_for_training

from .errors import CONDITION_FAILED
from .inputs import load_audits, meaning_line, money, people_columns, table_at
from .outputs import check_files, deliver
from .terminal import text_table, yes_or_no


def run(file: str, retrain: bool, drop_group: bool, ignore: tuple[str, ...], **options: Any) -> None:
    """Find subsidies, and fail if they do not bring the targets in."""
    check_files(options, force=options["force"], inputs=[file, options["costs_file"]])
    (audit,) = load_audits(file, options["cost"], options)
    wanted = match_groups(options["targets"], audit.published.groups, "target") or None
    settings = {name: options[name] for name in ("confidence", "subsidy_kind")}
    worth, budget = money(options), options["budget"]
    if budget is not None:
        amount_paid, in_money = budget
        settings["budget"] = amount_paid / worth.worth if in_money and worth is not None else amount_paid
    if retrain:
        hidden = [*ignore, options["score"] or options["prediction"]]  # the firm trains anew, without its present model
        firm = _retraining_firm(file, hidden, not drop_group, options)
        with warnings.catch_warnings():
            # these warnings are about models that the search tried, not about the one in the plan
            warnings.simplefilter("ignore", ConvergenceWarning)
            result = plan_under_retraining(audit, firm, wanted, **settings)
    else:
        result = plan_for(audit, wanted, **settings)
    if options["budget"] is not None and not audit.population.counts.labels_known:
        click.echo(
            "Note: the budget is used for the qualified people who are known; untested people are not counted.",
            err=True,
        )
    deliver(result, options, partial(_show, worth=worth))
    for warning in plan_warnings(result):
        click.echo(f"Warning: {printable(warning)}", err=True)
    if not result.works:
        sys.exit(CONDITION_FAILED)


def _retraining_firm(
    file: str, hidden: list[str], learn_from_groups: bool, options: dict[str, Any]
) -> Callable[[Terms], PublishedStatistics]:
    """The firm's answer to subsidies: what it publishes after it trains again."""
    with table_at(file, options) as table:
        people = read_for_training(table, people_columns(options), ignore=hidden, learn_from_groups=learn_from_groups)
    frame, left_out = read_features(people.columns)
    for name, reason in left_out.items():
        click.echo(f"Note: column {quote(name)} is left out: {reason}.", err=True)
    return refit(None, fit_encoder(frame).transform(frame), people.y, people.groups, people.person)


def _show(result: SubsidyPlan, worth: Money | None) -> None:
    click.echo(printable(result.verdict()))
    if worth is not None:
        click.echo(
            f"In money: {worth.text(result.total)} in all, if being selected is worth {worth.text(1.0)} to a person."
        )
    click.echo(meaning_line(result.before.provenance))
    rest = "--csv and --json hold all"
    rows = _group_rows(result)
    if worth is not None:
        records = result.to_frame().to_dict("records")
        proportional = result.subsidy_kind == "proportional"
        priced = [worth.of(record, proportional=proportional) for record in records]
        rows = [row | _in_money(record, worth) for row, record in zip(rows, priced, strict=True)]
    click.echo("\n" + text_table(rows, left=("group",), rest=rest))
    audits = {"before": result.before, "re-trained, unpaid": result.retrained, "after": result.after}
    lines = outcome_rows({title: audit for title, audit in audits.items() if audit is not None})
    click.echo("\n" + text_table(lines, left=("",)))
    if result.path is not None:
        steps = text_table(
            _search_rows(result.path.to_dict("records"), result.spending is not None),
            left=("stay away",),
            rest="--json holds all",
        )
        click.echo("\nThe search, one re-trained model per line:\n\n" + steps)


def _in_money(record: Mapping[str, Any], worth: Money) -> dict[str, str]:
    each, paid = record["subsidy_money"], record["payment_money"]
    return {
        f"subsidy {worth.column}": "-" if each != each else worth.amount_up(each),
        f"paid {worth.column}": worth.amount(paid),
    }


def _group_rows(result: SubsidyPlan) -> list[dict[str, str]]:
    return [
        {
            "group": name,
            "target" if result.spending is None else "chosen": "yes" if row["target"] else "",
            "precision": or_dash(row["precision"]),
            "precision after": or_dash(row["precision_after"]) if result.path is not None else "",
            "cost before": amount(row["cost_before"]),
            "subsidy": "none helps" if row["subsidy"] != row["subsidy"] else amount_up(row["subsidy"]),
            "applies before": yes_or_no(row["applies_before"]),
            "re-trained, unpaid": yes_or_no(row["applies_retrained"]) if result.retrained is not None else "",
            "applies after": yes_or_no(row["applies_after"]),
            "recipients": count(row["recipients"]),
            "paid": amount(row["payment"]),
            "would take": or_dash(row["price"], amount) if "price" in row and result.path is None else "",
        }
        for name, row in zip(result.before.names, result.to_frame().to_dict("records"), strict=True)
    ]


def _search_rows(steps: list[dict[str, Any]], budgeted: bool) -> list[dict[str, str]]:
    return [
        {
            "fit": str(i),
            **{name: amount_up(value) for name, value in step.items() if name.startswith("subsidy of ")},
            "works": yes_or_no(step["works"]) if not budgeted else "",
            "paid": amount(step["total"]) if budgeted else "",
            "accuracy among applicants": percent(step["induced_accuracy"]),
            "qualified who stay away": percent(step["social_cost"]),
            "stay away": step["stay away"],
        }
        for i, step in enumerate(steps, start=1)
    ]
