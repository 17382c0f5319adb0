"""Results on disk: a SQLite file with one row per data set, method, cost and split, safe to kill and to share.

A row is written once, whole, when its fit is done; with it, in a table of its own, what was published and to whom the
promise was broken. What is under way is noted by leases, in the same file.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Self

from .database import PROMISES, Database, StoreError
from .leases import Leases
from .results import Cell, Result, who_applies

#: What makes two results the same result; the rest is when and how fast.
IDENTITY = (
    "dataset method cost split seed configuration package_version data_hash groups train_counts test_counts "
    "train_metrics test_metrics"
).split()
_BY_CELL = "ORDER BY dataset, method, cost, split"


def now() -> str:
    """The time, as the store notes it."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


class Store:
    """A file of results.

    Parameters
    ----------
    path : str or Path
        The file; made if it is not there.
    create : bool, default=True
        Whether to make it.

    Attributes
    ----------
    database : Database
        The connection to the file.
    leases : Leases
        Fits that are under way.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, Store(f"{folder}/results.sqlite") as store:
    ...     len(store.results())
    0
    """

    def __init__(self, path: str | Path, *, create: bool = True) -> None:
        self.database = Database(path, create=create)
        self.leases = Leases(self.database)

    @property
    def path(self) -> Path:
        """The file."""
        return self.database.path

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Give back what is still leased, and close the file."""
        try:
            self.leases.release()
        except StoreError:
            pass  # leases die with their owner anyway
        finally:
            self.database.connection.close()

    # ------------------------------------------------------------------ results

    def write(self, results: Iterable[Result]) -> None:
        """Write results, all or none, and end the leases on them.

        A result that is there already is an error: nothing is ever overwritten.
        """
        with self.database.transaction():
            self.database.connection.execute(PROMISES)  # a store that was made before there were any
            for result in results:
                for table, row in (("results", _row(result)), ("promises", _promise_row(result))):
                    self.database.connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
                self.leases.end(result.cell)

    def done(self) -> set[Cell]:
        """Fits whose result is there."""
        return {Cell(*row) for row in self.database.rows("SELECT dataset, method, cost, split FROM results")}

    def results(self) -> list[Result]:
        """All results, sorted by data set, method, cost and split."""
        promised = {row[:4]: row[4:] for row in self._promises()}
        rows = self.database.rows(f"SELECT {', '.join(IDENTITY)}, seconds FROM results {_BY_CELL}")
        return [_result(row, promised.get(row[:4])) for row in rows]

    def _promises(self) -> list[tuple[Any, ...]]:
        if not self.database.has_table("promises"):
            return []
        return self.database.rows("SELECT dataset, method, cost, split, published_counts, applies FROM promises")

    def contents(self) -> list[tuple[Any, ...]]:
        """Everything that makes results what they are, in order: equal for equal results, whenever they were made."""
        return self.database.rows(f"SELECT {', '.join(IDENTITY)} FROM results {_BY_CELL}")

    def check_same_origin(self, dataset: str, data_hash: str, configurations: dict[Cell, dict[str, Any]]) -> None:
        """Refuse to add to results that were made from other people or with other settings."""
        rows = self.database.rows(
            "SELECT method, cost, split, data_hash, configuration FROM results WHERE dataset = ?", (dataset,)
        )
        for method, cost, split, stored_hash, stored in rows:
            cell = Cell(dataset, method, cost, split)
            if stored_hash != data_hash:
                raise StoreError(
                    f"{self.path} holds results of other data under the name {dataset!r}; choose another file.",
                    key="store",
                )
            if cell in configurations and json.loads(stored) != json.loads(_json(configurations[cell])):
                raise StoreError(
                    f"{self.path} holds a result of other settings ({cell}): {stored} instead of "
                    f"{_json(configurations[cell])}; choose another file.",
                    key="store",
                )

    # ------------------------------------------------------------------ how it was made

    def note_sweep(self, started_at: str, seconds: float, fits: int, engine: str, machine: dict[str, Any]) -> None:
        """Note when, where and how long a sweep ran."""
        with self.database.explained():
            self.database.connection.execute(
                "INSERT INTO sweeps VALUES (?, ?, ?, ?, ?)", (started_at, seconds, fits, engine, _json(machine))
            )

    def sweeps(self) -> list[dict[str, Any]]:
        """What :meth:`note_sweep` noted, in order."""
        names = ("started_at", "seconds", "fits", "engine", "machine")
        rows = self.database.rows("SELECT * FROM sweeps ORDER BY rowid")
        return [{**dict(zip(names, row, strict=True)), "machine": json.loads(row[4])} for row in rows]


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, allow_nan=False)


def _row(result: Result) -> tuple[Any, ...]:
    return (
        *result.cell.key,
        result.seed,
        _json(result.configuration),
        result.package_version,
        result.data_hash,
        _json(list(result.groups)),
        _json(result.train_counts),
        _json(result.test_counts),
        _json(result.train_metrics),
        _json(result.test_metrics),
        result.seconds,
        now(),
    )


def _promise_row(result: Result) -> tuple[Any, ...]:
    plain = (result.published_counts, list(result.applies), list(result.broken))
    return (*result.cell.key, *map(_json, plain))


def _result(row: tuple[Any, ...], promised: tuple[str, str] | None) -> Result:
    cell, groups, train_counts = Cell(*row[:4]), tuple(json.loads(row[8])), json.loads(row[9])
    if promised is None:  # made before promises were stored, when everything was published on training people
        published, applies = train_counts, who_applies(groups, train_counts, cell.cost).tolist()
    else:
        published, applies = map(json.loads, promised)
    return Result(
        cell,
        seed=row[4],
        configuration=json.loads(row[5]),
        package_version=row[6],
        data_hash=row[7],
        groups=groups,
        train_counts=train_counts,
        test_counts=json.loads(row[10]),
        train_metrics=json.loads(row[11]),
        test_metrics=json.loads(row[12]),
        published_counts=published,
        applies=tuple(applies),
        seconds=row[13],
    )
