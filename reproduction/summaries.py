"""Averages over splits, as tables, figures and the page show them, with the paper's numbers beside ours.

All functions take results with metrics (:func:`~reproduction.results.with_metrics`). As in the paper, accuracies are in
percent and averaged over the splits in which somebody applies. Standard errors use ``ddof=1``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import binomtest

from .data import DATASETS
from .methods import (
    ALL_METHODS,
    CHOSEN_METHODS,
    COSTS,
    CROSS_FIT_METHODS,
    DESCENT_METHODS,
    PAPER_METHODS,
    PROMISE_METHODS,
    SPLITS,
)
from .results import CELL, ResultsError

SETTING = ["dataset", "method", "cost"]
#: Precisions that differ by less are equal.
ROUNDING = 1e-9
#: Blocks of splits: constants were chosen on the first.
BLOCKS = (range(10), range(10, 30), range(30, 50))


def standard_error(values: pd.Series) -> float:
    """Standard error of a mean; NaN of fewer than two values."""
    return float(values.std(ddof=1) / np.sqrt(values.count())) if values.count() > 1 else np.nan


def paper_results() -> pd.DataFrame:
    """Results as the paper prints them (its extended table), indexed by data set, method and cost.

    Columns are paper_accuracy and paper_accuracy_se in percent, paper_applying_groups, paper_rank_r2 and
    paper_applicants_in ("all splits", "some splits" or "no split").
    """
    frame = pd.read_csv(Path(__file__).with_name("paper_results.csv"), comment="#")
    return frame.set_index(SETTING).add_prefix("paper_")


# ---------------------------------------------------------------------- which results go where


def _on_promise_splits(results: pd.DataFrame) -> pd.Series:
    """Whether a row's data set and split have a result of a cross-fitted method."""
    keys = pd.MultiIndex.from_frame(results[["dataset", "split"]])
    return pd.Series(keys.isin(keys[results["method"].isin(CROSS_FIT_METHODS)]), index=results.index)


def paper_part(results: pd.DataFrame) -> pd.DataFrame:
    """Results of the paper's own comparison: its methods on its splits.

    A data set without any of the paper's splits is shown on those that it has.
    """
    own = results[results["method"].isin(PAPER_METHODS) & ~_on_promise_splits(results)]
    complete = own.loc[own["split"] < SPLITS, "dataset"].unique()
    return own[(own["split"] < SPLITS) | ~own["dataset"].isin(complete)]


def promise_part(results: pd.DataFrame) -> pd.DataFrame:
    """Results that compare published with delivered precision: cross-fitted methods, and the paper's beside them."""
    return results[results["method"].isin(PROMISE_METHODS) & _on_promise_splits(results)]


def descent_part(results: pd.DataFrame) -> pd.DataFrame:
    """The paper's own training on its splits, under the names of its methods."""
    descents = results[results["method"].isin(DESCENT_METHODS) & (results["split"] < SPLITS)]
    return descents.assign(method=descents["method"].str.removesuffix("_descent"))


def split_part(results: pd.DataFrame) -> pd.DataFrame:
    """Our learners on the paper's data sets and costs, on any split."""
    known = results["dataset"].isin(DATASETS) & results["cost"].isin(COSTS)
    return results[known & results["method"].isin([*PAPER_METHODS, *CHOSEN_METHODS])]


def in_order(table: pd.DataFrame, by: Sequence[str], methods: Iterable[str]) -> pd.DataFrame:
    """Rows sorted by some columns: data sets and methods in the paper's order, other data sets after them by name."""
    datasets = [*DATASETS, *sorted(set(table["dataset"]) - set(DATASETS))]
    places = {"dataset": {name: i for i, name in enumerate(datasets)}, "method": {m: i for i, m in enumerate(methods)}}
    keys = [table[column].map(places[column]) if column in places else table[column] for column in by]
    return table.iloc[np.lexsort(keys[::-1])].reset_index(drop=True)


# ---------------------------------------------------------------------- the paper's tables


