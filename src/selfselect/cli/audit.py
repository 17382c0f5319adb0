"""``selfselect audit``."""

from __future__ import annotations

import sys
from typing import Any

import click

from selfselect._text import printable
from selfselect.auditing import Audit, group_warning
from selfselect.auditing.numbers import amount, amount_up, count, percent

from . import CONDITION_FAILED
from ._files import Outputs
from ._inputs import (
    CostRange,
    NamedAmount,
    Number,
    file_options,
    find_groups,
    label_and_group_options,
    load_audit,
    model_options,
)
from ._tables import MOST_LINES, text_table


@click.command()
@click.argument("file")
@label_and_group_options
@model_options
@click.option(
    "--cost",
    "costs",
    type=CostRange(),
    multiple=True,
    required=True,
    help="Cost of being tested, as a share of what being hired is worth; repeat it, or give FIRST:LAST:STEP.",
)
@click.option("--subsidy", "subsidies", type=NamedAmount(), multiple=True, help="Pay a group an amount.")
@click.option("--proportional", is_flag=True, help="Subsidies are shares of the cost, not amounts.")
@click.option("--report", metavar="HTML", help="Write a page that people can play with.")
@click.option("--json", "json_file", metavar="JSON", help="Write everything for other programs ('-': to the terminal).")
@click.option("--csv", "csv_file", metavar="CSV", help="Write the table of groups, at the first cost.")
@click.option("--require", multiple=True, metavar="NAME", help="Fail (exit code 1) unless this group applies.")
@click.option(
    "--max-social-cost",
    type=Number(0, 1),
    metavar="SHARE",
    help="Fail (exit code 1) if a larger share of qualified people stays away.",
)
@file_options
def audit(
    file: str,
    report: str | None,
    json_file: str | None,
    csv_file: str | None,
    require: tuple[str, ...],
    max_social_cost: float | None,
    proportional: bool,
    force: bool,
    **options: Any,
) -> None:
    """Who will not bother to apply to a screening model, and what follows.

    FILE is a CSV (also .gz) or Parquet table with one row per person; - reads standard input.

    \b
    Example:
      selfselect audit loans.csv --label repaid --group region --score score --cost 0.7 --report loans.html

    Exit code 0: fine; 1: a condition (--require, --max-social-cost) does not hold; 2: wrong input.
    """  # noqa: D301
    outputs = Outputs(report, json_file, csv_file, force)
    outputs.check([file])
    found = load_audit(file, subsidy_kind="proportional" if proportional else "additive", **options)
    required = find_groups(found, require, "--require")

    outputs.deliver(found, found.names, _show)
    if not _conditions_hold(found, require, required, max_social_cost):
        sys.exit(CONDITION_FAILED)


def _show(found: Audit) -> None:
    click.echo(printable(found.verdict()))
    if found.threshold is not None:
        click.echo(f"(A person passes screening when {printable(found.provenance.score)} > {found.threshold:g}.)")
    frame = found.to_frame()
    # of too many groups the largest are shown
    order = range(len(frame)) if len(frame) <= MOST_LINES else (-frame["n"].to_numpy()).argsort(kind="stable")
    rows = []
    for i in order[:MOST_LINES]:
        row = frame.iloc[i]
        selected = row["selected"] > 0
        rows.append(
            {
                "group": found.names[i],
                "people": count(row["n"]),
                "qualified": percent(row["base_rate"]),
                "pass": count(row["selected"]),
                "precision": percent(row["precision"]) if selected else "-",
                "95% interval": f"{percent(row['precision_low'])} to {percent(row['precision_high'])}"
                if selected
                else "-",
                "cost": amount(row["cost"]),
                "applies": "yes" if row["applies"] else "no",
                "subsidy needed": ("none helps" if not selected else amount_up(row["subsidy_needed"]))
                if not row["applies"]
                else "-",
                "note": group_warning(row["selected"], row["precision_low"], row["precision_high"], row["cost"]),
            }
        )
    click.echo("\n" + text_table(rows, left=("group", "note"), total=len(frame)))
    if len(found.costs) > 1:
        table = found.by_cost().sort_index()
        lines = [
            {
                "cost": amount(cost),
                "applying groups": f"{row.applying_groups} of {len(found.names)}",
                "people who apply": percent(row.application_rate),
                "assumed accuracy": percent(row.assumed_accuracy),
                "induced accuracy": percent(row.induced_accuracy),
                "social cost": percent(row.social_cost),
            }
            for cost, row in zip(table.index, table.itertuples(), strict=True)
        ]
        click.echo("\nAt every cost:\n\n" + text_table(lines, left=()))


def _conditions_hold(found: Audit, names: tuple[str, ...], required: list[Any], max_social_cost: float | None) -> bool:
    """Check the stated conditions at every cost, and say which fail."""
    failed = []
    for cost in found.costs:
        here = found.at(cost)
        at = f" at a cost of {amount(float(cost))}" if isinstance(cost, float) else ""
        for name, label in zip(names, required, strict=True):
            if not here.applies.loc[label]:
                failed.append(f"{printable(name)} does not apply{at} (--require).")
        social = here.outcome.social_cost
        if max_social_cost is not None and social > max_social_cost:
            failed.append(
                f"{percent(social)} of qualified people stay away{at}, more than {percent(max_social_cost)} "
                "(--max-social-cost)."
            )
    for line in failed:
        click.echo(f"Condition failed: {line}", err=True)
    return not failed
