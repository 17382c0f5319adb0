"""Numbers of a sweep as the paper sums them up, with its own beside them.

Conventions, as in the paper: accuracies in percent, averaged over the splits in which somebody applies. Standard errors
use ``ddof=1``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from importlib import resources
from typing import Any

import numpy as np
import pandas as pd

from ..._errors import InputError
from ..methods import ALL_METHODS, DESCENT_METHODS
from ..people import BUNDLED
from ..sweep.plan import SPLITS
from ..sweep.results import Metrics, Result

#: What the names of methods that are trained as the paper trains them end in.
BY_DESCENT = "_descent"


#: What a row of a summary is about.
_SETTING = ["dataset", "method", "cost"]


def paper_results() -> pd.DataFrame:
    """Results as the paper prints them (its extended table), indexed by data set, method and cost.

    Returns
    -------
    DataFrame
        paper_accuracy and paper_accuracy_se in percent, paper_applying_groups, paper_rank_r2, paper_applicants_in ("all
        splits", "some splits" or "no split").

    Examples
    --------
    >>> float(paper_results().loc[("adult", "strat_x", 0.7), "paper_accuracy"])
    91.1
    """
    with resources.as_file(resources.files(__package__) / "paper_results.csv") as path:
        frame = pd.read_csv(path, comment="#")
    return frame.set_index(["dataset", "method", "cost"]).add_prefix("paper_")


def results_frame(results: Iterable[Result]) -> pd.DataFrame:
    """One row per fit: the cell, test metrics, the order of precisions on training data, and seconds."""
    return pd.DataFrame([_fit_row(result) for result in results])


def _fit_row(result: Result) -> dict[str, Any]:
    order = {name: result.train_metrics[name] for name in ("rank_r2", "spearman", "kendall", "respected")}
    return {
        "dataset": result.cell.dataset,
        "method": result.cell.method,
        "cost": result.cell.cost,
        "split": result.cell.split,
        "n_groups": len(result.groups),
        **_none_as_nan(result.test_metrics),
        **_none_as_nan(order),
        **_none_as_nan({"train_induced_accuracy": result.train_metrics["induced_accuracy"]}),
        "selection_rate": sum(result.test_counts["selected"]) / sum(result.test_counts["n"]),
        **_training_rates(result),
        "seconds": result.seconds,
    }


def _training_rates(result: Result) -> dict[str, float]:
    """Share of training people that is selected, and how far groups' shares are apart, as a part of it."""
    counts = result.train_counts
    rates = [selected / n for selected, n in zip(counts["selected"], counts["n"], strict=True) if n]
    share = sum(counts["selected"]) / sum(counts["n"])
    return {"train_rate": share, "rates_apart": (max(rates) - min(rates)) / share if share else np.nan}


def _none_as_nan(metrics: Metrics) -> dict[str, float]:
    return {name: np.nan if value is None else value for name, value in metrics.items()}


def standard_error(values: pd.Series) -> float:
    """Standard error of a mean; NaN of fewer than two values."""
    return float(values.std(ddof=1) / np.sqrt(values.count())) if values.count() > 1 else np.nan


def descent_part(results: Iterable[Result]) -> list[Result]:
    """The paper's own method, re-run: results on its splits, under the names of its methods, each once.

    Examples
    --------
    >>> descent_part([])
    []
    """
    found = {
        result.cell: replace(result, cell=replace(result.cell, method=result.cell.method.removesuffix(BY_DESCENT)))
        for result in results
        if result.cell.method in DESCENT_METHODS and result.cell.split < SPLITS
    }
    return list(found.values())


def summarise(results: Iterable[Result], descents: Iterable[Result] = ()) -> pd.DataFrame:
    """Averages over splits, with the paper's numbers beside them; one row per data set, cost and method.

    Parameters
    ----------
    results : iterable of Result
        Of our learners.
    descents : iterable of Result
        Of the paper's own training, as :func:`descent_part` gives them. Their averages stand beside ours, in columns
        whose names begin with ``descent_``, and are missing where it was not run again.

    Returns
    -------
    DataFrame
        dataset, cost, method; splits and splits_with_applicants; accuracy, accuracy_se (percent, over splits with
        applicants; NaN if there are none); applying_groups, n_groups; rank_r2, spearman, kendall (over splits where
        they are defined); respected (share of splits whose precisions respect the order of base rates, of
        splits_with_order in which at least two groups have one); social_cost, social_cost_se, application_rate,
        assumed_accuracy, selection_rate (of everybody, percent); seconds; the columns of :func:`paper_results`;
        difference (ours minus the paper's accuracy).
    """
    averages = _averages_of(results)
    if averages.empty:
        raise InputError("The store is empty: there is nothing to put into a table.", key="no_results")
    summary = averages.join(paper_results(), on=_SETTING)
    summary["difference"] = summary["accuracy"] - summary["paper_accuracy"]
    again = _averages_of(descents)
    if not again.empty:
        summary = summary.join(again.set_index(_SETTING).add_prefix("descent_"), on=_SETTING)
    places = order_of_datasets(summary["dataset"])
    methods = {name: place for place, name in enumerate(ALL_METHODS)}
    order = np.lexsort((summary["method"].map(methods), summary["cost"], summary["dataset"].map(places)))
    return summary.iloc[order].reset_index(drop=True)


def _averages_of(results: Iterable[Result]) -> pd.DataFrame:
    frame = results_frame(results)
    if frame.empty:
        return frame
    return pd.DataFrame(
        [
            {"dataset": dataset, "cost": cost, "method": method, **_averages(part)}
            for (dataset, cost, method), part in frame.groupby(["dataset", "cost", "method"], sort=False)
        ]
    )


def order_of_datasets(names: Iterable[str]) -> dict[str, int]:
    """Place of each data set in a table: the paper's first, others by name.

    Examples
    --------
    >>> order_of_datasets(["mine"])["mine"]
    3
    """
    return {name: place for place, name in enumerate([*BUNDLED, *sorted(set(names) - set(BUNDLED))])}


def _averages(fits: pd.DataFrame) -> dict[str, Any]:
    """What the splits of one data set, cost and method come to."""
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


def below_the_paper(summary: pd.DataFrame, whose: str = "") -> pd.DataFrame:
    """Cells whose accuracy is below the paper's mean minus one of its standard errors.

    With ``whose="descent_"`` it is that of the paper's own method, re-run.
    Cells without a standard error in the paper (nobody applied in some splits) have no such bar; cells in which nobody
    applies here are not below it, but :func:`without_applicants`.
    """
    bar = summary["paper_accuracy"] - summary["paper_accuracy_se"]
    return summary[summary[f"{whose}accuracy"] < bar.round(1)].reset_index(drop=True)


def without_applicants(summary: pd.DataFrame) -> pd.DataFrame:
    """Cells in which nobody applies here, though the paper has an accuracy with a standard error."""
    return summary[summary["accuracy"].isna() & summary["paper_accuracy_se"].notna()].reset_index(drop=True)
