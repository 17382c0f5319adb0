"""Tables: with all digits as CSV, and rounded for the page and as LaTeX."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from selfselect.constraints import RateParity

from . import methods, summaries
from .claims import Evidence
from .data import DATASETS
from .methods import ALL_METHODS, FOOTNOTE, METHODS, ONE_START, PUSHED, RATE_METHODS, WEIGHT_METHODS, constraints_of
from .results import RARE, counts_of
from .summaries import ORDER, SETTING, paper_results, standard_error

#: Names of data sets in tables.
SHORT = {"adult": "Adult", "bank_30": "Bank 30%", "bank_original": "Bank"}
#: Data sets and costs of the paper's main table.
MAIN = [("adult", 0.7), ("adult", 0.8), ("bank_30", 0.7), ("bank_30", 0.8)]
#: Sources of numbers, by the prefix of their columns.
SOURCES = {"printed": "printed", "rerun": "re-run", "ours": "ours", "later": "ours, 30 to 49"}
#: Costs from which on the precision of strat_x and strat_no_group is compared.
HIGH_COST = 0.75

# ---------------------------------------------------------------------- formatting


def number(value: float, form: str = ".1f") -> str:
    """Format a number; undefined values get a dash, and zeros have no sign.

    Examples
    --------
    >>> number(-0.04, "+.1f"), number(float("nan"))
    ('0.0', '-')
    """
    if pd.isna(value):
        return "-"
    text = format(value, form)
    return text.lstrip("+-") if set(text) <= set("+-0.%") else text


def with_error(mean: float, se: float, form: str = ".1f") -> str:
    """Format a mean with its standard error, if there is one."""
    return number(mean, form) + ("" if pd.isna(se) or pd.isna(mean) else f" ±{number(se, form.replace('+', ''))}")


def numbers(values: Iterable[float], form: str = ".1f") -> list[str]:
    """Format several numbers."""
    return [number(value, form) for value in values]


def markdown_table(table: pd.DataFrame, text_columns: int = 1) -> str:
    """Frame as a Markdown table; the first columns are texts, aligned left."""
    lines = [list(table.columns), ["---"] * text_columns + ["--:"] * (len(table.columns) - text_columns)]
    return "\n".join("|" + "|".join(map(str, line)) + "|" for line in [*lines, *table.to_numpy().tolist()])


def labels(frame: pd.DataFrame, *columns: str) -> pd.DataFrame:
    """Columns that say what rows are about, in words: ``dataset``, ``method`` and ``cost``."""
    words = {
        "dataset": ("data set", lambda name: SHORT.get(name, name)),
        "method": ("method", lambda name: ALL_METHODS[name].title.replace(" (descent)", "")),
        "cost": ("cost", "{:g}".format),
    }
    return pd.DataFrame({words[name][0]: frame[name].map(words[name][1]).tolist() for name in columns})


# ---------------------------------------------------------------------- the paper's tables


def main_part(compared: pd.DataFrame) -> pd.DataFrame:
    """Rows of :func:`~reproduction.summaries.compare` that the paper's main table shows."""
    return compared[[cell in MAIN for cell in zip(compared["dataset"], compared["cost"], strict=True)]]


def results_table(compared: pd.DataFrame) -> pd.DataFrame:
    """Numbers of all sources for each data set, cost and method.

    Accuracy is in parentheses where nobody applied in some splits, and a dash where nobody applied in any.
    """
    table = labels(compared, "dataset", "cost", "method")
    for prefix, source in SOURCES.items():
        accuracy, se = (compared[f"{prefix}_{name}"] for name in ("accuracy", "accuracy_se"))
        if prefix == "printed":
            partly = compared["printed_applicants_in"] == "some splits"
        else:
            partly = compared[f"{prefix}_applicants"] < compared[f"{prefix}_splits"]
        cells = zip(accuracy, se, partly, strict=True)
        table[f"accuracy: {source}"] = [
            f"({number(mean)})" if some and not pd.isna(mean) else with_error(mean, error)
            for mean, error, some in cells
        ]
    for title, name, form in (
        ("groups", "applying_groups", ".1f"),
        ("r²", "rank_r2", ".2f"),
        ("Spearman", "spearman", "+.2f"),
        ("social cost", "social_cost", ".0f"),
    ):
        for prefix in [prefix for prefix in ("printed", "rerun", "ours") if f"{prefix}_{name}" in compared]:
            table[f"{title}: {SOURCES[prefix]}"] = numbers(compared[f"{prefix}_{name}"], form)
    return table


