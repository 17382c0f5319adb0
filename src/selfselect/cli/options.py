"""Types of options, and options that several commands share."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from functools import partial
from itertools import pairwise
from typing import Any, TypeVar

import click

from selfselect._text import quote

Command = TypeVar("Command", bound=Callable[..., Any])
MAX_COSTS = 1000
#: The largest seed that scikit-learn takes.
MAX_SEED = 2**32 - 1


def number_hint(text: str) -> str:
    """What to type instead of a share with a decimal comma or a percent sign; nothing for other texts."""
    plain = text.strip().replace(",", ".", 1)
    try:
        number = float(plain.removesuffix("%").strip())
    except ValueError:
        return ""
    if plain.endswith("%") and math.isfinite(number):
        return f" Write it as a share: {number / 100:g}."
    return f" Write {plain}." if "," in text else ""


class CostSpan(tuple[float, ...]):
    """Both ends of a range of costs, which stands for all costs between them."""


class Parsed(click.ParamType):  # type: ignore[type-arg]  # generic in some versions of click only
    """An option that a function reads; its complaint (a ValueError) becomes a usage error."""

    def __init__(self, name: str, parse: Callable[[str], Any]) -> None:
        self.name, self._parse = name, parse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read one option."""
        try:
            return self._parse(value) if isinstance(value, str) else value
        except ValueError as error:
            self.fail(str(error), param, ctx)


def read_costs(text: str) -> tuple[float, ...]:
    """A cost in [0, 1], several evenly spaced costs as FIRST:LAST:STEP, or a :class:`CostSpan` as LOW:HIGH."""
    shown, parts = quote(text), text.split(":")
    if len(parts) > 3:
        raise ValueError(f"{shown} is neither a cost (0.7) nor a range (0.6:0.8 or 0.5:0.9:0.05).")
    try:
        # decimals, so that 0.5:0.9:0.05 holds exactly the 0.7 that a person would type
        numbers = [Decimal(part.strip()) for part in parts]
    except InvalidOperation:
        raise ValueError(f"{shown} is not a number.{number_hint(text)}") from None
    if not all(number.is_finite() for number in numbers):
        raise ValueError(f"{shown} is not a number.")
    first, last = numbers[0], numbers[min(1, len(numbers) - 1)]
    if first < 0 or last > 1:
        raise ValueError(f"{shown} is outside [0, 1]: a cost is a share of what being hired is worth.")
    step = min(numbers[2], Decimal(2)) if len(numbers) == 3 else Decimal(1)
    if step <= 0 or last < first:
        raise ValueError(f"{shown}: the step must be positive and the last cost not below the first.")
    if len(numbers) == 2:
        return CostSpan((float(first), float(last)))
    if last - first > MAX_COSTS * step:
        raise ValueError(f"{shown} means more than {MAX_COSTS} costs.")
    return tuple(float(first + i * step) for i in range(int((last - first) / step) + 1))


def read_named_amount(text: str) -> tuple[str, float]:
    """NAME=NUMBER; the name may itself hold equals signs."""
    name, sign, number = text.rpartition("=")
    try:
        amount = float(number)
    except ValueError:
        amount = math.nan
    if not sign or not math.isfinite(amount) or amount < 0:
        raise ValueError(f"{quote(text)} is not NAME=AMOUNT with an amount of at least 0.{number_hint(number)}")
    return name, amount


def read_bands(text: str) -> tuple[str, tuple[float, ...]]:
    """COLUMN=EDGE,EDGE: rising edges that cut a column of numbers into bands."""
    name, sign, edges = text.rpartition("=")
    try:
        numbers = tuple(float(edge) for edge in edges.split(","))
    except ValueError:
        numbers = (math.nan,)
    if not sign or not all(map(math.isfinite, numbers)) or any(b <= a for a, b in pairwise(numbers)):
        raise ValueError(f"{quote(text)} is not COLUMN=EDGE,EDGE with rising numbers, as in age=25,35,50.")
    return name, numbers


def read_budget(text: str) -> tuple[float, bool]:
    """A number of units of worth (50), or an amount of money (150000EUR); and whether it is money."""
    match = re.fullmatch(r"\s*([+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*([^\W\d_]*)\s*", text)
    try:
        number = float(match[1]) if match else math.nan
    except ValueError:
        number = math.nan
    if not math.isfinite(number) or number < 0:
        hint = number_hint(text)
        raise ValueError(f"{quote(text)} is not a finite number of at least 0, nor money such as 150000EUR.{hint}")
    return number, bool(match and match[2])


