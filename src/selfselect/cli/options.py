"""Types of options, and options that several commands share."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any, TypeVar

import click

from selfselect._text import shown

Command = TypeVar("Command", bound=Callable[..., Any])
MOST_COSTS = 1000
#: The largest seed that scikit-learn takes.
LARGEST_SEED = 2**32 - 1


class CostSpan(tuple[float, ...]):
    """The two ends of a range of costs, all of which are meant."""


def how_to_write(text: str) -> str:
    """What to type instead of a share with a decimal comma or a percent sign; nothing for other texts.

    Examples
    --------
    >>> how_to_write("0,7"), how_to_write("70 %"), how_to_write("much")
    (' Write 0.7.', ' Write it as a share: 0.7.', '')
    """
    plain = text.strip().replace(",", ".", 1)
    is_percent = plain.endswith("%")
    try:
        number = Decimal(plain.removesuffix("%").strip())
    except InvalidOperation:
        return ""
    if not number.is_finite() or abs(number.adjusted()) > 20:
        return ""
    if is_percent:
        return f" Write it as a share: {float(number / 100):g}."
    return f" Write {number}." if "," in text else ""


class CostRange(click.ParamType):  # type: ignore[type-arg]  # generic in some versions of click only
    """A cost in [0, 1], or several evenly spaced ones as FIRST:LAST:STEP; where spans make sense, LOW:HIGH as well.

    Parameters
    ----------
    spans : bool, default=False
        Whether LOW:HIGH is taken, which gives a :class:`CostSpan`.
    """

    name = "COST"

    def __init__(self, spans: bool = False) -> None:
        self.spans = spans

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[float, ...]:
        """Read one option."""
        if isinstance(value, tuple):
            return value
        text = shown(str(value))
        parts = str(value).split(":")
        if len(parts) not in ((1, 2, 3) if self.spans else (1, 3)):
            whole = ", a whole range (0.6:0.8)" if self.spans else ""
            self.fail(f"{text} is neither a cost (0.7){whole} nor a range (0.5:0.9:0.05).", param, ctx)
        try:
            numbers = [Decimal(part.strip()) for part in parts]
            if not all(number.is_finite() for number in numbers):
                raise InvalidOperation
        except InvalidOperation:
            self.fail(f"{text} is not a number.{how_to_write(str(value))}", param, ctx)
        first, last = numbers[0], numbers[min(1, len(numbers) - 1)]
        step = numbers[2] if len(numbers) == 3 else Decimal(1)
        if step <= 0 or last < first:
            self.fail(f"{text}: the step must be positive and the last cost not below the first.", param, ctx)
        if first < 0 or last > 1:
            self.fail(f"{text} is outside [0, 1]: a cost is a share of what being hired is worth.", param, ctx)
        if len(numbers) == 2:
            return CostSpan((float(first), float(last)))
        step = min(step, Decimal(2))  # as good as any larger one, and small enough to compute with
        if last - first > MOST_COSTS * step:
            self.fail(f"{text} means more than {MOST_COSTS} costs.", param, ctx)
        # decimal steps, so that 0.5:0.9:0.05 holds exactly the 0.7 that a person would type
        return tuple(float(first + i * step) for i in range(int((last - first) / step) + 1))


class Number(click.FloatRange):
    """A number within bounds; NaN is within none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read one option."""
        hint = how_to_write(str(value))
        if hint:
            self.fail(f"{shown(str(value))} is not a number.{hint}", param, ctx)
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a finite number.", param, ctx)
        return number


class NamedAmount(click.ParamType):  # type: ignore[type-arg]  # generic in some versions of click only
    """NAME=NUMBER; the name may itself hold equals signs."""

    name = "NAME=AMOUNT"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, float]:
        """Read one option."""
        if isinstance(value, tuple):
            return value
        name, sign, number = str(value).rpartition("=")
        try:
            amount = float(number)
        except ValueError:
            amount = math.nan
        if not sign or not math.isfinite(amount) or amount < 0:
            hint = how_to_write(number)
            self.fail(f"{shown(str(value))} is not NAME=AMOUNT with an amount of at least 0.{hint}", param, ctx)
        return name, amount


def _all_of(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Several options as one decorator, in the order of the help."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def seed_option(of_what: str) -> Callable[[Command], Command]:
    """The option --seed; ``of_what`` says what is drawn by it."""
    return click.option("--seed", type=click.IntRange(0, LARGEST_SEED), default=0, show_default=True, help=of_what)


#: Costs of single groups; :func:`selfselect.cli.inputs.load_audit` takes it.
cost_of_option = click.option(
    "--cost-of",
    "costs_of",
    type=NamedAmount(),
    multiple=True,
    help="Cost of one group, instead of the general one; repeatable.",
)

#: Where the command keeps how a table is written, beyond encoding and delimiter; :mod:`.inputs` takes it from there.
WRITTEN = "selfselect.written"


def _keep(context: click.Context, parameter: click.Parameter, value: Any) -> None:
    context.meta.setdefault(WRITTEN, {})[parameter.name] = value


class Size(click.ParamType):  # type: ignore[type-arg]  # generic in some versions of click only
    """A number of bytes: 500MB, 8GB, or just digits."""

    name = "SIZE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read one option."""
        found = re.fullmatch(r"(\d{1,15})\s*([KMGT]?)B?", str(value).strip().upper())
        if found is None:
            self.fail(f"{shown(str(value))} is no size like 8GB.", param, ctx)
        return int(found[1]) * int(1024 ** " KMGT".index(found[2] or " "))