def summarise(results: pd.DataFrame, descents: pd.DataFrame | None = None) -> pd.DataFrame:
    """Averages over splits of :func:`paper_part`, with the paper's numbers beside them.

    Returns
    -------
    DataFrame
        dataset, cost, method; splits and splits_with_applicants; accuracy, accuracy_se (percent, over splits with
        applicants); applying_groups, n_groups; rank_r2, spearman, kendall (over splits where they are defined);
        respected (share of splits whose precisions respect the order of base rates, of splits_with_order in which at
        least two groups have one); social_cost, social_cost_se, application_rate, assumed_accuracy, selection_rate
        (percent); seconds; the columns of :func:`paper_results`; difference (ours minus the paper's accuracy); and
        averages of :func:`descent_part` in columns that begin with ``descent_``.
    """
    if results.empty:
        raise ResultsError("There are no results of the paper's methods. `python -m reproduction run` makes them.")
    summary = _averages(results).join(paper_results(), on=SETTING)
    summary["difference"] = summary["accuracy"] - summary["paper_accuracy"]
    if descents is not None and not descents.empty:
        summary = summary.join(_averages(descents).set_index(SETTING).add_prefix("descent_"), on=SETTING)
    return in_order(summary, ["dataset", "cost", "method"], ALL_METHODS)


def _averages(results: pd.DataFrame) -> pd.DataFrame:
    parts = results.groupby(["dataset", "cost", "method"], sort=False)
    rows = [{"dataset": d, "cost": c, "method": m, **_average(part)} for (d, c, m), part in parts]
    return pd.DataFrame(rows)


def _average(fits: pd.DataFrame) -> dict[str, Any]:
    accuracy = 100 * fits["induced_accuracy"]
    return {
        "splits": len(fits),
        "splits_with_applicants": int(accuracy.count()),
        "accuracy": accuracy.mean(),
        "accuracy_se": standard_error(accuracy.dropna()),
        "applying_groups": fits["applying_groups"].mean(),
        "n_groups": int(fits["n_groups"].iloc[0]),
        "rank_r2": fits["rank_r2"].mean(),
        "spearman": fits["spearman"].mean(),
        "kendall": fits["kendall"].mean(),
        "respected": fits["respected"].mean(),
        "splits_with_order": int(fits["respected"].count()),
        "social_cost": 100 * fits["social_cost"].mean(),
        "social_cost_se": standard_error(100 * fits["social_cost"]),
        "application_rate": 100 * fits["application_rate"].mean(),
        "assumed_accuracy": 100 * fits["assumed_accuracy"].mean(),
        "selection_rate": 100 * fits["selection_rate"].mean(),
        "seconds": fits["seconds"].mean(),
    }


def below_the_paper(summary: pd.DataFrame, prefix: str = "") -> pd.DataFrame:
    """Rows whose accuracy is below the paper's mean minus one of its standard errors (``prefix``: "" or "descent_").

    The paper gives no standard error where nobody applied in some splits; such rows are left out.
    """
    bar = summary["paper_accuracy"] - summary["paper_accuracy_se"]
    return summary[summary[f"{prefix}accuracy"] < bar.round(1)].reset_index(drop=True)


# ---------------------------------------------------------------------- published and delivered


def promises_frame(results: pd.DataFrame) -> pd.DataFrame:
    """One row per promise, that is per fit and group that applies.

    Returns
    -------
    DataFrame
        dataset, method, cost, split, group; published_selected, published_true_positives and published (their share);
        delivered_selected, delivered_true_positives and delivered (of test people, NaN if nobody is selected); broken.
    """
    counts = [f"{people}_{count}" for people in ("published", "test") for count in ("selected", "true_positives")]
    by_group = ["groups", *counts, "applies", "promise_kept"]
    rows = results[[*CELL, *by_group]].explode(by_group, ignore_index=True)
    made = rows[rows["applies"].astype(bool)].astype(dict.fromkeys(counts, int)).reset_index(drop=True)
    made = made.rename(columns=lambda name: name.replace("test_", "delivered_")).rename(columns={"groups": "group"})
    made["broken"] = made["promise_kept"] == "no"
    for people, place in (("published", 7), ("delivered", 10)):
        made.insert(place, people, made[f"{people}_true_positives"] / made[f"{people}_selected"])
    return made.drop(columns=["applies", "promise_kept"])


