"""What can be typed: the subcommands with their options. Each has a module of its own that does the work.

Nothing heavy is imported before the options make sense, so that help and usage errors come at once.
"""

from __future__ import annotations

from contextlib import nullcontext
from importlib import import_module
from typing import Any

import click

from .command import check_together, command
from .options import (
    BUDGET,
    COSTS,
    Number,
    check_cost_options,
    check_model_options,
    column,
    cost_of_option,
    cost_option,
    costs_option,
    file_options,
    flag,
    group_option,
    impact_group_options,
    impact_model_options,
    known_people_options,
    lower_passes_option,
    model_options,
    money_options,
    output_options,
    people_options,
    prediction_positive_option,
    proportional_option,
    report_options,
    screening_options,
    seed_option,
    share,
    subsidy_options,
    surely_option,
    untested_option,
    weight_option,
)
from .progress import still_working

#: More resamples would take long, and hardly change an interval.
MAX_RESAMPLES = 100_000
#: More rounds would not fit a page.
MAX_ROUNDS = 10_000
#: Methods by name; see :mod:`selfselect.tabular.train`.
METHODS = ("naive", "semi", "thresholds", "strategic")
#: Responses by name; see :mod:`selfselect.estimation`.
RESPONSES = ("logit", "probit")


def _run(options: dict[str, Any]) -> None:
    """Do the work of the subcommand: the function ``run`` of the module of its name."""
    name = str(click.get_current_context().command.name).replace("-", "_")
    with still_working(name.replace("_", "-")) if name != "app" else nullcontext():
        import_module(f"{__package__}.{name}").run(**options)


@command(short_help="See on bundled data what self-selection does.")
@click.option("--report", metavar="HTML", help="Where to write the report [default: selfselect-demo.html, numbered].")
@flag("--force", help="Write over a report that exists.")
def demo(**options: Any) -> None:
    """Show on bundled data what self-selection does to an ordinary screening model."""
    _run(options)


@command(short_help="Find problems in a table.", first=("label", "positive", "group", "score"))
@click.argument("file")
@known_people_options
@model_options
@untested_option
@column("--ignore", multiple=True, help="Column not to check.")
@file_options
def check(**options: Any) -> None:
    """Find problems in a table, before anything is computed from it.

    With FILE alone, this shows what each column holds and could be, and the command to run next. With --label and
    --group it checks them, the scores or decisions of a model (--score or --prediction, if given), and all other
    columns as features. Every other command checks the columns that it reads.

    \b
    Examples:
      selfselect check loans.csv
      selfselect check loans.csv --label repaid --positive yes --group region --score score

    Exit code 0: no problem was found; 1: some were; 2: wrong input.
    """  # noqa: D301
    if options["score"] is not None or options["prediction"] is not None:
        check_model_options(**options)
    _run(options)


@command(
    short_help="See who would not apply to a screening model, and what follows.",
    first=("positive", "score", "prediction", "cost", "report"),
)
@screening_options
@untested_option
@click.option(
    "--cost",
    "costs",
    type=COSTS,
    multiple=True,
    help="Cost of being tested, as a share of what being hired is worth; repeatable. FIRST:LAST:STEP means several "
    "costs, LOW:HIGH a whole range.",
)
@cost_of_option
@costs_option
@subsidy_options
@money_options
@output_options
@click.option("--require", multiple=True, metavar="NAME", help="Fail (exit code 1) unless this group applies.")
@share("--max-social-cost", help="Fail (exit code 1) if a larger share of qualified people stays away.")
@surely_option
@flag("--impact", help="Show impact ratios (selection rates over the highest: four fifths).")
@click.option(
    "--pool",
    metavar="FILE",
    help="Table of how many people of each group could have applied: the --group columns, and a column of counts "
    "(called pool if there are more). Shows application rates, and impact ratios per potential applicant.",
)
@flag(
    "--separately",
    help="With several --group: one audit by each column. JSON becomes a list; reports and CSV files are named after "
    "the column (out-sex.html).",
)
@file_options
def audit(**options: Any) -> None:
    """Show who would not apply to a screening model, and what follows.

    FILE is a CSV (also .gz), Parquet or .xlsx table with one row per person; - reads standard input.

    \b
    Example:
      selfselect audit loans.csv --label repaid --positive yes --group region --score score \\
        --cost 0.7 --report loans.html

    Exit code 0: fine; 1: a condition (--require, --max-social-cost) does not hold; 2: wrong input.
    """  # noqa: D301
    if options["pool"] is not None and (options["weight"] is not None or options["person"] is not None):
        raise click.UsageError("--pool counts people, one row each: it does not go with --weight or --person.")
    if options["pool"] == "-":
        raise click.UsageError("--pool cannot be standard input.")
    check_together(lambda: check_cost_options(options["costs"], **options), lambda: check_model_options(**options))
    _run(options)


