"""Options that several commands share, and how a table on disk becomes an audit."""

from __future__ import annotations

import difflib
import math
import os
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from typing import Any, TypeVar

import click
import numpy as np
import pandas as pd
from tqdm import tqdm

from selfselect._text import printable, shown
from selfselect.auditing import Audit, Provenance, Screened, default_threshold
from selfselect.counting import encode_groups
from selfselect.deciding import PublishedStatistics, SubsidyKind, Terms, ThresholdCurves
from selfselect.tabular.reading import (
    Chunk,
    Progress,
    TableError,
    TableReader,
    TwoValues,
    as_numbers,
    open_table,
)

from . import BadInput

Command = TypeVar("Command", bound=Callable[..., Any])
MOST_COSTS = 1000


class CostRange(click.ParamType):  # type: ignore[type-arg]  # generic in some versions of click only
    """A cost in [0, 1], or several evenly spaced ones as FIRST:LAST:STEP."""

    name = "COST"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[float, ...]:
        """Read one option."""
        if isinstance(value, tuple):
            return value
        parts = str(value).split(":")
        if len(parts) not in (1, 3):
            self.fail(f"{shown(str(value))} is neither a cost (0.7) nor a range (0.5:0.9:0.05).", param, ctx)
        try:
            numbers = [Decimal(part.strip()) for part in parts]
            if not all(number.is_finite() for number in numbers):
                raise InvalidOperation
        except InvalidOperation:
            self.fail(f"{shown(str(value))} is not a number.", param, ctx)
        costs = [numbers[0]]
        if len(numbers) == 3:
            first, last, step = numbers
            if step <= 0 or last < first:
                self.fail(f"{shown(str(value))}: the step must be positive and the last cost not below the first.")
            if (last - first) / step > MOST_COSTS:
                self.fail(f"{shown(str(value))} means more than {MOST_COSTS} costs.", param, ctx)
            # decimal steps, so that 0.5:0.9:0.05 holds exactly the 0.7 that a person would type
            costs = [first + i * step for i in range(int((last - first) / step) + 1)]
        if costs[0] < 0 or costs[-1] > 1:
            self.fail(f"{shown(str(value))} is outside [0, 1]: a cost is a share of what being hired is worth.")
        return tuple(float(cost) for cost in costs)


class Number(click.FloatRange):
    """A number within bounds; NaN is within none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read one option."""
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
            self.fail(f"{shown(str(value))} is not NAME=AMOUNT with an amount of at least 0.", param, ctx)
        return name, amount


def file_options(command: Command) -> Command:
    """How the table is written."""
    for option in reversed(
        [
            click.option("--encoding", default="utf-8", show_default=True, help="Of a CSV file."),
            click.option("--delimiter", default=",", show_default=True, help="Between the columns of a CSV file."),
            click.option("--force", is_flag=True, help="Write over output files that exist."),
        ]
    ):
        command = option(command)
    return command


def label_and_group_options(command: Command) -> Command:
    """Which columns say who is qualified, and who belongs to which group."""
    for option in reversed(
        [
            click.option("--label", required=True, metavar="COLUMN", help="Who is qualified: a column of two values."),
            click.option("--positive", metavar="VALUE", help="The value that means qualified, if not 1 or true."),
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
        ]
    ):
        command = option(command)
    return command


def model_options(command: Command) -> Command:
    """What the model says: a score with a threshold, or predictions."""
    for option in reversed(
        [
            click.option("--score", metavar="COLUMN", help="Score of a model; above the threshold passes screening."),
            click.option(
                "--threshold", type=float, metavar="T", help="[default: 0.5 if all scores are between 0 and 1]"
            ),
            click.option("--prediction", metavar="COLUMN", help="Who passes screening, instead of a score."),
            click.option(
                "--prediction-positive", metavar="VALUE", help="The prediction that means passing, if not 1 or true."
            ),
        ]
    ):
        command = option(command)
    return command


@contextmanager
def progress_bar(path: str) -> Iterator[Progress | None]:
    """Bar over the bytes of a file, on a terminal only."""
    if not sys.stderr.isatty():
        yield None
        return
    size = os.path.getsize(path) if path != "-" and os.path.isfile(path) else None
    label = "reading"
    with tqdm(total=size, unit="B", unit_scale=True, desc=label, leave=False, file=sys.stderr) as bar:
        yield bar.update