def summarise_promises(results: pd.DataFrame) -> pd.DataFrame:
    """Promises of :func:`promise_part` by data set, method and cost.

    Returns
    -------
    DataFrame
        dataset, method, cost; splits and nobody (splits in which no group applies); accuracy and accuracy_se (percent,
        over splits with applicants); social_cost and application_rate (percent); promises (groups that apply, over all
        splits); published (mean over promises), delivered (share of qualified people among all selected test people)
        and delivered_mean (over promises); kept (delivered >= cost), broken, broken_share and p_value (of so many
        broken ones or more, if one in ten is); selected and true_positives (of test people).
    """
    if results.empty:
        raise ResultsError("There are no results of cross-fitted methods.")
    made = dict(list(promises_frame(results).groupby(SETTING)))
    none = promises_frame(results.head(0))
    rows = [
        {"dataset": key[0], "method": key[1], "cost": key[2], **_outcomes(fits), **_kept(made.get(key, none))}
        for key, fits in results.groupby(SETTING, sort=False)
    ]
    return in_order(pd.DataFrame(rows), ["dataset", "method", "cost"], PROMISE_METHODS)


def _outcomes(fits: pd.DataFrame) -> dict[str, Any]:
    accuracy = 100 * fits["induced_accuracy"]
    return {
        "splits": len(fits),
        "nobody": int(accuracy.isna().sum()),
        "accuracy": accuracy.mean(),
        "accuracy_se": standard_error(accuracy.dropna()),
        "social_cost": (100 * fits["social_cost"]).mean(),
        "application_rate": (100 * fits["application_rate"]).mean(),
    }


def _kept(made: pd.DataFrame) -> dict[str, Any]:
    n, broken = len(made), int(made["broken"].sum())
    selected, true_positives = made["delivered_selected"].sum(), made["delivered_true_positives"].sum()
    return {
        "promises": n,
        "published": made["published"].mean() if n else np.nan,
        "delivered": true_positives / selected if selected else np.nan,
        "delivered_mean": made["delivered"].mean() if n else np.nan,
        "kept": int((made["delivered"] >= made["cost"] - ROUNDING).sum()),
        "broken": broken,
        "broken_share": broken / n if n else np.nan,
        "p_value": binomtest(broken, n, 0.1, alternative="greater").pvalue if n else np.nan,
        "selected": selected,
        "true_positives": true_positives,
    }


# ---------------------------------------------------------------------- later splits


def compare_splits(results: pd.DataFrame) -> pd.DataFrame:
    """Accuracies by block of splits (:func:`split_part`), of all that was run on a later block than the first.

    Returns
    -------
    DataFrame
        dataset, cost, method. Of each block, with its first split in the name (``_10``): splits, accuracy and
        accuracy_se (percent, over splits in which somebody applies), beside and beside_se (paired difference to semi,
        which has no constants); of each but the first, difference and difference_se (its accuracy minus that of the
        first block; they cannot be paired).
    """
    fits = results.assign(accuracy=100 * results["induced_accuracy"])
    key = ["dataset", "cost", "split"]
    baseline = fits[fits["method"] == "semi"].set_index(key)["accuracy"]
    fits = fits.join(baseline.rename("baseline"), on=key)
    rows = [
        {"dataset": dataset, "cost": cost, "method": method, **_by_block(part)}
        for (dataset, cost, method), part in fits.groupby(["dataset", "cost", "method"], sort=False)
        if (part["split"] >= BLOCKS[1].start).any()
    ]
    return in_order(pd.DataFrame(rows), ["dataset", "cost", "method"], ALL_METHODS) if rows else pd.DataFrame()


def _by_block(fits: pd.DataFrame) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for block in BLOCKS:
        part, at = fits[fits["split"].isin(block)], block.start
        beside = part["accuracy"] - part["baseline"]
        row |= {
            f"splits_{at}": len(part),
            f"accuracy_{at}": part["accuracy"].mean(),
            f"accuracy_se_{at}": standard_error(part["accuracy"].dropna()),
            f"beside_{at}": beside.mean(),
            f"beside_se_{at}": standard_error(beside.dropna()),
        }
        if at:
            row[f"difference_{at}"] = row[f"accuracy_{at}"] - row["accuracy_0"]
            row[f"difference_se_{at}"] = np.hypot(row[f"accuracy_se_{at}"], row["accuracy_se_0"])
    return row