def runs(results: pd.DataFrame) -> pd.DataFrame:
    """Number of splits of the paper's own training by data set, method and cost."""
    fits = summaries.descent_part(results).groupby(SETTING)["split"].nunique().rename("splits").reset_index()
    return summaries.in_order(fits, SETTING, ORDER)


def runs_table(run: pd.DataFrame) -> pd.DataFrame:
    """Costs, and splits at each, of the paper's own training."""
    cells = {
        key: "; ".join(
            f"{costs} cost{'s' if costs > 1 else ''}, {splits} splits"
            for splits, costs in part.value_counts().sort_index(ascending=False).items()
        )
        for key, part in run.groupby(["method", "dataset"])["splits"]
    }
    names = [*METHODS, FOOTNOTE]
    table = pd.DataFrame({"method": [ALL_METHODS[name].title.replace(" (descent)", "") for name in names]})
    return table.assign(**{SHORT[d]: [cells.get((name, d), "0") for name in names] for d in DATASETS})


def agreement(compared: pd.DataFrame, prefix: str) -> dict[str, int]:
    """Cells whose accuracy is near the printed one, above or below it: by two standard errors of the difference."""
    known = compared[compared["method"].isin(METHODS)].dropna(subset=["printed_accuracy_se", f"{prefix}_accuracy_se"])
    gap = known[f"{prefix}_accuracy"] - known["printed_accuracy"]
    wide = 2 * np.hypot(known[f"{prefix}_accuracy_se"], known["printed_accuracy_se"])
    shifted = (known["method"] == "naive") & known["dataset"].isin(["bank_30", "bank_original"]) & (gap > wide)
    return {
        "shifted": sum(shifted),
        "cells": len(gap),
        "near": sum(gap.abs() <= wide),
        "below": sum(gap < -wide),
        "above": sum(gap > wide),
    }


def claims_table(judged: Mapping[str, Mapping[str, Mapping[str, Evidence]]]) -> pd.DataFrame:
    """Every number behind every verdict."""
    rows = [
        {"claim": rule, "dataset": dataset, "source": source, "verdict": evidence.verdict, "shown": evidence.text}
        | {"number": name, "value": value}
        for rule, by_dataset in judged.items()
        for dataset, by_source in by_dataset.items()
        for source, evidence in by_source.items()
        for name, value in (evidence.numbers or {"": np.nan}).items()
    ]
    return pd.DataFrame(rows)


# ---------------------------------------------------------------------- naive on the bank data


def naive_on_bank(descents: pd.DataFrame) -> pd.DataFrame:
    """Accuracy of the naive learner on the bank data: printed, re-run, and with each group's from the next one.

    Groups count with their own training sizes. The last group takes the training accuracy of the first, which is the
    next column of such a table.
    """
    fits = descents[descents["dataset"].isin(["bank_30", "bank_original"]) & (descents["method"] == "naive")]
    if fits.empty:
        return pd.DataFrame()
    test, train = counts_of(fits, "test"), counts_of(fits, "train")
    people = train.n * np.array(fits["applies"].tolist(), dtype=int)
    following = np.column_stack([test.accuracy[:, 1:], train.accuracy[:, :1]])
    shifted = 100 * (people * following).sum(axis=1) / np.where(people.any(axis=1), people.sum(axis=1), np.nan)
    fits = fits.assign(rerun=100 * fits["induced_accuracy"], shifted=shifted)
    means = fits.groupby(["dataset", "cost"])[["rerun", "shifted"]].agg(["mean", standard_error])
    means.columns = ["rerun", "rerun_se", "shifted", "shifted_se"]
    printed = paper_results().xs("naive", level="method")[["accuracy", "accuracy_se"]].add_prefix("printed_")
    table = printed.join(means, how="inner").dropna(subset=["printed_accuracy"]).reset_index()
    for name in ("rerun", "shifted"):
        table[f"{name}_errors_away"] = (table[name] - table["printed_accuracy"]) / table["printed_accuracy_se"]
    return table


def naive_on_bank_table(found: pd.DataFrame) -> pd.DataFrame:
    """The same, rounded."""
    pairs = {"printed": "printed_accuracy", "re-run": "rerun", "re-run, next group's": "shifted"}
    columns = {title: map(with_error, found[name], found[f"{name}_se"]) for title, name in pairs.items()}
    return labels(found, "dataset", "cost").assign(**{title: list(cells) for title, cells in columns.items()})