@contextmanager
def table_at(path: str, encoding: str, delimiter: str) -> Iterator[TableReader]:
    """Open a table; complaints about it become messages."""
    delimiter = "\t" if delimiter in ("\\t", "tab") else delimiter
    try:
        with (
            progress_bar(path) as progress,
            open_table(path, encoding=encoding, delimiter=delimiter, progress=progress) as table,
        ):
            yield table
    except TableError as error:
        raise BadInput(str(error)) from error
    except (OSError, UnicodeError) as error:
        raise BadInput(f"Cannot read {printable(path)}: {error}.") from error


def group_columns(table: TableReader, chunk: Chunk, names: Sequence[str], first: int, missing: str) -> pd.DataFrame:
    """Group cells of a chunk, where an empty one is missing."""
    columns = {}
    for i, name in enumerate(names):
        cells = chunk.columns[first + i]
        empty = "" in cells
        if empty and missing == "error":
            raise table.error(
                "the group is empty; fill or drop such rows, or pass --missing own-group to count them as a group.",
                row=chunk.rows[cells.index("")],
                column=name,
            )
        column = np.array(cells, dtype=object)
        if empty:
            column[column == ""] = None
        columns[i] = column
    frame = pd.DataFrame(columns, dtype=object)
    frame.columns = pd.Index(list(names))
    return frame


def read_screened(
    table: TableReader,
    *,
    label: str,
    positive: str | None,
    groups: Sequence[str],
    score: str | None,
    threshold: float | None,
    prediction: str | None,
    prediction_positive: str | None,
    missing: str,
) -> tuple[Screened, str]:
    """Read a table once, in chunks; predictions become counts as they come, scores are kept to be sorted."""
    if len(set(groups)) < len(groups):
        raise BadInput("--group names a column twice.")
    model_column = score if score is not None else prediction
    assert model_column is not None
    option = "--score" if score is not None else "--prediction"
    where = [table.position(label, "--label"), table.position(model_column, option)]
    where += [table.position(name, "--group") for name in groups]
    labels = TwoValues(label, positive, "qualified")
    decisions = TwoValues(model_column, prediction_positive, "passes screening", "--prediction-positive")
    how = missing.replace("-", "_")

    counted: list[PublishedStatistics] = []
    kept: list[tuple[Any, Any]] = []
    codes: list[dict[Any, int]] = [{} for _ in groups]
    kept_codes: list[list[Any]] = [[] for _ in groups]
    rows = 0
    for chunk in table.chunks(where):
        rows += len(chunk.rows)
        y = labels(table, chunk, 0)
        columns = group_columns(table, chunk, groups, 2, missing)
        if score is not None:
            kept.append((y, as_numbers(table, chunk, 1, score)))
            for i, name in enumerate(groups):
                local, uniques = pd.factorize(columns[name], use_na_sentinel=True)
                known = codes[i]
                positions = np.array([known.setdefault(value, len(known)) for value in uniques], dtype=np.int32)
                kept_codes[i].append(np.where(local < 0, -1, positions[local]) if len(uniques) else local)
        else:
            hint = f" If {shown(model_column)} is a score, pass it as --score."
            if labels.positive is not None and decisions.positive is None:
                decisions.adopt(labels.positive, chunk, 1)
            selected = decisions(table, chunk, 1, hint=hint)
            counted.append(PublishedStatistics.from_predictions(y, selected, sensitive_features=columns, missing=how))
    if rows == 0:
        raise table.error("there is a header but no row.")
    labels.finish(table)
    if score is None:
        if prediction_positive is not None or not decisions.seen <= labels.seen:
            decisions.finish(table)  # a value that no row holds would mean that nobody passes
        return Screened(sum(counted[1:], counted[0])), table.sha256()

    y = np.concatenate([part for part, _ in kept])
    values = np.concatenate([part for _, part in kept])
    kept.clear()
    frame = pd.DataFrame(
        {
            i: pd.Categorical.from_codes(np.concatenate(parts), list(known))
            for i, (parts, known) in enumerate(zip(kept_codes, codes, strict=True))
        }
    )
    if threshold is None:
        try:
            threshold = default_threshold(float(values.min()), float(values.max()))
        except ValueError as error:
            raise table.error(str(error), column=score) from error
    ordered = [frame[i].cat.reorder_categories(sorted(known)) for i, known in enumerate(codes)]
    for column, name in zip(ordered, groups, strict=True):
        column.name = name
    encoded = encode_groups(pd.concat(ordered, axis=1), n_rows=rows, missing=how)
    curves = ThresholdCurves.from_codes(y, values, encoded.codes, encoded.labels)
    return Screened.from_curves(curves, threshold), table.sha256()


