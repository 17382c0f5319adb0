"""Which results are compared, and their averages over splits.

All functions take results with metrics (:func:`~reproduction.results.with_metrics`). As in the paper, accuracies are in
percent and averaged over the splits in which somebody applies. Standard errors use ``ddof=1``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import binom, binomtest

from .data import DATASETS, TEST_SHARE
from .methods import (
    ALL_METHODS,
    CROSS_FIT_METHODS,
    DESCENT_METHODS,
    FOOTNOTE,
    LATER_SPLITS,
    METHODS,
    PAPER_METHODS,
    PROMISE_METHODS,
    PROMISE_SPLITS,
    PUSHED,
    SPLITS,
)
from .results import CELL, RARE, ResultsError

SETTING = ["dataset", "method", "cost"]
#: Precisions that differ by less are equal.
ROUNDING = 1e-9
#: Methods in the order of tables: the other readings of parity after the first.
ORDER = list(dict.fromkeys([*METHODS, FOOTNOTE, PUSHED, *ALL_METHODS]))


def standard_error(values: pd.Series) -> float:
    """Standard error of a mean; NaN of fewer than two values."""
    return float(values.std(ddof=1) / np.sqrt(values.count())) if values.count() > 1 else np.nan


def paper_results() -> pd.DataFrame:
    """Results as the paper prints them (its extended table), indexed by data set, method and cost.

    Columns are accuracy and accuracy_se in percent, applying_groups, rank_r2 and applicants_in ("all splits", "some
    splits" or "no split").
    """
    frame = pd.read_csv(Path(__file__).with_name("paper_results.csv"), comment="#")
    return frame.set_index(SETTING)


# ---------------------------------------------------------------------- which results go where


def our_part(results: pd.DataFrame, splits: Iterable[int] = range(SPLITS)) -> pd.DataFrame:
    """The paper's methods by our learner: on the paper's splits, or on others."""
    return results[results["method"].isin([*PAPER_METHODS, PUSHED]) & results["split"].isin(splits)]


def later_part(results: pd.DataFrame) -> pd.DataFrame:
    """The paper's methods by our learner, on splits that none of its constants was chosen on."""
    return our_part(results, LATER_SPLITS)


def descent_part(results: pd.DataFrame) -> pd.DataFrame:
    """The paper's own training on its splits, under the names of its methods."""
    descents = results[results["method"].isin([*DESCENT_METHODS, FOOTNOTE]) & (results["split"] < SPLITS)]
    return descents.assign(method=descents["method"].str.removesuffix("_descent"))


def promise_part(results: pd.DataFrame) -> pd.DataFrame:
    """Results that compare published with delivered precision: cross-fitted methods, and the paper's beside them.

    They are on splits of their own, or, for other data sets, on all that cross-fitted methods were run on.
    """
    keys = pd.MultiIndex.from_frame(results[["dataset", "split"]])
    on_same = keys.isin(keys[results["method"].isin(CROSS_FIT_METHODS)])
    own = results["split"].isin(PROMISE_SPLITS) | ~results["dataset"].isin(list(DATASETS))
    return results[results["method"].isin(PROMISE_METHODS) & on_same & own]


def in_order(table: pd.DataFrame, by: Sequence[str], methods: Iterable[str]) -> pd.DataFrame:
    """Rows sorted by some columns: data sets and methods in the paper's order, other data sets after them by name."""
    datasets = [*DATASETS, *sorted(set(table["dataset"]) - set(DATASETS))]
    places = {"dataset": {name: i for i, name in enumerate(datasets)}, "method": {m: i for i, m in enumerate(methods)}}
    keys = [table[column].map(places[column]) if column in places else table[column] for column in by]
    return table.iloc[np.lexsort(keys[::-1])].reset_index(drop=True)


# ---------------------------------------------------------------------- the paper's tables


def averages(fits: pd.DataFrame) -> pd.DataFrame:
    """Averages over splits.

    Returns
    -------
    DataFrame
        dataset, method, cost; splits and applicants (splits in which somebody applies); accuracy, accuracy_se (percent,
        over splits with applicants); applying_groups; rank_r2, spearman, kendall (over splits where they are defined);
        respected (splits whose precisions respect the order of base rates); social_cost, social_cost_se,
        application_rate, assumed_accuracy, selection_rate (percent); seconds.
    """
    if fits.empty:
        raise ResultsError("There are no results of the paper's methods. `python -m reproduction run` makes them.")
    rows = [dict(zip(SETTING, key, strict=True)) | _average(part) for key, part in fits.groupby(SETTING, sort=False)]
    return in_order(pd.DataFrame(rows), ["dataset", "cost", "method"], ORDER)


def _average(fits: pd.DataFrame) -> dict[str, Any]:
    accuracy = 100 * fits["induced_accuracy"].dropna()
    percent = ("social_cost", "application_rate", "assumed_accuracy", "selection_rate")
    return {
        "splits": len(fits),
        "applicants": len(accuracy),
        "accuracy": accuracy.mean(),
        "accuracy_se": standard_error(accuracy),
        "respected": fits["respected"].sum(),
        "social_cost_se": standard_error(100 * fits["social_cost"]),
        **{name: 100 * fits[name].mean() for name in percent},
        **fits[["applying_groups", "rank_r2", "spearman", "kendall", "seconds"]].mean(),
    }


#: Sources of numbers, and the parts of the results that they average.
PARTS = {"rerun": descent_part, "ours": our_part, "later": later_part}


def compare(results: pd.DataFrame) -> pd.DataFrame:
    """Averages of all sources, a row per cell: columns ``printed_...``, ``rerun_...``, ``ours_...`` and ``later_...``.

    The row of the weight by the footnote has the printed numbers of strat_parity.
    """
    parts = {name: part(results) for name, part in PARTS.items()}
    found = {name: averages(fits).set_index(SETTING) for name, fits in parts.items() if len(fits)}
    if not found:
        raise ResultsError("There are no results of the paper's methods. `python -m reproduction run` makes them.")
    columns = next(iter(found.values())).columns
    absent = pd.DataFrame(columns=columns, dtype=float)
    table = pd.concat([found.get(name, absent).add_prefix(f"{name}_") for name in PARTS], axis=1)
    table = table.set_axis(pd.MultiIndex.from_tuples(table.index, names=SETTING))
    printed = paper_results().add_prefix("printed_")
    same = printed.xs("strat_parity", level="method", drop_level=False).rename(
        {"strat_parity": FOOTNOTE}, level="method"
    )
    table = table.join(pd.concat([printed, same]))
    return in_order(table.reset_index(), ["dataset", "cost", "method"], ORDER)


def on_same_groups(fits: pd.DataFrame, method: str = "strat_order", baseline: str = "naive") -> pd.DataFrame:
    """Accuracy of a method and of naive on the groups that apply under the method, by data set, cost and split."""
    keys = ["dataset", "cost", "split"]
    both = fits[fits["method"] == method].merge(fits[fits["method"] == baseline], on=keys, suffixes=("", "_baseline"))
    for end in ("", "_baseline"):
        counts = (both[f"test_{name}{end}"] for name in ("n", "positives", "selected", "true_positives"))
        of_split = [
            [np.array(each)[list(a)].sum() for each in row] for a, *row in zip(both["applies"], *counts, strict=True)
        ]
        n, positives, selected, hits = np.array(of_split, dtype=float).reshape(-1, 4).T
        both[f"accuracy{end}"] = 100 * np.divide(
            n - positives - selected + 2 * hits, n, out=np.full(len(n), np.nan), where=n > 0
        )
    return both[[*keys, "accuracy", "accuracy_baseline"]]


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
        broken ones or more, if one in ten is); short (delivered is below the cost by more than chance explains).
    """
    if results.empty:
        raise ResultsError("There are no results of cross-fitted methods.")
    made = dict(list(promises_frame(results).groupby(SETTING)))
    none = promises_frame(results.head(0))
    rows = [
        dict(zip(SETTING, key, strict=True)) | _outcomes(fits) | _kept(made.get(key, none), fits["split"].nunique())
        for key, fits in results.groupby(SETTING, sort=False)
    ]
    return in_order(pd.DataFrame(rows), ["dataset", "method", "cost"], PROMISE_METHODS)


def _outcomes(fits: pd.DataFrame) -> dict[str, Any]:
    average = _average(fits)
    outcomes = {name: average[name] for name in ("accuracy", "accuracy_se", "social_cost", "application_rate")}
    return {"splits": len(fits), "nobody": len(fits) - average["applicants"], **outcomes}


def _kept(made: pd.DataFrame, splits: int) -> dict[str, Any]:
    n, broken = len(made), int(made["broken"].sum())
    selected, true_positives = made["delivered_selected"].sum(), made["delivered_true_positives"].sum()
    # a person is a test person in several splits, so pooled counts are divided by how often before the binomial test
    repeats = max(splits * TEST_SHARE, 1.0)
    chance = (
        binom.cdf(np.floor(true_positives / repeats), np.ceil(selected / repeats), made["cost"].iloc[0]) if n else 1.0
    )
    return {
        "promises": n,
        "published": made["published"].mean(),
        "delivered": true_positives / selected if selected else np.nan,
        "delivered_mean": made["delivered"].mean(),
        "kept": int((made["delivered"] >= made["cost"] - ROUNDING).sum()),
        "broken": broken,
        "broken_share": broken / n if n else np.nan,
        "p_value": binomtest(broken, n, 0.1, alternative="greater").pvalue if n else np.nan,
        "selected": selected,
        "true_positives": true_positives,
        "short": bool(selected and chance < RARE),
    }