# ---------------------------------------------------------------------- parity and order


def order_experiments(results: pd.DataFrame, cost: float = 0.7) -> pd.DataFrame:
    """Parity and order at one cost on the paper's splits, by data set and method: averages over splits.

    Selected people and spread of rates (in percent of the overall rate) are of training people.
    """
    wanted = ["strat_parity_descent", FOOTNOTE, ONE_START, *WEIGHT_METHODS, "strat_parity", PUSHED, "strat_order"]
    part = results[
        results["method"].isin([*wanted, *RATE_METHODS])
        & (results["cost"] == cost)
        & (results["split"] < methods.SPLITS)
    ]
    rows = []
    for (dataset, method), fits in part.groupby(["dataset", "method"]):
        met = pd.Series([meets_tolerance(row) for row in fits.to_dict("records")], dtype=float)
        percent = {
            name: 100 * fits[name].mean() for name in ("induced_accuracy", "train_selection_rate", "train_rate_spread")
        }
        means = fits[["applying_groups", "rank_r2", "spearman"]].mean().to_dict()
        counts = {"applicants": (fits["applying_groups"] > 0).sum(), "in_order": fits["respected"].sum()}
        row = {"dataset": dataset, "method": method, "splits": len(fits), **counts, **means, **percent}
        rows.append(row | {"negative_spearman": (fits["spearman"] < 0).sum(), "within_tolerance": met.mean()})
    return (
        summaries.in_order(pd.DataFrame(rows), ["dataset", "method"], [*wanted, *RATE_METHODS])
        if rows
        else pd.DataFrame()
    )


def meets_tolerance(row: Mapping[str, Any]) -> float:
    """Whether published rates are within the tolerance that our learner was asked for; NaN if it was not."""
    settings, counts = row["configuration"], counts_of(row, "published")
    bounds = [each for each in constraints_of(settings) if isinstance(each, RateParity)]
    if not bounds or "preset" in settings:
        return np.nan
    one = replace(counts, selected=counts.selected[None], true_positives=counts.true_positives[None])
    return float(all(bound.violation(one, np.ones_like(one.selected))[0] == 0 for bound in bounds))


def order_table(found: pd.DataFrame) -> pd.DataFrame:
    """The same, rounded, after the printed numbers; experiments on the weight are in the CSV file only."""
    parts = []
    for dataset, part in found[~found["method"].isin(WEIGHT_METHODS)].groupby("dataset"):
        table = labels(part, "dataset", "method")
        ours = ~part["method"].isin([*methods.DESCENT_METHODS, FOOTNOTE, ONE_START])
        table.insert(1, "learner", np.where(ours, "ours", "re-run"))
        for title, name, form in (
            ("splits", "splits", ".0f"),
            ("accuracy", "induced_accuracy", ".1f"),
            ("groups", "applying_groups", ".1f"),
            ("r²", "rank_r2", ".2f"),
            ("Spearman", "spearman", "+.2f"),
            ("in order", "in_order", ".0f"),
            ("selected, %", "train_selection_rate", ".1f"),
            ("spread, %", "train_rate_spread", ".0f"),
        ):
            table[title] = numbers(part[name], form)
        cell = paper_results().loc[(str(dataset), "strat_parity", 0.7)]
        texts = [
            SHORT[str(dataset)],
            "printed",
            "strat_parity",
            "10",
            with_error(cell["accuracy"], cell["accuracy_se"]),
        ]
        texts += [number(cell["applying_groups"]), number(cell["rank_r2"], ".2f")]
        parts.append(pd.DataFrame([[*texts, *["-"] * (table.shape[1] - len(texts))]], columns=table.columns))
        parts.append(table)
    return pd.concat(parts) if parts else pd.DataFrame()


def price_of_order(fits: pd.DataFrame) -> pd.DataFrame:
    """strat_order beside naive on the groups that apply under it, by data set and cost, on splits with applicants."""
    both = summaries.on_same_groups(fits).dropna()
    both["price"] = both["accuracy_baseline"] - both["accuracy"]
    # costs of one split share their people
    by_split = both.groupby(["dataset", "split"])[["accuracy", "accuracy_baseline", "price"]].mean().groupby("dataset")
    table = by_split.mean().assign(price_se=by_split["price"].agg(standard_error), fits=both.groupby("dataset").size())
    return table.reset_index()


