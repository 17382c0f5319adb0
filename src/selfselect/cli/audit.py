"""``selfselect audit``."""

from __future__ import annotations

import math
import os
import re
import sys
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from selfselect._files import write_atomically
from selfselect._formats import amount, amount_up, count, or_dash, percent
from selfselect._text import json_text, printable

from .errors import CONDITION_FAILED
from .options import (
    COSTS,
    Number,
    check_model_options,
    cost_of_option,
    file_options,
    output_options,
    screening_options,
    subsidy_options,
)
from .outputs import Outputs, check_outputs
from .terminal import MAX_ROWS, text_table

if TYPE_CHECKING:
    from selfselect.auditing import Audit


@click.command(short_help="See who would not apply to a screening model, and what follows.")
@screening_options
@click.option(
    "--untested",
    is_flag=True,
    help="Labels of people who do not pass may be empty. Numbers that depend on them are given as bounds.",
)
@click.option(
    "--cost",
    "costs",
    type=COSTS,
    multiple=True,
    required=True,
    help="Cost of being tested, as a share of what being hired is worth; repeatable. FIRST:LAST:STEP means several "
    "costs, LOW:HIGH a whole range.",
)
@cost_of_option
@subsidy_options
@output_options
@click.option("--require", multiple=True, metavar="NAME", help="Fail (exit code 1) unless this group applies.")
@click.option(
    "--max-social-cost",
    type=Number(0, 1),
    metavar="SHARE",
    help="Fail (exit code 1) if a larger share of qualified people stays away.",
)
@click.option("--impact", is_flag=True, help="Show impact ratios (selection rates over the highest: four fifths).")
@click.option(
    "--separately",
    is_flag=True,
    help="With several --group: one audit by each column. JSON becomes a list; reports and CSV files are named after "
    "the column (out-sex.html).",
)
@file_options
def audit(file: str, separately: bool, **options: Any) -> None:
    """Show who would not apply to a screening model, and what follows.

    FILE is a CSV (also .gz), Parquet or .xlsx table with one row per person; - reads standard input.

    \b
    Example:
      selfselect audit loans.csv --label repaid --positive yes --group region --score score \\
        --cost 0.7 --report loans.html

    Exit code 0: fine; 1: a condition (--require, --max-social-cost) does not hold; 2: wrong input.
    """  # noqa: D301
    check_model_options(**options)

    from selfselect.tabular.columns import match_groups

    from .inputs import all_groups, load_audits

    outputs = Outputs.of(options)
    by_column = [
        Outputs(file_for_column(outputs.report, column), None, file_for_column(outputs.csv, column))
        for column in options["groups"]
    ]
    # with several columns, each has a report and a table; JSON is one list
    written = [Outputs(None, outputs.json, None), *by_column] if separately else [outputs]
    check_outputs(*written, force=options["force"], inputs=[file])
    audits = load_audits(file, options["costs"], options, separately=separately)
    required = list(dict.fromkeys(options["require"]))
    match_groups(required, all_groups(audits), "require")
    if separately:
        _deliver_each(audits, by_column, outputs.json, options["impact"])
    else:
        outputs.deliver(audits[0], partial(_show, impact=options["impact"]), audits[0].names)
    failed = [line for audit in audits for line in _failed_conditions(audit, required, options["max_social_cost"])]
    for line in failed:
        click.echo(f"Condition failed: {line}", err=True)
    if failed:
        sys.exit(CONDITION_FAILED)


def file_for_column(path: str | None, column: str) -> str | None:
    """Name of an output file for one of several columns of groups."""
    if path is None:
        return path
    stem, suffix = os.path.splitext(path)
    return f"{stem}-{re.sub(r'[^0-9A-Za-z]+', '_', column).strip('_') or 'group'}{suffix}"


