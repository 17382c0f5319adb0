"""Results as one frame: read, written, and with every metric computed once.

A result is one fit: a data set, a method, a cost and a split. It holds counts per group, from which all metrics follow.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.stats import binom

from selfselect import GroupCounts
from selfselect.counting import ratio
from selfselect.metrics import rank_agreement

#: What identifies a result.
CELL = ["dataset", "method", "cost", "split"]
COUNTS = ("n", "positives", "selected", "true_positives")
#: Whose counts are kept: training people, test people, and those whom the published precision comes from.
PEOPLE = ("train", "test", "published")
COUNT_COLUMNS = [f"{people}_{count}" for people in PEOPLE for count in COUNTS]
#: Columns with one value per group.
PER_GROUP = ["groups", *COUNT_COLUMNS, "applies"]
#: Columns of a file of results, in order. Values per group and the configuration are JSON.
COLUMNS = [*CELL, "seed", "configuration", "package_version", "data_hash", *PER_GROUP, "seconds"]
#: A promise counts as broken (or kept) if the test people's precision would be this rare were it kept (or broken).
RARE = 0.05


class ResultsError(ValueError):
    """Results cannot be read, or are not there."""


def load_results(*paths: str | Path) -> pd.DataFrame:
    """Results of folders (one JSON file per fit) and of CSV files (``.csv`` or ``.csv.gz``), each fit once.

    Returns
    -------
    DataFrame
        One row per fit with the columns :data:`COLUMNS`, sorted by data set, method, cost and split. Values per group
        are tuples, the configuration is a dict. Where several paths hold the same fit, the first counts.
    """
    frames = [_load_folder(Path(path)) if os.path.isdir(path) else _load_csv(Path(path)) for path in paths]
    frame = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=COLUMNS)
    return frame.drop_duplicates(CELL).sort_values(CELL, kind="stable", ignore_index=True)


def write_results_csv(frame: pd.DataFrame, path: str | Path) -> None:
    """Write results as CSV, compressed if the name ends in ``.gz``; equal results make equal files.

    Published counts are left empty where they are those of the training people.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in frame.sort_values(CELL)[COLUMNS].to_dict("records"):
        same = all(row[f"published_{count}"] == row[f"train_{count}"] for count in COUNTS)
        hidden = {f"published_{count}": "" for count in COUNTS} if same else {}
        as_json = {name: _json(row[name]) for name in ["configuration", *PER_GROUP]}
        writer.writerow({**row, **as_json, **hidden, "seconds": f"{row['seconds']:.2f}"}.values())
    content = text.getvalue().encode()
    write_atomically(Path(path), gzip.compress(content, mtime=0) if str(path).endswith(".gz") else content)


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file under another name and rename it into place, so that it is whole or not there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def result_path(folder: str | Path, dataset: str, method: str, cost: float, split: int) -> Path:
    """File of one result.

    Examples
    --------
    >>> str(result_path("results", "adult", "naive", 0.7, 3))
    'results/adult/naive/cost_0.7_split_3.json'
    """
    return Path(folder) / dataset / method / f"cost_{cost}_split_{split}.json"


def write_result(folder: str | Path, row: Mapping[str, Any]) -> None:
    """Write one result as JSON."""
    content = json.dumps({name: row[name] for name in COLUMNS}, indent=0)
    write_atomically(result_path(folder, *(row[name] for name in CELL)), content.encode())


def read_result(path: Path) -> dict[str, Any] | None:
    """One result, or None if the file is not there or cannot be read."""
    try:
        row = json.loads(path.read_bytes())
        return {name: tuple(row[name]) if name in PER_GROUP else row[name] for name in COLUMNS}
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _load_folder(folder: Path) -> pd.DataFrame:
    rows = {path: read_result(path) for path in sorted(folder.glob("*/*/*.json"))}
    damaged = [path for path, row in rows.items() if row is None]
    if damaged:
        raise ResultsError(f"{damaged[0]} cannot be read; `python -m reproduction run` makes it again.")
    return pd.DataFrame(list(rows.values()), columns=COLUMNS)


def _load_csv(path: Path) -> pd.DataFrame:
    try:
        frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    except (OSError, ValueError) as error:
        raise ResultsError(f"Cannot read results from {path}: {error}") from error
    if list(frame.columns) != COLUMNS:
        raise ResultsError(f"{path} holds no results: its columns are not {', '.join(COLUMNS)}.")
    on_train = frame["published_n"] == ""
    for count in COUNTS:
        frame.loc[on_train, f"published_{count}"] = frame.loc[on_train, f"train_{count}"]
    for name in PER_GROUP:
        frame[name] = [tuple(json.loads(text)) for text in frame[name]]
    frame["configuration"] = [json.loads(text) for text in frame["configuration"]]
    return frame.astype({"cost": float, "split": int, "seed": int, "seconds": float})


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


