"""``selfselect plan``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import click

from selfselect._text import printable, shown
from selfselect.auditing import Audit
from selfselect.auditing.numbers import amount, amount_up, count, percent
from selfselect.counting import encode_groups
from selfselect.deciding import PublishedStatistics, SubsidyKind, Terms
from selfselect.planning import SubsidyPlan, plan_for, plan_under_retraining, refit
from selfselect.tabular.encoding import TableEncoder

from . import CONDITION_FAILED, BadInput
from ._files import Outputs
from ._inputs import (
    CostRange,
    file_options,
    find_groups,
    label_and_group_options,
    load_audit,
    model_options,
    table_at,
)
from ._tables import text_table
from .train import read_for_training


@click.command()
@click.argument("file")
@label_and_group_options
@model_options
@click.option("--cost", "costs", type=CostRange(), multiple=True, required=True, help="Cost of being tested.")
@click.option(
    "--target", "targets", multiple=True, metavar="NAME", help="Group to bring in [default: all that stay away]."
)
@click.option("--proportional", is_flag=True, help="Pay shares of the cost, not amounts.")
@click.option(
    "--retrain",
    is_flag=True,
    help="Search for subsidies that still work after the firm re-trains a strategic model against them, on the other "
    "columns of the table.",
)
@click.option("--drop-group", is_flag=True, help="With --retrain: the firm's model does not see the group columns.")
@click.option("--ignore", multiple=True, metavar="COLUMN", help="With --retrain: column not to learn from.")
@click.option("--report", metavar="HTML", help="Write a page that people can play with, with the subsidies set.")
@click.option("--json", "json_file", metavar="JSON", help="Write everything for other programs ('-': to the terminal).")
@click.option("--csv", "csv_file", metavar="CSV", help="Write the table of groups.")
@file_options
def plan(
    file: str,
    targets: tuple[str, ...],
    proportional: bool,
    retrain: bool,
    drop_group: bool,
    ignore: tuple[str, ...],
    report: str | None,
    json_file: str | None,
    csv_file: str | None,
    force: bool,
    **options: Any,
) -> None:
    """Least subsidies that bring groups in, who receives them, and what they change.

    Everyone of a subsidised group who applies and passes screening receives the subsidy.

    \b
    Example:
      selfselect plan loans.csv --label repaid --group region --score score --cost 0.7 --target North

    Exit code 0: the subsidies bring all targets in; 1: for some target no subsidy can; 2: wrong input.
    """  # noqa: D301
    if len({cost for option in options["costs"] for cost in option}) != 1:
        raise click.UsageError("A plan is for one --cost.")
    if not retrain and (drop_group or ignore):
        raise click.UsageError("--drop-group and --ignore belong to --retrain.")
    if retrain and file == "-":
        raise click.UsageError("--retrain reads the table twice; standard input cannot be.")
    outputs = Outputs(report, json_file, csv_file, force)
    outputs.check([file])
    found = load_audit(file, **options)
    if len(set(targets)) < len(targets):
        raise BadInput("--target names a group twice.")
    wanted = find_groups(found, targets, "--target") if targets else None
    kind: SubsidyKind = "proportional" if proportional else "additive"
    if retrain:
        fit = _refit(file, found, kind, ignore, drop_group, options)
        made = plan_under_retraining(found, fit, wanted, subsidy_kind=kind)
    else:
        made = plan_for(found, wanted, subsidy_kind=kind)

    outputs.deliver(made, made.before.names, _show)
    if not made.works:
        sys.exit(CONDITION_FAILED)


def _refit(
    file: str, found: Audit, kind: SubsidyKind, ignore: tuple[str, ...], drop_group: bool, options: dict[str, Any]
) -> Callable[[Terms], PublishedStatistics]:
    """How the firm would answer, from the columns of the table but its present model's."""
    model_column = options["score"] or options["prediction"]
    with table_at(file, options["encoding"], options["delimiter"]) as table:
        cells, y, groups = read_for_training(
            table,
            label=options["label"],
            positive=options["positive"],
            groups=options["groups"],
            missing=options["missing"],
            ignore=[*ignore, model_column],
            drop_group=drop_group,
        )
    encoder = TableEncoder.fit(cells)
    for name, reason in encoder.left_out.items():
        click.echo(f"Note: column {shown(name)} is left out: {reason}.", err=True)
    codes = encode_groups(groups, n_rows=len(y), missing=options["missing"].replace("-", "_"))
    return refit(None, encoder.transform(cells), y, codes)


def _percent(value: float) -> str:
    return percent(value) if value == value else "-"


def _show(made: SubsidyPlan) -> None:
    click.echo(printable(made.verdict()))
    frame = made.to_frame()
    rows = []
    for name, row in zip(made.before.names, frame.to_dict("records"), strict=True):
        rows.append(
            {
                "group": name,
                "target": "yes" if row["target"] else "",
                "precision": _percent(row["precision"]),
                "precision after": _percent(row["precision_after"]) if made.path is not None else "",
                "cost before": amount(row["cost_before"]),
                "subsidy": "none helps" if row["subsidy"] != row["subsidy"] else amount_up(row["subsidy"]),
                "applies before": "yes" if row["applies_before"] else "no",
                "applies after": "yes" if row["applies_after"] else "no",
                "recipients": count(row["recipients"]),
                "paid": amount(row["payment"]),
            }
        )
    click.echo("\n" + text_table(rows, left=("group",)))
    old, new = made.before.outcome, made.after.outcome
    lines = [
        {"": name, "before": percent(before), "after": percent(after)}
        for name, before, after in (
            ("induced accuracy", old.induced_accuracy, new.induced_accuracy),
            ("social cost", old.social_cost, new.social_cost),
            ("people who apply", old.application_rate, new.application_rate),
        )
    ]
    click.echo("\n" + text_table(lines, left=("",)))
    if made.path is not None:
        steps = []
        for i, row in enumerate(made.path.to_dict("records"), start=1):
            paid = {name: amount_up(value) for name, value in row.items() if name.startswith("subsidy of ")}
            steps.append(
                {
                    "fit": str(i),
                    **paid,
                    "works": "yes" if row["works"] else "no",
                    "induced accuracy": percent(row["induced_accuracy"]),
                    "social cost": percent(row["social_cost"]),
                    "stay away": row["stay away"],
                }
            )
        click.echo("\nThe search, one re-trained model per line:\n\n" + text_table(steps, left=("stay away",)))