@command(
    short_help="Compare selection or scoring rates of groups: no label, no cost.",
    first=("score", "prediction", "threshold", "report"),
)
@click.argument("file")
@group_option(required=True)
@impact_model_options
@impact_group_options
@flag("--all-categories", help="Let categories under 2% of the people be the highest too.")
@output_options
@file_options
def impact(**options: Any) -> None:
    """Show selection rates, scoring rates and impact ratios by group, as New York City's Local Law 144 asks for.

    With --score, the scoring rate is the share of a group that scores above the median of all people; --threshold adds
    selection rates. With several --group there is a table for each, and one for their combinations. People of unknown
    category (empty, "unknown", --unknown VALUE) are counted and not compared.

    \b
    Examples:
      selfselect impact loans.csv --group region --score score --report impact.html
      selfselect impact applicants.csv --group sex --group race --prediction invited --prediction-positive yes

    Exit code 0: fine; 2: wrong input.
    """  # noqa: D301
    check_model_options(**options)
    _run(options)


@command(short_help="Find subsidies that bring groups in.", first=("positive", "score", "cost", "target", "budget"))
@screening_options
@untested_option
@cost_option
@cost_of_option
@costs_option
@click.option(
    "--target",
    "targets",
    multiple=True,
    metavar="NAME",
    help="Group to bring in [default: all that stay away]; with --budget, a group that may be paid.",
)
@click.option(
    "--budget",
    type=BUDGET,
    help="Pay at most this in all, so that social cost is lowest: in units of what being hired is worth to a person, "
    "or in money with --worth (150000EUR).",
)
@click.option(
    "--confidence",
    type=Number(0, 1, min_open=True, max_open=True),
    metavar="LEVEL",
    help="Pay enough for the lower bound of precision at this confidence (0.9), for a safer amount.",
)
@proportional_option(help="Pay shares of the cost, not amounts.")
@flag(
    "--retrain",
    help="Find subsidies that still work after the firm re-trains a strategic model on the table's other columns.",
)
@flag("--drop-group", help="With --retrain: the firm's model does not see the group columns.")
@column("--ignore", multiple=True, help="With --retrain: column not to learn from.")
@money_options
@output_options
@file_options
def plan(**options: Any) -> None:
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
    check_cost_options(**options)
    if options["budget"] is not None and options["budget"][1] and options["worth"] is None:
        raise click.UsageError("A --budget in money needs --worth, what being selected is worth to a person.")
    if not options["retrain"] and (options["drop_group"] or options["ignore"]):
        raise click.UsageError("--drop-group and --ignore belong to --retrain.")
    if options["retrain"] and options["file"] == "-":
        raise click.UsageError("--retrain reads the table twice, and standard input can be read only once.")
    if options["retrain"] and options["untested"]:
        raise click.UsageError("--untested and --retrain do not go together: the firm trains on people with labels.")
    if options["retrain"] and options["weight"] is not None:
        raise click.UsageError("--weight and --retrain do not go together: the firm trains on people, not on weights.")
    check_model_options(**options)
    _run(options)


