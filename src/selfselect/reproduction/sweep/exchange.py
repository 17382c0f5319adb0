"""Results as a small table that a repository can keep: one row per fit, from which every number follows again.

Runs that take hours are not made again to write a page. Their store is exported to a CSV file (compressed if its name
ends in ``.gz``), which holds the counts of each group; metrics follow from those when it is read.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Iterable
from pathlib import Path

from ..._text import inert_cell
from ...tabular.errors import TableError
from ...tabular.read import open_table
from ...tabular.table import Table
from .database import StoreError
from .results import Cell, PlainCounts, Result, check_counts, metrics_from_counts
from .rows import UNREADABLE, check_result, in_words
from .store import Store

#: The counts of a group, in the order of :class:`~selfselect.counting.GroupCounts`.
_COUNTS = ("n", "positives", "selected", "true_positives")
#: Columns of the file. Lists (one value per group) are JSON, and so are texts that a spreadsheet would run. What is
#: published on training people is empty.
COLUMNS = (
    *("dataset", "method", "cost", "split", "seed", "configuration", "package_version", "data_hash", "groups"),
    *(f"{people}_{name}" for people in ("train", "test", "published") for name in _COUNTS),
    "applies",
    "seconds",
)
#: Bytes that a compressed file may hold: some hundred thousand results.
MOST_BYTES = 2**28
#: How a SQLite file begins.
_SQLITE = b"SQLite format 3\0"


def exported(results: Iterable[Result], *, compress: bool = False) -> bytes:
    """Results as the content of a file, by gzip if it is to be compressed; equal results make equal files."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for result in sorted(results, key=lambda each: each.cell):
        writer.writerow(_row(result))
    content = text.getvalue().encode()
    return gzip.compress(content, mtime=0) if compress else content


def _row(result: Result) -> list[object]:
    published = dict.fromkeys(_COUNTS) if result.published_counts == result.train_counts else result.published_counts
    counts = [people[name] for people in (result.train_counts, result.test_counts, published) for name in _COUNTS]
    cell = result.cell
    return [
        *(_text(cell.dataset), _text(cell.method), cell.cost, cell.split),
        result.seed,
        _json(result.configuration),
        _text(result.package_version),
        _text(result.data_hash),
        _json(result.groups),
        *("" if column is None else _json(column) for column in counts),
        _json(result.applies),
        f"{result.seconds:.2f}",
    ]


def _text(text: str) -> str:
    """A text as it is if a spreadsheet shows it so; else as JSON, which begins with a quote and comes back."""
    plain = text.isprintable() and inert_cell(text) == text and not text.startswith('"')
    return text if plain else _json(text)


def _text_of(cell: str) -> str:
    return str(json.loads(cell)) if cell.startswith('"') else cell


def _json(value: object) -> str:
    # semicolons, which are within texts only, would begin new cells where files are split at them
    return json.dumps(value, sort_keys=True, separators=(",", ":")).replace(";", "\\u003b")


def read_all(paths: Iterable[str | Path]) -> list[Result]:
    """Results of several files; see :func:`read_results`."""
    return [result for path in paths for result in read_results(path)]


def read_results(path: str | Path) -> list[Result]:
    """Results of a store, or of a file that was exported from one.

    Raises
    ------
    StoreError
        If it is neither, damaged, not there, or holds more than :data:`MOST_BYTES`.
    """
    try:
        with open(path, "rb") as file:
            is_store = file.read(len(_SQLITE)) == _SQLITE
    except OSError as error:
        raise StoreError(f"Cannot read results from {path}: {error.strerror or error}.") from error
    if is_store:
        with Store(path, read_only=True) as store:
            return store.results()
    try:
        with open_table(path, encoding="utf-8", delimiter=",", decimal=".", most_bytes=MOST_BYTES) as table:
            return _read_table(table)
    except TableError as error:
        raise StoreError(str(error)) from error


def _read_table(table: Table) -> list[Result]:
    if tuple(table.header) != COLUMNS:
        raise table.error("this is neither a store nor results exported from one: its columns are others")
    results: list[Result] = []
    for chunk in table.chunks(range(len(COLUMNS))):
        for row, *cells in zip(chunk.rows, *(column.cells() for column in chunk.columns), strict=True):
            try:
                results.append(_result(dict(zip(COLUMNS, cells, strict=True))))
            except UNREADABLE as error:
                raise table.error(f"the row is damaged: {in_words(error)}", row=row) from error
    return results


def _result(row: dict[str, str]) -> Result:
    cell = Cell(_text_of(row["dataset"]), _text_of(row["method"]), float(row["cost"]), int(row["split"]))
    groups = tuple(json.loads(row["groups"]))
    train, test = (_counts(row, people, len(groups)) for people in ("train", "test"))
    published = _counts(row, "published", len(groups)) if row[f"published_{_COUNTS[0]}"] else train
    applies = json.loads(row["applies"])
    on_train, on_test = metrics_from_counts(groups, published, train, test, applies)
    result = Result(
        cell,
        seed=int(row["seed"]),
        configuration=json.loads(row["configuration"]),
        package_version=_text_of(row["package_version"]),
        data_hash=_text_of(row["data_hash"]),
        groups=groups,
        train_counts=train,
        test_counts=test,
        train_metrics=on_train,
        test_metrics=on_test,
        published_counts=published,
        applies=tuple(applies),
        seconds=float(row["seconds"]),
    )
    check_result(result)
    return result


def _counts(row: dict[str, str], people: str, n_groups: int) -> PlainCounts:
    counts = {name: json.loads(row[f"{people}_{name}"]) for name in _COUNTS}
    check_counts(counts, n_groups)
    return counts
