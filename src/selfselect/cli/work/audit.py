"""What ``selfselect audit`` does."""

from __future__ import annotations

import sys
from typing import Any

import click
import pandas as pd

from selfselect._text import printable
from selfselect.auditing import Audit, group_warning
from selfselect.auditing.formats import amount, amount_up, count, percent
from selfselect.tabular.checking import match_groups

from ..errors import CONDITION_FAILED
from ..inputs import load_audit, subsidy_kind
from ..outputs import Outputs
from ..terminal import MOST_LINES, or_dash, text_table, yes_or_no


def run(
    *,
    file: str,
    report: str | None,
    json_file: str | None,
    csv_file: str | None,
    require: tuple[str, ...],
    max_social_cost: float | None,
    proportional: bool,
    force: bool,
    **reading: Any,
) -> None:
    """Audit a table, show and write what was found, and check the stated conditions."""
    outputs = Outputs(report, json_file, csv_file, force)
    outputs.check([file])
    found = load_audit(file, kind=subsidy_kind(proportional), **reading)
    required = list(dict.fromkeys(require))
    match_groups(required, found.published.groups, "require")
    outputs.deliver(found, found.names, _show)
    failed = _failed_conditions(found, required, max_social_cost)
    for line in failed:
        click.echo(f"Condition failed: {line}", err=True)
    if failed:
        sys.exit(CONDITION_FAILED)


def _show(found: Audit) -> None:
    click.echo(printable(found.verdict()))
    if found.threshold is not None:
        click.echo(f"(A person passes screening when {printable(_passing(found))}.)")
    frame = found.to_frame()
    # of too many groups the largest are shown
    order = range(len(frame)) if len(frame) <= MOST_LINES else (-frame["n"].to_numpy()).argsort(kind="stable")
    rows = [_group_row(found.names[i], frame.iloc[i]) for i in order[:MOST_LINES]]
    click.echo("\n" + text_table(rows, left=("group", "note"), total=len(frame), rest="--csv and --json hold all"))
    if len(found.costs) > 1:
        click.echo("\nAt every cost:\n\n" + text_table(_cost_rows(found)))


def _passing(found: Audit) -> str:
    """What passes, with the score as it was given."""
    name = found.provenance.score
    if found.published_by.lower_passes:
        return f"{name.removeprefix('minus ')} < {found.threshold:g}"
    return f"{name} > {found.threshold:g}"


def _group_row(name: str, row: pd.Series) -> dict[str, str]:
    selected, applies = row["selected"] > 0, row["applies"]
    interval = f"{percent(row['precision_low'])} to {percent(row['precision_high'])}" if selected else "-"
    needed = or_dash(row["subsidy_needed"], amount_up) if selected else "none helps"
    return {
        "group": name,
        "people": count(row["n"]),
        "qualified": percent(row["base_rate"]),
        "pass": count(row["selected"]),
        "precision": or_dash(row["precision"]),
        "95% interval": interval,
        "cost": amount(row["cost"]),
        "applies": yes_or_no(applies),
        "subsidy needed": "-" if applies else needed,
        "note": group_warning(row["selected"], row["precision_low"], row["precision_high"], row["cost"]),
    }


def _cost_rows(found: Audit) -> list[dict[str, str]]:
    table = found.by_cost().sort_index()
    return [
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


def _failed_conditions(found: Audit, required: list[str], max_social_cost: float | None) -> list[str]:
    """Which stated conditions do not hold, at every cost."""
    failed = []
    for cost in found.costs:
        here = found.at(cost)
        at = f" at a cost of {amount(float(cost))}" if isinstance(cost, float) else ""
        applies = dict(zip(here.names, here.applies, strict=True))
        failed += [f"{printable(name)} does not apply{at} (--require)." for name in required if not applies[name]]
        if max_social_cost is not None and here.social_cost > max_social_cost:
            failed.append(
                f"{percent(here.social_cost)} of qualified people stay away{at}, more than "
                f"{percent(max_social_cost)} (--max-social-cost)."
            )
    return failed
