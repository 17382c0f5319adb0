"""Experiments on parity and order: what each learner is told to do, and what becomes of the order of precisions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..methods import (
    ALL_METHODS,
    EXPERIMENT_METHODS,
    EXPERIMENTS,
    ONE_START,
    RATE_METHODS,
    RATE_TOLERANCE,
    UNPUSHED,
    WEIGHT_METHODS,
)
from ..people import BUNDLED
from ..sweep.results import Result
from .summary import order_of_datasets, paper_results, results_frame

#: Rates that differ by less are equal.
ROUNDING = 1e-9


def experiment_table(results: Sequence[Result], methods: Sequence[str], costs: Sequence[float]) -> pd.DataFrame:
    """What some methods come to, on training people, over the splits on which all that were run on a data set were.

    Data sets on which none of them was run but the paper's are left out.

    Returns
    -------
    DataFrame
        One row per data set, cost and method: splits, accuracy (test, percent), applying_groups, nobody (splits in
        which no group applies), rank_r2, spearman, respected (splits), splits_with_order, rate (selected, percent),
        least and most (lowest and highest selection rate of a group, percent, averages), apart (their difference as a
        share of the overall rate, average), met (splits in which rates are within the tolerance that training asked
        for, NaN where there is none), turned (splits in which somebody applies and Spearman's coefficient is negative),
        applying (how often each group applies, by name). Undefined is NaN.
    """
    chosen = {
        r.cell: r for r in results if r.cell.method in methods and r.cell.cost in costs and r.cell.dataset in BUNDLED
    }
    rows = []
    for dataset in order_of_datasets(()):
        for cost in costs:
            ran = [m for m in methods if any(c.key[:3] == (dataset, m, cost) for c in chosen)]
            if not set(ran) & set(EXPERIMENT_METHODS):
                continue
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
        "apart": float(np.mean([(r.max() - r.min()) / s if s else np.nan for r, s in zip(rates, share, strict=True)])),
        "met": sum(within) if (within := [m for m in map(is_met, fits) if m is not None]) else np.nan,
        "turned": int(((frame["applying_groups"] > 0) & (frame["spearman"] < 0)).sum()),
        "applying": ", ".join(f"{name} {n}" for name, n in zip(fits[0].groups, applies, strict=True) if n) or "nobody",
    }


def is_met(fit: Result) -> bool | None:
    """Whether rates of training people are within the tolerance that our learner was asked for; None if it was not."""
    settings, counts = fit.configuration, fit.published.counts
    if not settings.get("parity") or settings.get("solver") == "gradient_descent":
        return None
    relative = bool((settings.get("ties") or {}).get("relative"))
    asked = [(counts.selected, counts.n, settings["parity_tolerance"])]
    if settings.get("equal_tpr"):
        asked.append((counts.true_positives, counts.positives, settings["tpr_tolerance"]))
    met = True
    for accepted, people, tolerance in asked:
        some = people > 0
        apart = float(np.ptp(accepted[some] / people[some]))
        overall = accepted.sum() / people.sum() if relative else 1.0
        met = met and bool(apart <= tolerance * overall + ROUNDING)
    return met


HEADS = (
    "data set", "cost", "method", "splits", "accuracy", "groups that apply", "who, in how many splits", "rank r²",
    "Spearman", "order respected", "selected, %", "of a group, from, %", "to, %", "within the tolerance",
)  # fmt: skip


def experiment_lines(table: pd.DataFrame) -> str:
    """A table of :func:`experiment_table` in Markdown."""
    lines = ["| " + " | ".join(HEADS) + " |", "|---|--:|---|--:|--:|--:|---|--:|--:|--:|--:|--:|--:|--:|"]
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
            "not asked for" if np.isnan(row["met"]) else f"{row['met']:.0f} of {row['splits']}",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _number(value: float, form: str) -> str:
    return "-" if np.isnan(value) else format(value, form)


def parity_and_order(results: Sequence[Result]) -> str:
    """The section of the page: every experiment that was run, what it says, and which command runs it."""
    parts = ["## Parity and order"]
    for name, experiment in EXPERIMENTS.items():
        table = experiment_table(results, experiment.methods, experiment.costs)
        parts.append(f"**{experiment.title}** {experiment.question} Made by `make {experiment.target}`.")
        parts += ["Not run yet."] if table.empty else [_TOLD[name](table), experiment_lines(table)]
    return "\n\n".join(parts)


# ---------------------------------------------------------------------- what they say


def told_by_weights(table: pd.DataFrame) -> str:
    """Whether the order comes with the weight, by sign."""
    said = []
    for dataset, part in table.groupby("dataset", sort=False):
        rows = part.set_index("method")
        steps = ", ".join(
            f"{_number(rows.loc[name, 'spearman'], '+.2f')} (r² {_number(rows.loc[name, 'rank_r2'], '.2f')})"
            for name in WEIGHT_METHODS
            if name in rows.index
        )
        came = int((part["splits"] - part["nobody"]).sum())
        said.append(
            f"{BUNDLED[str(dataset)]}: Spearman's coefficient is {steps} from the smallest weight to the largest; of "
            f"{came} fits in which somebody applies it is negative in {int(part['turned'].sum())}; rates of groups "
            f"differ by {part['apart'].iloc[0]:.0%} of the overall one at the smallest weight and by "
            f"{part['apart'].iloc[-1]:.0%} at the largest, where {part['rate'].iloc[-1]:.1f}% of people are selected."
        )
    return " ".join(said)


def told_by_starts(table: pd.DataFrame) -> str:
    """What becomes of applications and order where a start is chosen, and where there is only one."""
    said = []
    for dataset, part in table.groupby("dataset", sort=False):
        ways = []
        for words, method in (("the best of several starts", "strat_parity_descent"), ("one start", ONE_START)):
            rows = part[part["method"] == method]
            if rows.empty:
                continue
            fits = int(rows["splits"].sum())
            columns = ("applying_groups", "rank_r2", "spearman", "rate")
            mean = {name: np.average(rows[name], weights=rows["splits"]) for name in columns}
            ways.append(
                f"from {words}, somebody applies in {fits - int(rows['nobody'].sum())} of {fits} fits, "
                f"{mean['applying_groups']:.2f} groups apply, {mean['rate']:.1f}% of people are selected, rank r² is "
                f"{_number(mean['rank_r2'], '.2f')}, Spearman's coefficient {_number(mean['spearman'], '+.2f')}"
            )
        printed = paper_results().reset_index()
        printed = printed[(printed["dataset"] == dataset) & (printed["method"] == "strat_parity")]
        printed = printed[printed["cost"].isin(part["cost"])]
        said.append(
            f"{BUNDLED[str(dataset)]}, on average over costs: {'; '.join(ways)}. Printed are "
            f"{printed['paper_applying_groups'].mean():.2f} groups and a rank r² of "
            f"{printed['paper_rank_r2'].mean():.2f}."
        )
    return " ".join(said)


def told_by_push(table: pd.DataFrame) -> str:
    """What becomes of the order under parity, with the others pushed out and without."""
    said = []
    for dataset, part in table.groupby("dataset", sort=False):
        rows = part.set_index("method")
        if {"strat_parity", UNPUSHED} <= set(rows.index):
            pushed, free = rows.loc["strat_parity"], rows.loc[UNPUSHED]
            said.append(
                f"{BUNDLED[str(dataset)]}: pushed out, rank r² is {_number(pushed['rank_r2'], '.3f')} (Spearman "
                f"{_number(pushed['spearman'], '+.2f')}) at an accuracy of {_number(pushed['accuracy'], '.1f')}; not "
                f"pushed out, {_number(free['rank_r2'], '.3f')} ({_number(free['spearman'], '+.2f')}) at "
                f"{_number(free['accuracy'], '.1f')}, with {free['applying_groups']:.1f} groups applying instead of "
                f"{pushed['applying_groups']:.1f}. Rates are {pushed['apart']:.0%} and {free['apart']:.0%} of the "
                "overall one apart."
            )
    end = (
        "What becomes of the claim that parity gives the order depends on what the learner is told to do besides: both "
        "are parity within the same tolerance."
    )
    return " ".join([*said, end]) if said else "Only one of the two was run."


def told_by_rates(table: pd.DataFrame) -> str:
    """How much of the order equal rates alone give, by kind of tolerance."""
    said = []
    for dataset, part in table[table["method"].isin(RATE_METHODS)].groupby("dataset", sort=False):
        for kind in ("absolute", "relative"):
            rows = part[part["method"].str.contains(kind)]
            if rows.empty:
                continue
            said.append(
                f"{BUNDLED[str(dataset)]}, {kind}: rates are within the tolerance in {rows['met'].sum():.0f} of "
                f"{rows['splits'].sum()} fits, {rows['rate'].min():.1f} to {rows['rate'].max():.1f}% of people "
                f"selected, rates up to {rows['apart'].max():.0%} of the overall one apart; Spearman's coefficient "
                f"from {_number(rows['spearman'].min(), '+.2f')} to {_number(rows['spearman'].max(), '+.2f')}, the "
                f"order respected in {rows['respected'].sum()} of {rows['splits_with_order'].sum()}."
            )
    for row in table[table["method"] == "strat_order"].to_dict("records"):
        said.append(
            f"{BUNDLED[row['dataset']]}, strat_order: within {RATE_TOLERANCE:g} of the overall rate in "
            f"{row['met']:.0f} of {row['splits']} fits, {row['rate']:.1f}% of people selected, Spearman's coefficient "
            f"{_number(row['spearman'], '+.2f')}."
        )
    return " ".join(said)


#: What the table of each experiment says, in words.
_TOLD: dict[str, Callable[[pd.DataFrame], str]] = {
    "weights": told_by_weights,
    "starts": told_by_starts,
    "push": told_by_push,
    "rates": told_by_rates,
}