@command(short_help="Compare all thresholds of a score.", first=("positive", "score", "cost", "max-social-cost"))
@screening_options
@cost_option
@cost_of_option
@costs_option
@subsidy_options
@share(
    "--max-social-cost",
    help="Recommend the most accurate thresholds at which no larger share of qualified people stays away [default: "
    "than now].",
)
@seed_option(help="Of the split into parts for held-out numbers.")
@click.option("--figure", metavar="PICTURE", help="Draw both frontiers (.png, .svg or .pdf).")
@output_options
@file_options
def frontier(**options: Any) -> None:
    """Compare all thresholds of a score: accuracy among applicants against social cost.

    There is a frontier of one threshold for all, and one of a threshold per group (which may be unlawful: it treats
    people of the same score differently). Thresholds are chosen on the people they are counted on; held-out numbers
    are chosen on one part, published on a second and counted on a third.

    \b
    Example:
      selfselect frontier loans.csv --label repaid --positive yes --group region --score score \\
        --cost 0.7 --max-social-cost 0.05

    Exit code 0: fine; 1: no threshold for all keeps --max-social-cost; 2: wrong input.
    """  # noqa: D301
    check_cost_options(**options)
    if options["prediction"] is not None or options["score"] is None:
        raise click.UsageError("A frontier needs --score COLUMN: decisions have no other threshold.")
    check_model_options(**options)
    _run(options)


@command(short_help="Compare two years, or two models.", first=("positive", "score", "cost", "same-people"))
@click.argument("files", nargs=-1, required=True, metavar="FILE [FILE]")
@people_options
@column("--score", multiple=True, help="Score; twice if the two are in different columns.")
@click.option("--threshold", multiple=True, type=float, metavar="T", help="Of the score; once or twice.")
@lower_passes_option
@column("--prediction", multiple=True, help="Who passes; once or twice.")
@prediction_positive_option
@weight_option
@untested_option
@click.option("--cost", type=Number(0, 1), multiple=True, help="Cost of being tested; twice if it changed.")
@costs_option
@column(
    "--same-people", help="The two files hold the same people, matched by this column: two models are compared on them."
)
@click.option("--resamples", type=click.IntRange(2, MAX_RESAMPLES), default=1000, show_default=True)
@seed_option(help="Of the resamples.")
@output_options
@file_options
def compare(files: tuple[str, ...], **options: Any) -> None:
    """Compare one year with another, or model A with model B: which groups start or stop applying, beyond chance.

    Two FILEs hold different people, or with --same-people the scores of two models for the same people. One FILE with
    two --score (or two --prediction, or two --threshold) holds two models on the same people. Of an option that is
    given twice, the first is for the first.

    \b
    Examples:
      selfselect compare 2023.csv 2024.csv --label repaid --positive yes --group region --score score --cost 0.7
      selfselect compare loans.csv --label repaid --positive yes --group region --score old --score new --cost 0.7
      selfselect compare old.csv new.csv --same-people id \\
        --label repaid --positive yes --group region --score score --cost 0.7

    Exit code 0: fine; 2: wrong input.
    """  # noqa: D301
    if len(files) > 2:
        raise click.UsageError(f"Two files are compared, not {len(files)}.")
    check_cost_options(**options)
    check_model_options(**options)
    times = {name: len(options[name]) for name in ("score", "prediction", "threshold", "cost")}
    for name, given in times.items():
        if given > 2:
            raise click.UsageError(f"--{name} is given once for both, or twice; not {given} times.")
    if len(files) == 1 and options["same_people"] is not None:
        raise click.UsageError("--same-people is for two files; in one they are the same people.")
    if len(files) == 1 and max(times.values()) < 2:
        raise click.UsageError("With one FILE, give --score, --prediction or --threshold twice: once per model.")
    if options["untested"] and (len(files) == 1 or options["same_people"] is not None):
        raise click.UsageError(
            "--untested is for two sets of people. Two models on the same people pass different ones, and need "
            "the labels of all."
        )
    if files.count("-") > 1:
        raise click.UsageError("Standard input can be one of the two files only.")
    _run({"files": files, **options})


