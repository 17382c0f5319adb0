"""What ``selfselect plan`` does."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import click
from sklearn.exceptions import ConvergenceWarning

from selfselect._formats import amount, amount_up, count, percent
from selfselect._text import printable, shown
from selfselect.costs import Terms
from selfselect.planning import SubsidyPlan, plan_for, plan_under_retraining, refit
from selfselect.publishing import PublishedStatistics
from selfselect.report.tables import outcome_rows
from selfselect.tabular.checking import match_groups
from selfselect.tabular.encoding import TableEncoder
from selfselect.tabular.loading import PeopleColumns, TrainingTable, read_for_training

from ..errors import CONDITION_FAILED
from ..inputs import load_audit, people_columns, subsidy_kind, table_at
from ..outputs import Outputs, by_name
from ..terminal import or_dash, text_table, yes_or_no


def run(
    *,
    file: str,
    targets: tuple[str, ...],
    budget: float | None,
    confidence: float | None,
    proportional: bool,
    retrain: bool,
    drop_group: bool,
    ignore: tuple[str, ...],
    report: str | None,
    json_file: str | None,
    csv_file: str | None,
    force: bool,
    **reading: Any,
) -> None:
    """Plan subsidies for a table, show and write the plan."""
    outputs = Outputs(report, json_file, csv_file, force)
    outputs.check([file])
    found = load_audit(file, **reading)
    wanted = match_groups(targets, found.published.groups, "target") if targets else None
    asked: dict[str, Any] = {"subsidy_kind": subsidy_kind(proportional), "budget": budget, "confidence": confidence}
    if retrain:
        hidden = [*ignore, reading["score"] or reading["prediction"]]  # the firm trains anew, without its present model
        people = _people_to_learn_from(file, hidden, not drop_group, reading)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # of firms that were tried, not of the one in the plan
            made = plan_under_retraining(found, _firm(people), wanted, **asked)
    else:
        made = plan_for(found, wanted, **asked)
    outputs.deliver(made, by_name(made, made.before.names), _show)
    if not made.works:
        sys.exit(CONDITION_FAILED)


def _people_to_learn_from(
    file: str, hidden: list[str], learn_from_groups: bool, reading: Mapping[str, Any]
) -> TrainingTable:
    people: PeopleColumns = people_columns(reading["label"], reading["positive"], reading["groups"], reading["missing"])
    with table_at(file, reading["encoding"], reading["delimiter"]) as table:
        return read_for_training(table, people, ignore=hidden, learn_from_groups=learn_from_groups)


def _firm(people: TrainingTable) -> Callable[[Terms], PublishedStatistics]:
    """How the firm would answer subsidies."""
    encoder = TableEncoder.fit(people.columns)
    for name, reason in encoder.left_out.items():
        click.echo(f"Note: column {shown(name)} is left out: {reason}.", err=True)
    return refit(None, encoder.transform(people.columns), people.y, people.groups)


def _show(made: SubsidyPlan) -> None:
    click.echo(printable(made.verdict()))
    rest = "--csv and --json hold all"
    click.echo("\n" + text_table(_group_rows(made), left=("group",), rest=rest))
    audits = {"before": made.before, "re-trained, unpaid": made.retrained, "after": made.after}
    lines = outcome_rows({title: audit for title, audit in audits.items() if audit is not None})
    click.echo("\n" + text_table(lines, left=("",)))
    if made.path is not None:
        steps = text_table(
            _search_rows(made.path.to_dict("records"), made.spending is not None),
            left=("stay away",),
            rest="--json holds all",
        )
        click.echo("\nThe search, one re-trained model per line:\n\n" + steps)


def _group_rows(made: SubsidyPlan) -> list[dict[str, str]]:
    return [
        {
            "group": name,
            "target" if made.spending is None else "chosen": "yes" if row["target"] else "",
            "precision": or_dash(row["precision"]),
            "precision after": or_dash(row["precision_after"]) if made.path is not None else "",
            "cost before": amount(row["cost_before"]),
            "subsidy": "none helps" if row["subsidy"] != row["subsidy"] else amount_up(row["subsidy"]),
            "applies before": yes_or_no(row["applies_before"]),
            "re-trained, unpaid": yes_or_no(row["applies_retrained"]) if made.retrained is not None else "",
            "applies after": yes_or_no(row["applies_after"]),
            "recipients": count(row["recipients"]),
            "paid": amount(row["payment"]),
            "would take": or_dash(row["price"], amount) if "price" in row and made.path is None else "",
        }
        for name, row in zip(made.before.names, made.to_frame().to_dict("records"), strict=True)
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
