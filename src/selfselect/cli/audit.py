"""``selfselect audit``."""

from __future__ import annotations

import math
import os
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import click

from selfselect._files import write_atomically
from selfselect._formats import amount, amount_up, count, or_dash, percent
from selfselect._text import json_text, printable
from selfselect.auditing import Audit
from selfselect.auditing.impact import check_pool
from selfselect.report.dicts import MAX_RESAMPLED_GROUPS
from selfselect.report.money import Money
from selfselect.report.sentences.audits import POOL_NOTE, group_statuses, group_warnings, uncertainty_lines
from selfselect.report.sentences.words import percent_or_bounds
from selfselect.report.tables import cost_rows, impact_rows, interval_text, status_text
from selfselect.tabular.applications import read_pool
from selfselect.tabular.columns import match_groups
from selfselect.tabular.table import listing

from .errors import CONDITION_FAILED, BadInput
from .inputs import all_groups, group_rules, load_audits, meaning_line, money, table_at
from .outputs import Outputs, check_files, deliver, for_files, name_report, priced_dict, write_files
from .terminal import MAX_ROWS, text_table


def run(file: str, separately: bool, **options: Any) -> None:
    """Audit a table, and fail if a condition does not hold."""
    # with several columns, each has a report and a table; JSON is one list
    by_column: list[Outputs] = [
        {"json": None, "worth": options["worth"], "currency": options["currency"]}
        | {kind: _file_for_column(options[kind], column) for kind in ("report", "csv", "xlsx")}
        for column in options["groups"]
    ]
    written = [{"json": options["json"]}, *by_column] if separately else [options]
    check_files(*written, force=options["force"], inputs=[file, options["costs_file"], options["pool"]])
    audits = load_audits(file, options["costs"], options, separately=separately)
    if options["pool"] is not None:
        audits = [_with_pool(audit, options) for audit in audits]
    required = list(dict.fromkeys(options["require"]))
    match_groups(required, all_groups(audits), "require")
    limit, surely = options["max_social_cost"], options["surely"]
    stated = [stated_conditions(audit, required, limit, surely) for audit in audits]
    audits = [_with_conditions(audit, own, surely) for audit, own in zip(audits, stated, strict=True)]
    show = partial(_show, impact=options["impact"], worth=money(options))
    if separately:
        _deliver_each(audits, by_column, options, show)
    else:
        deliver(audits[0], options, show)
    failed = [wrong for own in stated for _, wrong in own if wrong]
    for line in failed:
        click.echo(f"Condition failed: {line}", err=True)
    if required or limit is not None:
        click.echo(basis_of_conditions(surely), err=True)
    if failed:
        sys.exit(CONDITION_FAILED)


def _with_conditions(audit: Audit, stated: list[tuple[str, str]], surely: bool) -> Audit:
    """The same audit with stated conditions for its report."""
    held = tuple((f"{text}{' (95% confidence)' if surely else ''}", not wrong) for text, wrong in stated)
    return replace(audit, provenance=replace(audit.provenance, conditions=held))


def _with_pool(audit: Audit, options: Mapping[str, Any]) -> Audit:
    """The same audit with the counts of potential applicants of a table."""
    columns = options["groups"] if audit.published.groups.nlevels > 1 else [audit.provenance.groups]
    with table_at(options["pool"], options) as table:
        pool = read_pool(table, columns, group_rules(options))
    lacking = [name for name in audit.names if name not in pool.index]
    if lacking:
        raise BadInput(f"{options['pool']} has no row for group {listing(lacking)}.")
    return replace(audit, pool=check_pool(pool[audit.names].set_axis(audit.published.groups), audit.published))


def _file_for_column(path: str | None, column: str) -> str | None:
    """Name of an output file for one of several columns of groups."""
    if path is None:
        return path
    stem, suffix = os.path.splitext(path)
    return f"{stem}-{re.sub(r'[^0-9A-Za-z]+', '_', column).strip('_') or 'group'}{suffix}"


def _deliver_each(audits: list[Audit], outputs: list[Outputs], options: Outputs, show: Callable[[Audit], None]) -> None:
    """Write all files of audits by several columns, then show one audit after the other."""
    json_file = options["json"]
    shared = [
        for_files(audit, options["min_cell"], each, {"json": json_file})
        for audit, each in zip(audits, outputs, strict=True)
    ]
    text = json_text([{"by": audit.provenance.groups} | priced_dict(audit, outputs[0]) for audit in shared])
    if json_file not in (None, "-"):
        write_atomically(str(json_file), text)
    for audit, each in zip(shared, outputs, strict=True):
        write_files(audit, each)
    if json_file == "-":
        click.echo(text.encode(), nl=False)
        return
    for i, (audit, each) in enumerate(zip(audits, outputs, strict=True)):
        click.echo(("\n" if i else "") + f"== By {printable(audit.provenance.groups)} ==\n")
        show(audit)
        name_report(each)