def price_table(found: pd.DataFrame) -> pd.DataFrame:
    """The same, rounded."""
    table = labels(found, "dataset").assign(fits=found["fits"].tolist())
    table["strat_order"], table["naive on the same groups"] = (
        numbers(found[n]) for n in ("accuracy", "accuracy_baseline")
    )
    return table.assign(**{"price of order": list(map(with_error, found["price"], found["price_se"]))})


def impact(fits: pd.DataFrame, method: str, dataset: str) -> dict[str, float]:
    """Selection rates of groups in the population and after people chose whether to apply, of test people at c = .7.

    ``gap`` is the largest minus the smallest rate of a group (points), ``spread`` the same in percent of the overall
    rate, ``one`` the share of fits in which a single group applies, ``away`` the share of the selected who stay away.
    """
    part = fits[(fits["dataset"] == dataset) & (fits["method"] == method) & (fits["cost"] == 0.7)]
    if part.empty:
        return {}
    counts, applies = counts_of(part, "test"), np.array(part["applies"].tolist())
    gap, rate = np.ptp(counts.selection_rate, axis=1), counts.selected.sum(axis=1) / counts.n.sum(axis=1)
    away = 1 - (counts.selected * applies).sum() / counts.selected.sum()
    shares = {"gap": gap.mean(), "spread": (gap / rate).mean(), "one": (applies.sum(axis=1) == 1).mean(), "away": away}
    return {name: 100 * share for name, share in shares.items()} | {"social_cost": 100 * part["social_cost"].mean()}


# ---------------------------------------------------------------------- published and delivered


def promises_table(summary: pd.DataFrame) -> pd.DataFrame:
    """Accuracy, published and delivered precision, and broken promises, by data set, method and cost.

    Accuracy is in parentheses where nobody applied in some splits. †: more than one promise in ten is broken, by a
    binomial test.
    """
    table = labels(summary, "dataset", "method", "cost")
    partly = (summary["nobody"] > 0) & (summary["promises"] > 0)
    accuracy = numbers(summary["accuracy"])
    table["accuracy"] = [f"({text})" if some else text for text, some in zip(accuracy, partly, strict=True)]
    table["published"], table["delivered"] = (numbers(summary[name], ".2f") for name in ("published", "delivered"))
    marks = np.where(summary["p_value"] < RARE, "†", "")
    counts = zip(summary["broken"], summary["promises"], marks, strict=True)
    return table.assign(**{"promises broken": [f"{broken} of {made}{mark}" for broken, made, mark in counts]})


def promises_by_method(summary: pd.DataFrame, chosen: Sequence[str]) -> pd.DataFrame:
    """Averages over costs of some methods; published and delivered are averages over promises."""
    rows = []
    for _, part in summary[summary["method"].isin(chosen)].groupby(["dataset", "method"], sort=False):
        weighted = part[part["promises"] > 0]
        row: dict[str, Any] = labels(part.head(1), "dataset", "method").iloc[0].to_dict()
        row["accuracy"] = number(part["accuracy"].mean())
        row["nobody applies"] = f"{part['nobody'].sum()} of {part['splits'].sum()}"
        for name in ("published", "delivered_mean"):
            row[name.removesuffix("_mean")] = number(np.average(weighted[name], weights=weighted["promises"]), ".2f")
        rows.append(row | {"promises broken": f"{part['broken'].sum()} of {part['promises'].sum()}"})
    return pd.DataFrame(rows)


def at_high_costs(source: str, fits: pd.DataFrame) -> pd.DataFrame:
    """What strat_x and strat_no_group, published on training data, publish and deliver at high costs."""
    fits = fits[(fits["cost"] >= HIGH_COST) & fits["method"].isin(["strat_x", "strat_no_group"])]
    if fits.empty:
        return pd.DataFrame()
    summary = summaries.summarise_promises(fits)
    rows = []
    for dataset, part in summary[summary["promises"] > 0].groupby("dataset", sort=False):
        row = {"learner": source, "data set": SHORT[str(dataset)], "costs": part["cost"].nunique()}
        for title, name in (("published", "published"), ("delivered", "delivered_mean")):
            row[title] = number(np.average(part[name], weights=part["promises"]), ".2f")
        row["groups that got their cost"] = f"{part['kept'].sum()} of {part['promises'].sum()}"
        rows.append(row | {"cells clearly below": f"{part['short'].sum()} of {len(part)}"})
    return pd.DataFrame(rows)
