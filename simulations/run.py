"""Cells of the simulations, and running those that are not finished yet."""

from __future__ import annotations

import csv
import time
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from tqdm import tqdm

from .intervals import SIMULATED, interval
from .logs import LOGS, log_intervals
from .populations import GENEROSITY, POPULATIONS, TABLES
from .promises import METHODS, Refused, promise

COLUMNS = ("kind", "population", "method", "publish", "repeats", "measure", "value", "se", "note")
#: Cells whose repetitions take long have fewer of them.
SLOW = {"thresholds, all groups": 2, "strategic": 2, "strategic, group columns": 2}


@dataclass(frozen=True)
class Cell:
    """One population, method and way to publish ("" where intervals are simulated), and the number of repetitions."""

    kind: str
    population: str
    method: str
    publish: str
    repeats: int


def plan_cells(repeats: int, name: str = "") -> list[Cell]:
    """All cells whose text holds a name, the most important first: default promises, generosity, intervals, guarantee.

    Examples
    --------
    >>> plan_cells(20, "promise,40 groups of 25, 20 features,naive,default")
    [Cell(kind='promise', population='40 groups of 25, 20 features', method='naive', publish='default', repeats=20)]
    """

    def promises(publish: str) -> list[Cell]:
        return [
            Cell("promise", name, method, publish, max(repeats // (SLOW.get(method, 1) * (1 + population.forest)), 2))
            for name, population in POPULATIONS.items()
            for method in METHODS
            if not (population.forest and method.startswith("strategic"))
        ]

    first, *others = GENEROSITY
    generosity = [(first, "naive"), *((population, "thresholds, all groups") for population in others)]
    cells = [
        *promises("default"),
        *(Cell("generosity", population, method, "default", repeats) for population, method in generosity),
        *(
            Cell(kind, name, "", "", 4 * repeats)
            for kind in SIMULATED
            for name, population in TABLES.items()
            if (kind, population.weights) != ("impact", "label")  # such weights make rates differ
        ),
        *(Cell("log", name, "", "", 4 * repeats) for name in LOGS),
        *promises("guarantee"),
    ]
    return [cell for cell in cells if name in ",".join(map(str, astuple(cell)))]


def simulate(cell: Cell) -> list[tuple[Any, ...]]:
    """Rows of one cell: each measure with its standard error. Seeds depend on the population only."""
    kinds: dict[str, dict[str, Any]] = {"promise": POPULATIONS, "generosity": GENEROSITY, "log": LOGS}
    population = kinds.get(cell.kind, TABLES)[cell.population]
    start, found, note = time.process_time(), [], ""
    for i in range(cell.repeats):
        rng = np.random.default_rng([i, crc32(cell.population.encode())])
        try:
            if cell.kind == "log":
                found.append(log_intervals(population, rng))
            elif cell.method:
                found.append(promise(population, cell.method, cell.publish, rng))
            else:
                found.append(interval(cell.kind, population, rng))
        except Refused as refused:
            note = str(refused)
    table = pd.DataFrame(found)
    measures = {"simulated": (float(len(table)), 0.0), "seconds": (time.process_time() - start, 0.0)}
    if len(table):
        measures |= summarise_promises(table) if cell.method else {name: mean(table[name]) for name in table}
    return [(*astuple(cell), name, f"{value:.6g}", f"{se:.6g}", note) for name, (value, se) in measures.items()]


def mean(values: pd.Series) -> tuple[float, float]:
    """Mean of the defined values and its standard error."""
    return float(values.mean()), float(values.sem())


def ratio(top: pd.Series, bottom: pd.Series) -> tuple[float, float]:
    """Ratio of sums over populations, and its standard error by linearisation."""
    if not bottom.sum():
        return np.nan, np.nan
    value = top.sum() / bottom.sum()
    return float(value), float((top - value * bottom).sem() / bottom.mean())


def summarise_promises(table: pd.DataFrame) -> dict[str, tuple[float, float]]:
    """Measures over populations, from those of :func:`~simulations.promises.promise`.

    Examples
    --------
    >>> table = pd.DataFrame({"told": [4, 0, 1, 0], "broken": [1, 0, 1, 0]})
    >>> more = {"published": 4, "above_truth": 1, "bound_excess": 0.0, "precision_excess": 0.0}
    >>> summary = summarise_promises(table.assign(**more))
    >>> [summary[name][0] for name in ("told", "broken_ratio", "broken_mean", "any_broken")]
    [1.25, 0.4, 0.3125, 0.5]
    """
    return {
        "told": mean(table["told"]),
        "told_in_all": (float(table["told"].sum()), 0.0),
        "broken_ratio": ratio(table["broken"], table["told"]),
        "broken_mean": mean(table["broken"] / table["told"].clip(lower=1)),
        "any_broken": mean((table["broken"] > 0).astype(float)),
        "published_in_all": (float(table["published"].sum()), 0.0),
        "above_truth": ratio(table["above_truth"], table["published"]),
        "bound_excess": ratio(table["bound_excess"], table["told"]),
        "precision_excess": ratio(table["precision_excess"], table["told"]),
    }


def read_results(path: str | Path) -> pd.DataFrame:
    """Results of finished cells."""
    return pd.read_csv(path, keep_default_na=False, na_values={"value": ["nan"], "se": ["nan"]})


def run(cells: Sequence[Cell], out: str | Path, workers: int) -> int:
    """Simulate all cells that the file does not hold yet, appending rows as cells finish; the number of new cells."""
    out = Path(out)
    if not out.exists():
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(",".join(COLUMNS) + "\n")
    done = set(read_results(out)[list(COLUMNS[:5])].itertuples(index=False, name=None))
    left = [cell for cell in cells if astuple(cell) not in done]
    finished = Parallel(n_jobs=workers, return_as="generator_unordered")(delayed(simulate)(cell) for cell in left)
    for rows in tqdm(finished, total=len(left), unit="cell"):
        with out.open("a", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)
    return len(left)