def _show(audit: Audit, *, impact: bool, worth: Money | None) -> None:
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
    if worth is not None:
        proportional = audit.terms.kind == "proportional"
        rows = [
            _with_money(row, worth.of(records[i], proportional=proportional), worth)
            for i, row in zip(order, rows, strict=False)
        ]
    click.echo("\n" + text_table(rows, left=("group", "note"), total=len(frame), rest="--csv and --json hold all"))
    if len(audit.names) <= MAX_RESAMPLED_GROUPS:
        title, *lines = uncertainty_lines(audit)
        click.echo(f"\nHow sure? {title}")
        for line in lines:
            click.echo(f"  {printable(line)}")
    for table in impact_rows(audit.impact_ratios()) if impact or audit.pool is not None else ():
        click.echo(f"\nImpact ratios by {printable(table['by'])} (simultaneous intervals):\n")
        click.echo(text_table(table["rows"], left=("category", "note"), rest="--json holds all"))
        if table["remark"]:
            click.echo(table["remark"])
    if audit.pool is not None:
        click.echo(f"\n{POOL_NOTE}")
    if len(audit.costs) > 1:
        click.echo("\nAt every cost:\n\n" + text_table(cost_rows(audit)))


def _with_money(row: dict[str, str], record: Mapping[str, Any], worth: Money) -> dict[str, str]:
    """A row with cost and subsidy in money, before the note."""
    note = row.pop("note")
    subsidy = "-" if row["subsidy needed"] in ("-", "none helps") else worth.amount_up(record["subsidy_needed_money"])
    cost = worth.amount(record["cost_money"])
    return row | {f"cost {worth.column}": cost, f"subsidy {worth.column}": subsidy, "note": note}


def _group_row(name: str, row: Mapping[Any, Any], warning: str) -> dict[str, str]:
    selected = row["selected"] > 0
    needed = "none helps" if math.isnan(row["subsidy_needed"]) else amount_up(row["subsidy_needed"])
    return {
        "group": name,
        "people": count(row["n"]),
        "untested": count(row["untested"]) if "untested" in row else "",
        "qualified": percent_or_bounds(row, "base_rate"),
        "pass": count(row["selected"]),
        "count as": count(round(row["effective_selected"], 1)) if "effective_selected" in row else "",
        "precision": or_dash(row["precision"]),
        "95% interval": interval_text(row["precision_low"], row["precision_high"]) if selected else "-",
        "cost": amount(row["cost"]),
        "status": status_text(row),
        "subsidy needed": "-" if row["applies"] else needed,
        "note": warning,
    }


def stated_conditions(
    audit: Audit, required: list[str], max_social_cost: float | None, surely: bool
) -> list[tuple[str, str]]:
    """Stated conditions at every cost, each with why it does not hold (``surely``: at 95% confidence)."""
    stated = []
    for cost in audit.costs:
        here = audit.at(cost)
        at = f" at a cost of {amount(float(cost))}" if isinstance(cost, float) else ""
        for name in required:
            if name not in here.names:
                continue
            status = group_statuses(here)[here.names.index(name)]
            applies = here.applies.to_numpy()[here.names.index(name)]
            wrong = ""
            if surely and status == "could go either way":
                wrong = f"{printable(name)} could go either way{at} (--require, --surely)."
            elif not applies:
                wrong = f"{printable(name)} does not apply{at} (--require)."
            stated.append((f"{name} applies{at}", wrong))
        if max_social_cost is None:
            continue
        # where people were not tested, the condition holds only if it does whatever their labels
        worst = getattr(here.outcome, "social_cost_high", here.social_cost)
        if surely:
            worst = max(worst, float(here.uncertainty().to_frame().loc["social_cost", "high"]))
        up_to = "" if worst == here.social_cost else "up to "
        wrong = (
            f"{up_to}{percent(worst)} of qualified people stay away{at}, more than {percent(max_social_cost)} "
            f"(--max-social-cost{', --surely' if surely else ''})."
        )
        text = f"at most {percent(max_social_cost)} of qualified people stay away{at}"
        stated.append((text, wrong if worst > max_social_cost else ""))
    return stated


def basis_of_conditions(surely: bool) -> str:
    """How stated conditions were checked."""
    if surely:
        return "Conditions are checked at 95% confidence (--surely)."
    return "Conditions are checked on the numbers as they are, which chance may move (--surely checks them at 95%)."