def _deliver_each(audits: list[Audit], outputs: list[Outputs], json_file: str | None, impact: bool) -> None:
    """Write all files of audits by several columns, then show one audit after the other."""
    text = json_text([{"by": audit.provenance.groups} | audit.to_dict() for audit in audits])
    if json_file is not None and json_file != "-":
        write_atomically(json_file, text)
    for audit, each in zip(audits, outputs, strict=True):
        each.write(audit, audit.names)
    if json_file == "-":
        click.echo(text.encode(), nl=False)
        return
    for i, (audit, each) in enumerate(zip(audits, outputs, strict=True)):
        click.echo(("\n" if i else "") + f"== By {printable(audit.provenance.groups)} ==\n")
        _show(audit, impact=impact)
        each.name_report()


def _show(audit: Audit, *, impact: bool) -> None:
    from selfselect.report.dicts import MAX_RESAMPLED_GROUPS
    from selfselect.report.sentences.audits import group_warnings, uncertainty_lines
    from selfselect.report.tables import cost_rows, impact_rows

    from .inputs import meaning_line

    if audit.cost_range is not None:
        click.echo(printable(audit.over_costs(*audit.cost_range).sentence()))
        click.echo("\nAt the lower end of the range, to which the table and the intervals belong:")
    click.echo(printable(audit.verdict()))
    click.echo(meaning_line(audit.provenance))
    frame, warnings = audit.to_frame(), group_warnings(audit)
    records = frame.to_dict("records")
    # of too many groups the largest are shown
    order = range(len(frame)) if len(frame) <= MAX_ROWS else (-frame["n"].to_numpy()).argsort(kind="stable")
    rows = [_group_row(audit.names[i], records[i], warnings[i]) for i in order[:MAX_ROWS]]
    click.echo("\n" + text_table(rows, left=("group", "note"), total=len(frame), rest="--csv and --json hold all"))
    if len(audit.names) <= MAX_RESAMPLED_GROUPS:
        title, *lines = uncertainty_lines(audit)
        click.echo(f"\nHow sure? {title}")
        for line in lines:
            click.echo(f"  {printable(line)}")
    for table in impact_rows(audit.impact_ratios()) if impact else ():
        click.echo(f"\nImpact ratios by {printable(table['by'])} (simultaneous intervals):\n")
        click.echo(text_table(table["rows"], left=("category", "note"), rest="--json holds all"))
        if table["remark"]:
            click.echo(table["remark"])
    if len(audit.costs) > 1:
        click.echo("\nAt every cost:\n\n" + text_table(cost_rows(audit)))


def _group_row(name: str, row: Mapping[Any, Any], warning: str) -> dict[str, str]:
    from selfselect.report.sentences.words import percent_or_bounds
    from selfselect.report.tables import applies_text, interval_text

    selected = row["selected"] > 0
    needed = "none helps" if math.isnan(row["subsidy_needed"]) else amount_up(row["subsidy_needed"])
    return {
        "group": name,
        "people": count(row["n"]),
        "untested": count(row["untested"]) if "untested" in row else "",
        "qualified": percent_or_bounds(row, "base_rate"),
        "pass": count(row["selected"]),
        "precision": or_dash(row["precision"]),
        "95% interval": interval_text(row["precision_low"], row["precision_high"]) if selected else "-",
        "cost": amount(row["cost"]),
        "applies": applies_text(row),
        "subsidy needed": "-" if row["applies"] else needed,
        "note": warning,
    }


def _failed_conditions(audit: Audit, required: list[str], max_social_cost: float | None) -> list[str]:
    """Which stated conditions do not hold, at every cost."""
    failed = []
    for cost in audit.costs:
        here = audit.at(cost)
        at = f" at a cost of {amount(float(cost))}" if isinstance(cost, float) else ""
        applies = dict(zip(here.names, here.applies, strict=True))
        failed += [
            f"{printable(name)} does not apply{at} (--require)." for name in required if not applies.get(name, True)
        ]
        # where people were not tested, the condition holds only if it does whatever their labels
        worst = getattr(here.outcome, "social_cost_high", here.social_cost)
        if max_social_cost is not None and worst > max_social_cost:
            up_to = "" if worst == here.social_cost else "up to "
            failed.append(
                f"{up_to}{percent(worst)} of qualified people stay away{at}, more than "
                f"{percent(max_social_cost)} (--max-social-cost)."
            )
    return failed