# ---------------------------------------------------------------------- metrics


def counts_of(results: Mapping[str, Any] | pd.DataFrame, people: str) -> GroupCounts:
    """Counts per group of one result, or as matrices of several results of one data set.

    ``people`` is "train", "test" or "published".
    """
    return GroupCounts(*(np.array(list(results[f"{people}_{count}"])) for count in COUNTS))


#: Columns that :func:`with_metrics` adds.
METRICS = [
    *("assumed_accuracy", "induced_accuracy", "applying_groups", "application_rate", "social_cost", "selection_rate"),
    *("train_induced_accuracy", "train_selection_rate", "train_rate_spread"),
    *("rank_r2", "spearman", "kendall", "respected", "promise_kept"),
]


def with_metrics(frame: pd.DataFrame) -> pd.DataFrame:
    """Results with every metric that follows from their counts. Undefined is NaN.

    Returns
    -------
    DataFrame
        The columns of ``frame``, and:

        - of test people, given who applies: ``assumed_accuracy``, ``induced_accuracy``, ``applying_groups``,
          ``application_rate``, ``social_cost``, ``selection_rate`` (of everybody);
        - of training people: ``train_induced_accuracy``, ``train_selection_rate``, ``train_rate_spread`` (largest minus
          smallest selection rate of a group, divided by ``train_selection_rate``);
        - of what is published: ``rank_r2``, ``spearman``, ``kendall``, ``respected`` (1.0 or 0.0; a higher base rate
          never has a lower precision);
        - ``promise_kept`` (per group "yes", "no", "undecided", or "" if it does not apply).
    """
    parts = [_metrics(part) for _, part in frame.groupby("dataset")]
    return frame.join(pd.concat(parts) if parts else pd.DataFrame(columns=METRICS))


def _metrics(results: pd.DataFrame) -> pd.DataFrame:
    """Metrics of results of one data set."""
    train, test = (counts_of(results, people) for people in PEOPLE[:2])
    applies = np.array(list(results["applies"]))
    cost = results["cost"].to_numpy()[:, None]
    train_rate = ratio(train.selected.sum(axis=1), train.n.sum(axis=1))
    orders = [_order(*key) for key in zip(*(results[f"published_{count}"] for count in COUNTS), strict=True)]
    metrics = {
        "assumed_accuracy": ratio(test.correct.sum(axis=1), test.n.sum(axis=1)),
        "induced_accuracy": ratio((applies * test.correct).sum(axis=1), (applies * test.n).sum(axis=1)),
        "applying_groups": applies.sum(axis=1),
        "application_rate": ratio((applies * test.n).sum(axis=1), test.n.sum(axis=1)),
        "social_cost": ratio((~applies * test.positives).sum(axis=1), test.positives.sum(axis=1)),
        "selection_rate": ratio(test.selected.sum(axis=1), test.n.sum(axis=1)),
        "train_induced_accuracy": ratio((applies * train.correct).sum(axis=1), (applies * train.n).sum(axis=1)),
        "train_selection_rate": train_rate,
        "train_rate_spread": ratio(np.ptp(train.selection_rate, axis=1), train_rate),
        "promise_kept": list(map(tuple, promise_kept(applies, cost, test).tolist())),
    }
    return pd.DataFrame(metrics | pd.DataFrame(orders).to_dict("list"), index=results.index)[METRICS]


@cache  # fits at several costs often publish the same
def _order(*counts: tuple[int, ...]) -> dict[str, Any]:
    """How published precisions follow base rates."""
    published = GroupCounts(*map(np.array, counts))
    known = published.n > 0  # a group without people has no base rate
    order = rank_agreement(published.base_rate[known], published.precision[known])
    return {
        "rank_r2": order.r2,
        "spearman": order.spearman,
        "kendall": order.kendall,
        "respected": float(order.respected) if order.n_groups > 1 else np.nan,  # one precision has no order
    }


def promise_kept(applies: ArrayLike, cost: ArrayLike, new: GroupCounts) -> np.ndarray:
    """Whether new people of each group that applies got a precision at least as high as the cost.

    "no" if at a precision equal to the cost so few true positives would come in less than 5% of samples, "yes" if so
    many would, otherwise "undecided"; empty for groups that do not apply.

    Examples
    --------
    >>> new = GroupCounts(*(np.array(column) for column in ([99] * 3, [50] * 3, [40] * 3, [38, 20, 29])))
    >>> promise_kept([True, True, True], 0.7, new).tolist()
    ['yes', 'no', 'undecided']
    """
    at_most = binom.cdf(new.true_positives, new.selected, cost)
    at_least = binom.sf(new.true_positives - 1, new.selected, cost)
    return np.where(applies, np.where(at_most < RARE, "no", np.where(at_least < RARE, "yes", "undecided")), "")