#: How a table is written.
reading_options = _all_of(
    click.option(
        "--encoding", default="auto", show_default=True, help="Of a CSV file: utf-8, latin-1, cp1252, utf-16, ..."
    ),
    click.option(
        "--delimiter", default="auto", show_default=True, help="Between the columns of a CSV file: , ; | tab."
    ),
    click.option(
        "--decimal",
        type=click.Choice(["auto", ".", ","]),
        default="auto",
        show_default=True,
        expose_value=False,
        callback=_keep,
        help="Decimal sign of a CSV file.",
    ),
    click.option(
        "--sheet",
        metavar="NAME",
        expose_value=False,
        callback=_keep,
        help="Sheet of an .xlsx file, by name or number [default: the first].",
    ),
    click.option(
        "--max-size",
        "most_bytes",
        type=Size(),
        expose_value=False,
        callback=_keep,
        help="What a compressed file may hold [default: 8GB; 1GB for .xlsx].",
    ),
)

#: How the table is written, and whether what is made of it may replace files.
file_options = _all_of(
    reading_options,
    click.option("--force", is_flag=True, help="Write over output files that exist."),
)

#: Which columns say who is qualified, and who belongs to which group.
people_options = _all_of(
    click.option(
        "--label",
        required=True,
        metavar="COLUMN",
        help="Who is qualified: a column of two values, or of more with --positive.",
    ),
    click.option(
        "--positive",
        multiple=True,
        metavar="VALUE",
        help="The value that means qualified, if not 1 or true; repeat it for several. All others then mean not.",
    ),
    click.option(
        "--group",
        "groups",
        required=True,
        multiple=True,
        metavar="COLUMN",
        help="Group of each person; repeat it for combinations of columns.",
    ),
    click.option(
        "--missing",
        type=click.Choice(["error", "own-group"]),
        default="error",
        show_default=True,
        help="What to do with rows whose group is empty.",
    ),
)

#: How far each person stands for others; :func:`selfselect.cli.inputs.load_audit` takes it.
weight_option = click.option(
    "--weight",
    metavar="COLUMN",
    help="How far each person stands for others, as in a survey: a column of numbers of at least 0. Intervals count "
    "as many people as weighted ones are worth (Kish's effective sample size).",
)

#: Selective labels; :func:`selfselect.cli.inputs.load_audit` takes it.
untested_option = click.option(
    "--untested",
    is_flag=True,
    help="Labels of people who do not pass may be empty: nobody tested them. What depends on them is given as bounds.",
)

#: What the model says: a score with a threshold, or predictions.
model_options = _all_of(
    click.option("--score", metavar="COLUMN", help="Score of a model; above the threshold passes screening."),
    click.option("--threshold", type=float, metavar="T", help="[default: 0.5 if all scores are between 0 and 1]"),
    click.option("--lower-passes", is_flag=True, help="Below the threshold passes, not above it."),
    click.option("--prediction", metavar="COLUMN", help="Who passes screening, instead of a score."),
    click.option("--prediction-positive", metavar="VALUE", help="The prediction that means passing, if not 1 or true."),
)

#: Where a command keeps what its report should say: see :func:`report_words`.
REPORT_WORDS = "selfselect.report_words"


def _keep_word(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
    ctx.meta.setdefault(REPORT_WORDS, {})[param.name] = value or ""


def report_words() -> dict[str, str]:
    """What the running command was told to say in its report: title, note, date of the data; empty where nothing."""
    context = click.get_current_context(silent=True)
    return {} if context is None else dict(context.meta.get(REPORT_WORDS, {}))


#: A page for people, and what it should say. What it says is read where reports get their provenance.
report_options = _all_of(
    click.option("--report", metavar="HTML", help="Write a page that people can play with."),
    click.option("--title", metavar="TEXT", expose_value=False, callback=_keep_word, help="What the report is called."),
    click.option(
        "--note", metavar="TEXT", expose_value=False, callback=_keep_word, help="A note to the readers of the report."
    ),
    click.option(
        "--data-date", metavar="TEXT", expose_value=False, callback=_keep_word, help="When the data are from."
    ),
)

#: Where a finding goes besides the terminal.
output_options = _all_of(
    report_options,
    click.option(
        "--json", "json_file", metavar="JSON", help="Write everything for other programs ('-': to the terminal)."
    ),
    click.option("--csv", "csv_file", metavar="CSV", help="Write the table of groups; of several costs, at the first."),
)


def check_model_options(
    score: str | None, threshold: float | None, prediction: str | None, lower_passes: bool = False, **others: Any
) -> None:
    """Refuse options of a model that do not go together, before anything is read."""
    if (score is None) == (prediction is None):
        raise click.UsageError("Pass either --score COLUMN (with --threshold) or --prediction COLUMN.")
    if prediction is not None and threshold is not None:
        raise click.UsageError("--threshold belongs to --score; predictions are decided already.")
    if prediction is not None and lower_passes:
        raise click.UsageError("--lower-passes belongs to --score; for predictions say --prediction-positive.")
    if threshold is not None and not math.isfinite(threshold):
        raise click.UsageError("--threshold must be a finite number.")