@command(short_help="Train a model that takes self-selection into account.", first=("positive", "cost", "method"))
@click.argument("file")
@people_options
@cost_option
@cost_of_option
@costs_option
@click.option(
    "--method",
    type=click.Choice(METHODS),
    default="strategic",
    show_default=True,
    help="naive: ignores who applies; semi: one good threshold; thresholds: one per group, over a logistic regression "
    "(predictions need the group); strategic: trained for those who apply.",
)
@flag("--use-group", help="Let the model learn from the group columns too.")
@column("--ignore", multiple=True, help="Column not to learn from.")
@share(
    "--parity",
    metavar="RATIO",
    help="Least ratio of selection rates between any two groups, in training (0.8: four fifths).",
)
@share("--tpr-parity", metavar="RATIO", help="The same of true-positive rates: of qualified people who pass.")
@share(
    "--margin",
    metavar=None,
    help="Margin by which groups must clear the cost (semi, strategic) [default: that of the method's classifier in "
    "Python].",
)
@click.option(
    "--require", multiple=True, metavar="NAME", help="Write no model (exit code 1) unless this group applies."
)
@share("--max-social-cost", help="Write no model (exit code 1) if a larger share of qualified people would not apply.")
@surely_option
@share("--min-selection-rate", help="Write no model (exit code 1) that passes a smaller share of any group.")
@flag(
    "--allow-shut-out",
    help="Write a model even if it passes nobody of a group, or most qualified people would stay away.",
)
@subsidy_options
@click.option("--holdout", type=Number(0, 0.9), default=0.3, show_default=True, help="Share kept for evaluation.")
@seed_option(help="Of the split.")
@click.option("--model", required=True, metavar="SKOPS", help="Where to write the model (.skops).")
@report_options
@file_options
def train(**options: Any) -> None:
    """Train a model on a table with ordinary columns: numbers, categories, missing values.

    Features are all columns but the label and the groups (--ignore leaves some out, --use-group adds the groups). Part
    of the rows is held out to evaluate the model. A model that does not meet --require, --max-social-cost and
    --min-selection-rate is not written. Methods are trained to meet the conditions that they support.

    \b
    Example:
      selfselect train loans.csv --label repaid --positive yes --group region \\
        --cost 0.7 --method semi --model loans.skops

    Exit code 0: fine; 1: a condition does not hold, the model passes nobody (or under 1%) of a group with ten or more
    qualified people, or most qualified people would stay away (--allow-shut-out writes both); 2: wrong input.
    """  # noqa: D301
    check_cost_options(**options)
    _run(options)


@command(
    short_help="Simulate rounds of publishing, applying and retraining.", first=("positive", "cost", "rounds", "method")
)
@click.argument("file")
@people_options
@cost_option
@cost_of_option
@costs_option
@click.option("--rounds", type=click.IntRange(1, MAX_ROUNDS), default=20, show_default=True, help="Number of rounds.")
@click.option(
    "--method", type=click.Choice(METHODS), default="naive", show_default=True, help="How the firm trains; see train."
)
@flag("--use-group", help="Let the model learn from the group columns too.")
@column("--ignore", multiple=True, help="Column not to learn from.")
@share("--exploration", default=0.0, show_default=True, help="Share of people who are tested at random in each round.")
@click.option(
    "--retrain",
    type=click.Choice(["all", "window", "weighted"]),
    default="all",
    show_default=True,
    help="Labels that the firm learns from: all, those of the last three rounds, or all weighted by the inverse "
    "probability of being known.",
)
@click.option(
    "--memory",
    type=Number(0, 1, min_open=True),
    metavar="RATE",
    help="People remember: weight of the newest published number [default: only the newest counts].",
)
@click.option(
    "--scale", type=Number(0, min_open=True), help="People differ: scale of a logit response [default: none]."
)
@click.option(
    "--initial",
    type=Number(0, 1, min_open=True, max_open=True),
    default=0.3,
    show_default=True,
    help="Share of people whose labels are known before the first round.",
)
@subsidy_options
@seed_option(help="Of who applies and who is explored.")
@output_options
@file_options
def simulate(**options: Any) -> None:
    """Simulate repeated deployment: who is still there, round by round.

    In each round a model is fitted to the people whose labels are known, a number is published about each group, people
    apply or stay away, and those who pass are tested. Only their labels become known. Nothing is published about a
    group without labels, and it stays away. The people of the table are the same in all rounds.

    \b
    Example:
      selfselect simulate loans.csv --label repaid --positive yes --group region \\
        --cost 0.7 --rounds 20 --exploration 0.05 --report rounds.html

    Exit code 0: fine, also if nobody is left before the last round; 2: wrong input.
    """  # noqa: D301
    check_cost_options(**options)
    _run(options)


