"""What ``selfselect audit`` does."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import click
import pandas as pd

from selfselect._formats import amount, amount_up, count, percent
from selfselect._text import json_text, printable
from selfselect.auditing import Audit
from selfselect.report.dicts import MOST_RESAMPLED_GROUPS
from selfselect.report.sentences.audits import group_warnings, uncertainty_lines
from selfselect.report.tables import cost_rows, impact_rows, percent_or_bounds
from selfselect.tabular.checking import match_groups

from ..errors import CONDITION_FAILED
from ..inputs import load_audits, subsidy_kind
from ..outputs import Outputs, by_name, refuse_existing, write_output
from ..streams import print_json
from ..terminal import MOST_LINES, or_dash, text_table


def run(
    *,
    file: str,
    report: str | None,
    json_file: str | None,
    csv_file: str | None,
    require: tuple[str, ...],
    max_social_cost: float | None,
    proportional: bool,
    impact: bool,
    separately: bool,
    force: bool,
    **reading: Any,
) -> None:
    """Audit a table, show and write what was found, and check the stated conditions."""
    ways = reading["groups"] if separately else [None]
    # by several columns, JSON is one list of all
    outputs = [
        Outputs(named_after(report, way), None if separately else json_file, named_after(csv_file, way), force)
        for way in ways
    ]
    files = [name for one in outputs for name in (one.report, one.csv)]
    refuse_existing([*files, None if json_file == "-" else json_file], force=force, inputs=[file])
    for one in outputs:
        one.check([file])
    audits = load_audits(file, kind=subsidy_kind(proportional), separately=separately, **reading)
    required = list(dict.fromkeys(require))
    _check_required(audits, required)
    show = partial(_show, impact=impact)
    if separately:
        _deliver_each(audits, outputs, json_file, show, force)
    else:
        outputs[0].deliver(audits[0], by_name(audits[0], audits[0].names), show)
    failed = [line for found in audits for line in _failed_conditions(found, required, max_social_cost)]
    for line in failed:
        click.echo(f"Condition failed: {line}", err=True)
    if failed:
        sys.exit(CONDITION_FAILED)


def named_after(path: str | None, group: str | None) -> str | None:
    """Name of a file for one of several columns of groups.

    Examples
    --------
    >>> named_after("out/report.html", "age band"), named_after("out.html", None)
    ('out/report-age_band.html', 'out.html')
    """
    if path is None or group is None:
        return path
    stem, suffix = os.path.splitext(path)
    return f"{stem}-{re.sub(r'[^0-9A-Za-z]+', '_', group).strip('_') or 'group'}{suffix}"


def _check_required(audits: list[Audit], names: list[str]) -> None:
    """Groups that must apply must be there; of several audits, each in one."""
    if len(audits) == 1:
        match_groups(names, audits[0].published.groups, "require")
    else:
        match_groups(names, pd.Index([name for found in audits for name in found.names]).drop_duplicates(), "require")


def _deliver_each(
    audits: list[Audit], outputs: list[Outputs], json_file: str | None, show: Callable[[Audit], None], force: bool
) -> None:
    """Write all files of audits by several columns, then show one after the other."""
    text = json_text([{"by": found.provenance.groups} | found.to_dict() for found in audits])
    if json_file not in (None, "-"):
        write_output(str(json_file), text, force=force)
    for found, one in zip(audits, outputs, strict=True):
        one.write(found, by_name(found, found.names))
    if json_file == "-":
        print_json(text)
        return
    for i, (found, one) in enumerate(zip(audits, outputs, strict=True)):
        click.echo(("\n" if i else "") + f"== By {printable(found.provenance.groups)} ==\n")
        show(found)
        one.name_report()


def _show(found: Audit, *, impact: bool) -> None:
    if found.cost_range is not None:
        click.echo(printable(found.over_costs(*found.cost_range).sentence()))
        click.echo("\nAt the lower end of the range, to which the table and the intervals belong:")
    click.echo(printable(found.verdict()))
    if found.threshold is not None:
        click.echo(f"(A person passes screening when {printable(_passing(found))}.)")
    frame, warnings = found.to_frame(), group_warnings(found)
    # of too many groups the largest are shown
    order = range(len(frame)) if len(frame) <= MOST_LINES else (-frame["n"].to_numpy()).argsort(kind="stable")
    rows = [_group_row(found.names[i], frame.iloc[i], warnings[i]) for i in order[:MOST_LINES]]
    click.echo("\n" + text_table(rows, left=("group", "note"), total=len(frame), rest="--csv and --json hold all"))
    if len(found.names) <= MOST_RESAMPLED_GROUPS:
        title, *lines = uncertainty_lines(found)
        click.echo(f"\nHow sure? {title}")
        for line in lines:
            click.echo(f"  {printable(line)}")
    if impact:
        _show_impact(found)
    if len(found.costs) > 1:
        click.echo("\nAt every cost:\n\n" + text_table(cost_rows(found)))


def _show_impact(found: Audit) -> None:
    """Selection rates over the highest, as the four-fifths rule compares them."""
    for table in impact_rows(found.impact_ratios()):
        click.echo(f"\nImpact ratios by {printable(table['by'])} (intervals: Katz's):\n")
        click.echo(text_table(table["rows"], left=("category", "note"), rest="--json holds all"))
        if table["remark"]:
            click.echo(table["remark"])


def _passing(found: Audit) -> str:
    """What passes, with the score as it was given."""
    name = found.provenance.score
    if found.published_by.lower_passes:
        return f"{name.removeprefix('minus ')} < {found.threshold:g}"
    return f"{name} > {found.threshold:g}"


def _group_row(name: str, row: pd.Series, warning: str) -> dict[str, str]:
    selected, applies = row["selected"] > 0, row["applies"]
    interval = f"{percent(row['precision_low'])} to {percent(row['precision_high'])}" if selected else "-"
    needed = or_dash(row["subsidy_needed"], amount_up) if selected else "none helps"
    return {
        "group": name,
        "people": count(row["n"]),
        "untested": count(row["untested"]) if "untested" in row else "",
        "qualified": percent_or_bounds(row, "base_rate"),
        "pass": count(row["selected"]),
        "precision": or_dash(row["precision"]),
        "95% interval": interval,
        "cost": amount(row["cost"]),
        "applies": "yes" if applies else "no" if selected else "nobody passes",
        "subsidy needed": "-" if applies else needed,
        "note": warning,
    }


def _failed_conditions(found: Audit, required: list[str], max_social_cost: float | None) -> list[str]:
    """Which stated conditions do not hold, at every cost."""
    failed = []
    for cost in found.costs:
        here = found.at(cost)
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
