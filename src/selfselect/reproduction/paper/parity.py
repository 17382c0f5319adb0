"""Experiments on parity and order: what each learner is told to do, and what becomes of the order of precisions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..methods import ALL_METHODS, EXPERIMENTS
from ..people import BUNDLED
from ..sweep.results import Result
from .summary import order_of_datasets, results_frame


def experiment_table(results: Sequence[Result], methods: Sequence[str], costs: Sequence[float]) -> pd.DataFrame:
    """What some methods come to, on training people, over the splits on which all that were run on a data set were.

    Returns
    -------
    DataFrame
        One row per data set, cost and method: splits, accuracy (test, percent), applying_groups, nobody (splits in
        which no group applies), rank_r2, spearman, respected (splits), splits_with_order, rate (selected, percent),
        least and most (lowest and highest selection rate of a group, percent, averages), spread, applying (how often
        each group applies, by name). Undefined is NaN.
    """
    chosen = {
        r.cell: r for r in results if r.cell.method in methods and r.cell.cost in costs and r.cell.dataset in BUNDLED
    }
    rows = []
    for dataset in order_of_datasets(()):
        for cost in costs:
            ran = [m for m in methods if any(c.key[:3] == (dataset, m, cost) for c in chosen)]
            by_method = [{c.split for c in chosen if c.key[:3] == (dataset, m, cost)} for m in ran]
            common = set.intersection(*by_method) if by_method else set()
            for method in ran:
                fits = [r for c, r in chosen.items() if c.key[:3] == (dataset, method, cost) and c.split in common]
                if fits:
                    rows.append({"dataset": dataset, "cost": cost, "method": method, **_averages(fits)})
    return pd.DataFrame(rows)


def _averages(fits: Sequence[Result]) -> dict[str, Any]:
    frame = results_frame(fits)
    rates = np.array([np.divide(f.train_counts["selected"], f.train_counts["n"]) for f in fits])
    share = [sum(f.train_counts["selected"]) / sum(f.train_counts["n"]) for f in fits]
    applies = np.array([f.applies for f in fits]).sum(axis=0)
    return {
        "splits": len(fits),
        "accuracy": 100 * frame["induced_accuracy"].mean(),
        "applying_groups": frame["applying_groups"].mean(),
        "nobody": int((frame["applying_groups"] == 0).sum()),
        "rank_r2": frame["rank_r2"].mean(),
        "spearman": frame["spearman"].mean(),
        "respected": int(frame["respected"].sum()),
        "splits_with_order": int(frame["respected"].count()),
        "rate": 100 * float(np.mean(share)),
        "least": 100 * rates.min(axis=1).mean(),
        "most": 100 * rates.max(axis=1).mean(),
        "applying": ", ".join(f"{name} {n}" for name, n in zip(fits[0].groups, applies, strict=True) if n) or "nobody",
    }


HEADS = (
    "data set", "cost", "method", "splits", "accuracy", "groups that apply", "who, in how many splits", "rank r²",
    "Spearman", "order respected", "selected, %", "of a group, from, %", "to, %",
)  # fmt: skip


def experiment_lines(table: pd.DataFrame) -> str:
    """A table of :func:`experiment_table` in Markdown."""
    lines = ["| " + " | ".join(HEADS) + " |", "|---|--:|---|--:|--:|--:|---|--:|--:|--:|--:|--:|--:|"]
    for row in table.to_dict("records"):
        cells = [
            BUNDLED[row["dataset"]],
            f"{row['cost']:g}",
            ALL_METHODS[row["method"]].title,
            str(row["splits"]),
            _number(row["accuracy"], ".1f"),
            _number(row["applying_groups"], ".1f"),
            row["applying"],
            _number(row["rank_r2"], ".2f"),
            _number(row["spearman"], "+.2f"),
            f"{row['respected']} of {row['splits_with_order']}",
            *(_number(row[name], ".1f") for name in ("rate", "least", "most")),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _number(value: float, form: str) -> str:
    return "-" if np.isnan(value) else format(value, form)


def parity_and_order(results: Sequence[Result]) -> str:
    """The section of the page: every experiment that was run, and which command runs it."""
    parts = ["## Parity and order"]
    for experiment in EXPERIMENTS.values():
        table = experiment_table(results, experiment.methods, experiment.costs)
        shown = "Not run yet." if table.empty else experiment_lines(table)
        parts += [f"**{experiment.title}** {experiment.question} Made by `make {experiment.target}`.", shown]
    return "\n\n".join(parts)
