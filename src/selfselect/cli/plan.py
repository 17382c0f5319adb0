"""``selfselect plan``."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from selfselect._formats import amount, amount_up, count, or_dash, percent
from selfselect._text import printable, quote

from .errors import CONDITION_FAILED
from .options import (
    Number,
    check_model_options,
    cost_of_option,
    cost_option,
    file_options,
    output_options,
    screening_options,
)
from .outputs import Outputs, check_outputs
from .terminal import text_table, yes_or_no

if TYPE_CHECKING:
    from selfselect.costs import Terms
    from selfselect.planning import SubsidyPlan
    from selfselect.publishing import PublishedStatistics


@click.command(short_help="Find subsidies that bring groups in.")
@screening_options
@cost_option
@cost_of_option
@click.option(
    "--target",
    "targets",
    multiple=True,
    metavar="NAME",
    help="Group to bring in [default: all that stay away]; with --budget, a group that may be paid.",
)
@click.option(
    "--budget",
    type=Number(0),
    metavar="AMOUNT",
    help="Pay at most this in all, so that social cost is lowest, in units of what being hired is worth to a person.",
)
@click.option(
    "--confidence",
    type=Number(0, 1, min_open=True, max_open=True),
    metavar="LEVEL",
    help="Pay enough for the lower bound of precision at this confidence (0.9), for a safer amount.",
)
@click.option("--proportional", is_flag=True, help="Pay shares of the cost, not amounts.")
@click.option(
    "--retrain",
    is_flag=True,
    help="Find subsidies that still work after the firm re-trains a strategic model on the table's other columns.",
)
@click.option("--drop-group", is_flag=True, help="With --retrain: the firm's model does not see the group columns.")
@click.option("--ignore", multiple=True, metavar="COLUMN", help="With --retrain: column not to learn from.")
@output_options
@file_options
def plan(file: str, cost: float, retrain: bool, drop_group: bool, ignore: tuple[str, ...], **options: Any) -> None:
    """Find the least subsidies that bring groups in, or the best use of a budget.

    Everyone of a subsidised group who applies and passes screening receives the subsidy. A report (--report) opens with
    the subsidies set. With --retrain, the plan is compared with a firm that re-trains and pays nothing.

    \b
    Example:
      selfselect plan loans.csv --label repaid --positive yes --group region --score score --cost 0.7 --target North
      selfselect plan loans.csv --label repaid --positive yes --group region --score score --cost 0.7 --budget 50

    Exit code 0: the subsidies bring all targets in, or make the best of a budget; 1: for some target no subsidy
    can, or it drives another group out; 2: wrong input.
    """  # noqa: D301
    if not retrain and (drop_group or ignore):
        raise click.UsageError("--drop-group and --ignore belong to --retrain.")
    if retrain and file == "-":
        raise click.UsageError("--retrain reads the table twice, and standard input can be read only once.")
    if retrain and options["weight"] is not None:
        raise click.UsageError("--weight and --retrain do not go together: the firm trains on people, not on weights.")
    check_model_options(**options)

    from sklearn.exceptions import ConvergenceWarning

    from selfselect.planning import plan_for, plan_under_retraining
    from selfselect.tabular.columns import match_groups

    from .inputs import load_audits, subsidy_kind

    outputs = Outputs.of(options)
    check_outputs(outputs, force=options["force"], inputs=[file])
    (audit,) = load_audits(file, [(cost,)], options)
    wanted = match_groups(options["targets"], audit.published.groups, "target") or None
    settings = {name: options[name] for name in ("budget", "confidence")}
    settings["subsidy_kind"] = subsidy_kind(options["proportional"])
    if retrain:
        hidden = [*ignore, options["score"] or options["prediction"]]  # the firm trains anew, without its present model
        firm = _retraining_firm(file, hidden, not drop_group, options)
        with warnings.catch_warnings():
            # these warnings are about models that the search tried, not about the one in the plan
            warnings.simplefilter("ignore", ConvergenceWarning)
            result = plan_under_retraining(audit, firm, wanted, **settings)
    else:
        result = plan_for(audit, wanted, **settings)
    outputs.deliver(result, _show, result.before.names)
    if not result.works:
        sys.exit(CONDITION_FAILED)


def _retraining_firm(
    file: str, hidden: list[str], learn_from_groups: bool, options: dict[str, Any]
) -> Callable[[Terms], PublishedStatistics]:
    """The firm's answer to subsidies: what it publishes after it trains again."""
    from selfselect.planning import refit
    from selfselect.tabular.features import fit_encoder, read_features
    from selfselect.tabular.loading import read_for_training

    from .inputs import people_columns, table_at

    with table_at(file, options) as table:
        people = read_for_training(table, people_columns(options), ignore=hidden, learn_from_groups=learn_from_groups)
    frame, left_out = read_features(people.columns)
    for name, reason in left_out.items():
        click.echo(f"Note: column {quote(name)} is left out: {reason}.", err=True)
    return refit(None, fit_encoder(frame).transform(frame), people.y, people.groups)


def _show(result: SubsidyPlan) -> None:
    from selfselect.report.tables import outcome_rows

    from .inputs import meaning_line

    click.echo(printable(result.verdict()))
    click.echo(meaning_line(result.before.provenance))
    rest = "--csv and --json hold all"
    click.echo("\n" + text_table(_group_rows(result), left=("group",), rest=rest))
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