@command(short_help="Add the predictions of a model to a table.")
@click.argument("model_file", metavar="MODEL")
@click.argument("file")
@click.option("--output", "csv", metavar="CSV", help="Where to write the table [default: to the terminal].")
@flag("--strict", help="Refuse (exit code 2) a table whose columns or groups are unlike those of training.")
@click.option("--prefix", default="", help="Put in front of the names of the new columns.")
@file_options
def predict(**options: Any) -> None:
    """Add the columns score, prediction and applies to a table.

    MODEL is a file that selfselect train wrote. A score above 0 passes screening (prediction 1). applies says whether
    the person's group applies, by what the model published in training; it is empty for groups that were not there.

    Columns that are unlike those of training are named: empty ones, numbers on another scale, categories that are
    unknown or written in another way.

    \b
    Example:
      selfselect predict loans.skops new.csv --output scored.csv

    Exit code 0: fine; 2: wrong input, or with --strict a column or group unlike those of training.
    """  # noqa: D301
    _run(options)


@command("estimate-cost", short_help="Estimate costs from a log of applications.")
@click.argument("file")
@column("--group", "groups", required=True, multiple=True, help="Group of each row; repeat it for combinations.")
@column("--published", required=True, help="What was published about the group: a share between 0 and 1.")
@column("--applicants", required=True, help="How many people of the group applied.")
@column("--pool", help="How many people of the group could have applied.")
@column("--period", help="Period of each row [default: every row is one].")
@flag("--common-cost", help="All groups have the same cost.")
@click.option(
    "--response",
    type=click.Choice(RESPONSES),
    default="logit",
    show_default=True,
    help="Shape of the response to the published value.",
)
@click.option("--scale", type=Number(0, min_open=True), help="Assume this scale, if the log does not identify it.")
@click.option(
    "--confidence",
    type=Number(0, 1, min_open=True, max_open=True),
    metavar="LEVEL",
    default=0.95,
    show_default=True,
    help="Of the intervals.",
)
@click.option(
    "--costs",
    "json",
    metavar="JSON",
    help="Write everything for other programs; other commands read the costs from this file with their --costs.",
)
@click.option("--csv", metavar="CSV", help="Write the table of groups.")
@click.option("--xlsx", metavar="XLSX", help="Write the table of groups as a workbook.")
@click.option("--figure", metavar="PICTURE", help="Draw observed rates and the fitted response (.png, .svg or .pdf).")
@money_options
@file_options
def estimate_cost(**options: Any) -> None:
    """Estimate what applying costs each group from a log of applications.

    FILE has one row per group and period: what was published about the group, how many people could have applied, and
    how many did. Half of a group is taken to apply where its cost is published, and more where more is.

    \b
    Example:
      selfselect estimate-cost applications.csv --group region --period year \\
        --published success_rate --applicants applied --pool people --costs costs.json
      selfselect audit loans.csv --label repaid --positive yes --group region --score score --costs costs.json

    Exit code 0: fine; 1: no more people apply where more is published, so that there is no cost; 2: wrong input, or a
    log that does not identify costs.
    """  # noqa: D301
    _run(options)


@command(short_help="Write a workbook to fill in.")
@click.argument("xlsx", metavar="XLSX")
@flag("--decisions", help="The model's decisions (passes or not) instead of its scores.")
@flag("--force", help="Write over a file that exists.")
def template(**options: Any) -> None:
    """Write a workbook with a row for each person, to be filled in and read back without options.

    Its sheet settings holds options of the command; options that are typed come before them.

    \b
    Example:
      selfselect template people.xlsx
      selfselect audit people.xlsx

    Exit code 0: fine; 2: the file cannot be written.
    """  # noqa: D301
    _run(options)


@command(short_help="Do all this in a browser, on this machine.")
@click.option(
    "--port", type=click.IntRange(1024, 65535), default=8501, show_default=True, help="Where the app listens."
)
@click.option(
    "--max-upload", type=click.IntRange(1, 4096), default=500, show_default=True, metavar="MB", help="Largest file."
)
@click.option("--browser/--no-browser", default=True, help="Open a browser  [default: yes]")
def app(**options: Any) -> None:
    """Open a page on which to drop a file, choose columns and see the report.

    It listens on this machine only (127.0.0.1), and sends nothing anywhere. Needs the extra app.
    """
    _run(options)


#: Subcommands by section of the help.
SECTIONS = {
    "Start here": (demo, app, template, check, audit, impact, estimate_cost),
    "Decide": (plan, frontier, compare),
    "Models": (train, predict, simulate),
}