def read_size(text: str) -> int:
    """A number of bytes: 500MB, 8GB, or just digits."""
    match = re.fullmatch(r"(\d{1,15})\s*([KMGT]?)B?", text.strip().upper())
    if match is None:
        raise ValueError(f"{quote(text)} is not a size such as 8GB.")
    return int(match[1]) * int(1024 ** " KMGT".index(match[2] or " "))


COSTS, NAMED_AMOUNT, BANDS, BUDGET, SIZE = (
    Parsed("COST", read_costs),
    Parsed("NAME=AMOUNT", read_named_amount),
    Parsed("COLUMN=EDGE,EDGE", read_bands),
    Parsed("AMOUNT", read_budget),
    Parsed("SIZE", read_size),
)


class Number(click.FloatRange):
    """A finite number within bounds."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read one option."""
        hint = number_hint(str(value))
        if hint:
            self.fail(f"{quote(str(value))} is not a number.{hint}", param, ctx)
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a finite number.", param, ctx)
        return number


def all_of(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Several options as one decorator, in the order of the help."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


#: Kinds of options.
flag = partial(click.option, is_flag=True)
share = partial(click.option, type=Number(0, 1), metavar="SHARE")
column = partial(click.option, metavar="COLUMN")
seed_option = partial(click.option, "--seed", type=click.IntRange(0, MAX_SEED), default=0, show_default=True)


#: How the table is written, and whether output files may replace others.
file_options = all_of(
    click.option("--encoding", default="auto", help="Of a CSV file: utf-8, latin-1, utf-16, ... [default: auto]"),
    click.option(
        "--delimiter",
        default="auto",
        callback=lambda context, option, value: "\t" if value in ("tab", "\\t") else value,
        help="Of a CSV file: , ; | tab [default: auto]",
    ),
    click.option(
        "--decimal", type=click.Choice(["auto", ".", ","]), default="auto", help="Decimal sign [default: auto]"
    ),
    click.option("--sheet", metavar="NAME", help="Sheet of an .xlsx file, by name or number [default: the first]."),
    click.option(
        "--header-row",
        type=click.IntRange(1),
        default=1,
        metavar="NUMBER",
        help="Row of a CSV or .xlsx file that names the columns; rows above it are left out [default: the first].",
    ),
    click.option(
        "--max-size", "max_bytes", type=SIZE, help="What a compressed file may hold [default: 8GB; 1GB for .xlsx]."
    ),
    flag("--force", help="Write over output files that exist."),
)


def _group_options(missing: str) -> Callable[[Command], Command]:
    """How cells become groups, and what becomes of rows without one by default."""
    return all_of(
        click.option(
            "--unknown",
            multiple=True,
            metavar="VALUE",
            help="A group that means that it is not known, like an empty cell; repeatable.",
        ),
        click.option(
            "--missing",
            type=click.Choice(["error", "own-group", "drop"]),
            default=missing,
            show_default=True,
            callback=lambda context, option, value: value.replace("-", "_"),
            help="Rows whose group is empty: an error, a group of their own, or left out.",
        ),
        click.option(
            "--bands",
            type=BANDS,
            multiple=True,
            callback=lambda context, option, value: dict(value),
            help="Cut a --group column of numbers into bands, as in age=25,35,50; repeatable.",
        ),
    )


impact_group_options = _group_options("own-group")

#: Columns of labels and groups.
#: Columns of labels and groups.
group_option = partial(
    column, "--group", "groups", multiple=True, help="Group of each person; repeat it for combinations."
)


def _people_options(required: bool) -> Callable[[Command], Command]:
    return all_of(
        column("--label", required=required, help="Who is qualified: two values, or more with --positive."),
        click.option(
            "--positive",
            multiple=True,
            metavar="VALUE",
            help="The value that means qualified, if not 1, true or yes; repeatable. All others then mean not.",
        ),
        group_option(required=required),
        _group_options("error"),
        column("--person", help="Id of each row's person, if people have several rows: intervals then count people."),
    )


people_options, known_people_options = _people_options(True), _people_options(False)
untested_option = flag(
    "--untested",
    help="Labels of people who do not pass may be empty. Numbers that depend on them are given as bounds.",
)

weight_option = column(
    "--weight",
    help="Weight of each person, as in a survey: a column of numbers of at least 0. Intervals count as many people as "
    "weighted ones are worth (Kish's effective sample size).",
)
lower_passes_option = flag("--lower-passes", help="Below the threshold passes, not above it.")
prediction_positive_option = click.option(
    "--prediction-positive", metavar="VALUE", help="The prediction that means passing, if not 1, true or yes."
)


#: Scores with a threshold, or decisions.
def _model_options(threshold: str) -> Callable[[Command], Command]:
    return all_of(
        column("--score", help="Score of a model; above the threshold passes screening."),
        click.option("--threshold", type=float, metavar="T", help=threshold),
        lower_passes_option,
        column("--prediction", help="Who passes screening, instead of a score."),
        prediction_positive_option,
    )


model_options = _model_options("[default: 0.5 if all scores are between 0 and 1]")
impact_model_options = _model_options("Show selection rates too, of people above T.")

#: A table with the scores or decisions of a model.
screening_options = all_of(click.argument("file"), people_options, model_options, weight_option)

#: Costs, also of single groups, and subsidies.
cost_option = click.option("--cost", type=Number(0, 1), help="Cost of being tested.")
cost_of_option = click.option(
    "--cost-of",
    "costs_of",
    type=NAMED_AMOUNT,
    multiple=True,
    help="Cost of one group, instead of the general one; repeatable.",
)
costs_option = click.option(
    "--costs",
    "costs_file",
    metavar="JSON",
    help="File with the costs of groups, as estimate-cost writes it; --cost is then for groups that it lacks.",
)
proportional_option = partial(
    flag,
    "--proportional",
    "subsidy_kind",
    callback=lambda context, option, value: "proportional" if value else "additive",
)
subsidy_options = all_of(
    click.option("--subsidy", "subsidies", type=NAMED_AMOUNT, multiple=True, help="Pay a group an amount."),
    proportional_option(help="Subsidies are shares of the cost, not amounts."),
)

surely_option = flag(
    "--surely", help="Check --require and --max-social-cost at 95% confidence, not on the numbers as they are."
)

#: A page for people, and words for it.
report_options = all_of(
    click.option("--report", metavar="HTML", help="Write a page that people can play with."),
    click.option("--title", metavar="TEXT", help="Title of the report."),
    click.option("--note", metavar="TEXT", help="A note to the readers of the report."),
    click.option("--data-date", metavar="TEXT", help="When the data are from."),
    click.option(
        "--min-cell",
        type=click.IntRange(0),
        metavar="PEOPLE",
        default=10,
        show_default=True,
        help="Fewest people that a number in a file may be about: smaller groups, and neighbouring thresholds, are "
        "merged. 0 writes exact counts, which may single out people.",
    ),
)

#: What shares are worth.
money_options = all_of(
    click.option(
        "--worth",
        type=Number(0, min_open=True),
        metavar="MONEY",
        help="What being selected is worth to a person: costs and subsidies are then shown in money too.",
    ),
    click.option("--currency", default="", metavar="TEXT", help="Of --worth, as in EUR."),
)

#: Where a result goes besides the terminal.
output_options = all_of(
    report_options,
    click.option("--json", metavar="JSON", help="Write everything for other programs ('-': to the terminal)."),
    click.option("--csv", metavar="CSV", help="Write the table of groups; of several costs, at the first."),
    click.option("--xlsx", metavar="XLSX", help="Write all tables as the sheets of a workbook."),
)


def check_cost_options(cost: Any, costs_of: Any = (), costs_file: str | None = None, **others: Any) -> None:
    """Refuse a command without any cost, before anything is read."""
    if cost in (None, ()) and not costs_of and costs_file is None:
        raise click.UsageError("Missing option '--cost' (or '--costs', a file that estimate-cost wrote).")


def check_model_options(score: Any, threshold: Any, prediction: Any, lower_passes: bool, **others: Any) -> None:
    """Refuse options of a model that do not go together, before anything is read. Options that repeat are tuples."""
    thresholds = threshold if isinstance(threshold, tuple) else () if threshold is None else (threshold,)
    if bool(score) == bool(prediction):
        raise click.UsageError("Pass either --score COLUMN (with --threshold) or --prediction COLUMN.")
    if prediction and thresholds:
        raise click.UsageError("--threshold belongs to --score; predictions are decided already.")
    if prediction and lower_passes:
        raise click.UsageError("--lower-passes belongs to --score; for predictions say --prediction-positive.")
    if not all(map(math.isfinite, thresholds)):
        raise click.UsageError("--threshold must be a finite number.")