def choose_model(score: str | None, threshold: float | None, prediction: str | None) -> None:
    """Refuse options that do not go together, before anything is read."""
    if (score is None) == (prediction is None):
        raise click.UsageError("Pass either --score COLUMN (with --threshold) or --prediction COLUMN.")
    if prediction is not None and threshold is not None:
        raise click.UsageError("--threshold belongs to --score; predictions are decided already.")
    if threshold is not None and not math.isfinite(threshold):
        raise click.UsageError("--threshold must be a finite number.")


def load_audit(
    path: str,
    *,
    encoding: str,
    delimiter: str,
    label: str,
    positive: str | None,
    groups: Sequence[str],
    score: str | None,
    threshold: float | None,
    prediction: str | None,
    missing: str,
    prediction_positive: str | None = None,
    costs: Sequence[tuple[float, ...]],
    subsidies: Sequence[tuple[str, float]] = (),
    subsidy_kind: SubsidyKind = "additive",
) -> Audit:
    """Audit a table on disk."""
    choose_model(score, threshold, prediction)
    with table_at(path, encoding, delimiter) as table:
        people, digest = read_screened(
            table,
            label=label,
            positive=positive,
            groups=groups,
            score=score,
            threshold=threshold,
            prediction=prediction,
            prediction_positive=prediction_positive,
            missing=missing,
        )
    source = Provenance(
        title="standard input" if path == "-" else os.path.basename(path),
        command=command_line(),
        sha256=digest,
        label=label,
        groups=" / ".join(groups),
        score=score or prediction or "",
    )
    first, *others = dict.fromkeys(cost for option in costs for cost in option)
    result = Audit(people, people, Terms(first, kind=subsidy_kind), tuple(others), source)
    return with_subsidies(result, subsidies)


def with_subsidies(audit: Audit, subsidies: Sequence[tuple[str, float]]) -> Audit:
    """The same audit with subsidies given by name."""
    if not subsidies:
        return audit
    names = [name for name, _ in subsidies]
    if len(set(names)) < len(names):
        raise BadInput("--subsidy names a group twice.")
    labels = find_groups(audit, names, "--subsidy")
    amounts = {label: value for label, (_, value) in zip(labels, subsidies, strict=True)}
    paid = replace(audit, terms=audit.terms.paying(amounts))
    paid.terms.faced_by(paid.published.groups)
    return paid


def find_groups(audit: Audit, names: Sequence[str], option: str) -> list[Any]:
    """Labels of groups given by name, or a complaint that suggests the nearest one."""
    return match_names(names, audit.names, audit.published.groups, option)


def match_names(names: Sequence[str], shown_names: Sequence[str], groups: pd.Index, option: str) -> list[Any]:
    """Labels of groups by the names that people see."""
    known = dict(zip(shown_names, groups, strict=True))
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name[:200], [other[:200] for other in list(known)[:5000]], n=1, cutoff=0.5)
            hint = f"Did you mean {shown(near[0])}? " if near else ""
            listed = ", ".join(shown(other) for other in list(known)[:10])
            more = f" and {len(known) - 10} more" if len(known) > 10 else ""
            raise BadInput(f"{option}: there is no group {shown(name)}. {hint}Groups: {listed}{more}.")
    return [known[name] for name in names]


def check_report_available() -> None:
    """Complain before any work is done if a report cannot be made."""
    from selfselect.report import check_available

    try:
        check_available()
    except ImportError as error:
        raise BadInput(str(error)) from error


def command_line() -> str:
    """What was typed, for the record."""
    return shlex.join(["selfselect", *sys.argv[1:]])
