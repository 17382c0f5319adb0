"""The page of the reproduction: numbers and tables are computed here, sentences are in ``templates/page.md``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from scipy.stats import binom

from selfselect.constraints import RateParity

from . import methods, summaries, tables
from .claims import FAILS, HOLDS, METHODS, ROUNDING, RULES, UNDECIDED, Numbers
from .data import DATASETS, TEST_SHARE
from .methods import constraints_of
from .results import CLOSE, RARE, counts_of, write_atomically
from .tables import BLOCKS, SHORT, SOURCES, labels, number, numbers, with_error, with_errors

#: The margin of strat_no_group over the cost: chosen on training data, or the same everywhere.
CHOSEN, FIXED = "strat_no_group_chosen", "strat_no_group"
HIGH_COST = 0.75
_TEMPLATES = Path(__file__).parent / "templates"

Row = dict[str, Any]


def write_page(results: pd.DataFrame, path: Path, assets: str = "reproduction") -> None:
    """Write the page as Markdown.

    Parameters
    ----------
    results : DataFrame
        Results with metrics: of our learner, and of longer runs as far as there are any.
    path : Path
        File to write.
    assets : str, default="reproduction"
        Folder of tables and figures, relative to the page.
    """
    write_atomically(Path(path), render_page(results, assets).encode())


def render_page(results: pd.DataFrame, assets: str = "reproduction") -> str:
    """Text of the page; see :func:`write_page`. Sections without results say so."""
    ours, descents = summaries.paper_part(results), summaries.descent_part(results)
    summary = tables.with_rerun(summaries.summarise(ours, descents))
    sources = {"printed": Numbers.printed(), "rerun": Numbers.of_fits(descents), "ours": Numbers.of_fits(ours)}
    verdicts = {name: {rule.__name__: source.judge(rule) for rule in RULES} for name, source in sources.items()}
    whitespace = {"trim_blocks": True, "lstrip_blocks": True, "keep_trailing_newline": True}
    environment = Environment(loader=FileSystemLoader(_TEMPLATES), undefined=StrictUndefined, **whitespace)
    environment.filters |= {"num": number, "table": _table, "dataset": SHORT.__getitem__}
    return environment.get_template("page.md").render(
        assets=assets,
        ours=ours,
        descents=descents,
        planned=len(DATASETS) * len(methods.PAPER_METHODS) * len(methods.COSTS) * methods.SPLITS,
        rerun=costs_rerun(descents),
        main=tables.results_table(tables.main_part(summary)),
        extended=tables.results_table(summary),
        below=below_the_printed(summary),
        verdicts=verdicts,
        splits=later_splits(results),
        margin=chosen_margin(results),
        experiments=experiments(results),
        constraints=constraints_met(ours),
        promises=promises(results, descents),
        naive=[naive_on_bank(descents, name) for name in ("bank_30", "bank_original")],
        cells=summary.set_index(["dataset", "method", "cost"]),
        titles={name: method.title for name, method in methods.ALL_METHODS.items()},
        times=times(ours, descents),
    )


def _table(rows: Sequence[Row] | pd.DataFrame, text_columns: int = 1) -> str:
    table = pd.DataFrame(rows)
    return "Not run yet." if table.empty else tables.markdown_table(table, text_columns)


def _printed(dataset: str, method: str) -> pd.DataFrame:
    """Printed results by cost."""
    return summaries.paper_results().xs((dataset, method), level=("dataset", "method"))


# ---------------------------------------------------------------------- the paper's tables


def costs_rerun(descents: pd.DataFrame) -> list[Row]:
    """Number of costs at which the paper's own training was run, by method and data set."""
    counts = descents.groupby(["method", "dataset"])["cost"].nunique()
    return [{"costs re-run": m, **{SHORT[d]: f"{counts.get((m, d), 0)} of 9" for d in DATASETS}} for m in METHODS]


def below_the_printed(summary: pd.DataFrame) -> Row:
    """Cells whose accuracy is below the printed mean minus one printed standard error."""
    with_se = summary[summary["paper_accuracy_se"].notna()]
    rerun = with_se[with_se["descent_accuracy"].notna()]
    high = (rerun["paper_accuracy"] + rerun["paper_accuracy_se"]).round(1)
    low = {prefix: summaries.below_the_paper(summary, prefix) for prefix in ("descent_", "")}
    parts = []
    for prefix, part in low.items():
        accuracy, printed = part[f"{prefix}accuracy"], part["paper_accuracy"]
        table = labels(part, "dataset", "method", "cost")
        table.insert(0, "learner", SOURCES[prefix])
        table["accuracy"] = with_errors(accuracy, part[f"{prefix}accuracy_se"], ".2f")
        table["printed"] = with_errors(printed, part["paper_accuracy_se"])
        parts.append(table.assign(difference=numbers(accuracy - printed, "+.2f")))
    counts = {"cells": len(with_se), "rerun": len(rerun), "above": (rerun["descent_accuracy"] > high).sum()}
    counts |= {"ours": len(low[""]), "low": len(low["descent_"]), "nobody": with_se["accuracy"].isna().sum()}
    return {"table": pd.concat(parts), **counts}


# ---------------------------------------------------------------------- later splits


def later_splits(results: pd.DataFrame) -> Row | None:
    """Accuracy on splits that constants were not chosen on: averages over costs, and cells that differ clearly."""
    table = summaries.compare_splits(summaries.split_part(results))
    if table.empty:
        return None
    table.loc[table["method"] == "semi", [f"beside_{at}" for at in BLOCKS]] = np.nan
    means = table.groupby(["dataset", "method"], sort=False).mean().reset_index()
    rows = labels(means, "dataset", "method").assign(**{"splits 0 to 9": numbers(means["accuracy_0"])})
    for at in (10, 30):
        rows[f"change, {BLOCKS[at]}"] = numbers(means[f"difference_{at}"], "+.1f")
    for at, name in BLOCKS.items():
        rows[f"minus semi, {name}"] = numbers(means[f"beside_{at}"], "+.1f")
    blocks = []
    for at in (10, 30):
        known = table.dropna(subset=[f"difference_{at}", f"difference_se_{at}"])
        change, clear = known[f"difference_{at}"], 2 * known[f"difference_se_{at}"]
        falls = known[change < -clear].sort_values(f"difference_{at}")
        counts = {"cells": len(known), "low": len(falls), "high": (change > clear).sum()}
        before = with_errors(falls["accuracy_0"], falls["accuracy_se_0"])
        after = with_errors(falls[f"accuracy_{at}"], falls[f"accuracy_se_{at}"])
        cells = labels(falls, "dataset", "method", "cost").assign(before=before, after=after)
        fallen = ["{}, {}, c = {}: {} to {}".format(*cell) for cell in cells.to_numpy()]
        blocks.append({"name": BLOCKS[at], "mean": change.mean(), "falls": fallen, **counts})
    return {"rows": rows, "blocks": blocks}


def chosen_margin(results: pd.DataFrame) -> list[Row]:
    """Accuracy that a margin chosen on training data gains over the fixed one, on the last block of splits."""
    late = results[(results["split"] >= 30) & results["method"].isin([CHOSEN, FIXED])]
    accuracy = late.pivot_table(index=["dataset", "cost", "split"], columns="method", values="induced_accuracy")
    if CHOSEN not in accuracy or FIXED not in accuracy:
        return []
    rows = []
    for dataset, gain in (100 * (accuracy[CHOSEN] - accuracy[FIXED]).dropna()).groupby("dataset"):
        by_split = gain.groupby("split").mean()  # costs of one split are not independent
        cells = gain.groupby("cost").agg(["mean", summaries.standard_error])
        clear = cells["mean"][cells["mean"].abs() > 2 * cells["standard_error"]]
        counts = {"costs": len(cells), "better": (clear > 0).sum(), "worse": (clear < 0).sum()}
        mean = with_error(by_split.mean(), summaries.standard_error(by_split), "+.2f")
        rows.append({"dataset": dataset, "gain": mean, **counts})
    return rows


# ---------------------------------------------------------------------- parity and order


def experiments(results: pd.DataFrame) -> dict[str, list[Row]]:
    """Tables of the experiments on parity and order; an experiment that was not run has no rows."""
    compared = {
        "weights": (list(methods.WEIGHT_METHODS), [0.7]),
        "starts": (["strat_parity_descent", methods.ONE_START], methods.COSTS[:5]),
        "push": (["strat_parity", methods.UNPUSHED], [0.7]),
        "rates": ([*methods.RATE_METHODS, "strat_order"], [0.7]),
    }
    return {name: experiment_rows(results, *which) for name, which in compared.items()}


def experiment_rows(results: pd.DataFrame, names: Sequence[str], costs: Sequence[float]) -> list[Row]:
    """Averages per data set and method, over the costs and splits that all methods were run on."""
    part = results[results["method"].isin(names) & results["cost"].isin(costs)]
    rows = []
    for dataset, fits in part.groupby("dataset", sort=False):
        run = fits.groupby(["cost", "split"])["method"].transform("nunique")
        fits = fits[run == fits["method"].nunique()]
        for name in [name for name in names if set(fits["method"]) & set(methods.EXPERIMENT_METHODS)]:
            if name in set(fits["method"]):
                title = {"data set": SHORT[str(dataset)], "method": methods.ALL_METHODS[name].title}
                rows.append(title | _experiment_cells(fits[fits["method"] == name]))
    return rows


def _experiment_cells(fits: pd.DataFrame) -> Row:
    means = fits[_MEANS].mean()
    met = pd.Series([meets_tolerance(row) for row in fits.to_dict("records")], dtype=float)
    return {
        "fits": len(fits),
        "with applicants": (fits["applying_groups"] > 0).sum(),
        "accuracy": number(100 * means["induced_accuracy"]),
        "groups applying": number(means["applying_groups"], ".2f"),
        "rank r²": number(means["rank_r2"], ".2f"),
        "Spearman": number(means["spearman"], "+.2f"),
        "in order": f"{fits['respected'].sum():.0f} of {fits['respected'].count()}",
        "selected, %": number(100 * means["train_selection_rate"]),
        "spread of rates, %": number(100 * means["train_rate_spread"], ".0f"),
        "within tolerance": f"{met.sum():.0f} of {len(met)}" if met.notna().any() else "-",
    }


_MEANS = ["induced_accuracy", "applying_groups", "rank_r2", "spearman", "train_selection_rate", "train_rate_spread"]


def meets_tolerance(row: Mapping[str, Any]) -> float:
    """Whether published rates are within the tolerance that our learner was asked for; NaN if it was not."""
    settings, counts = row["configuration"], counts_of(row, "published")
    bounds = [each for each in constraints_of(settings) if isinstance(each, RateParity)]
    if not bounds or "preset" in settings:
        return np.nan
    one = replace(counts, selected=counts.selected[None], true_positives=counts.true_positives[None])
    return float(all(bound.violation(one, np.ones_like(one.selected))[0] == 0 for bound in bounds))


def constraints_met(ours: pd.DataFrame) -> list[Row]:
    """Whether groups' rates are as close, and precisions as ordered, as training asked for."""
    rows = []
    for method in ("strat_parity", "strat_order"):
        for dataset, fits in ours[ours["method"] == method].groupby("dataset"):
            worst = fits.groupby("cost")["ordered"].agg(["sum", "count"]).astype(int).sort_values("sum").iloc[0]
            close = (fits["published_rate_gap"] <= CLOSE + ROUNDING).sum()
            order = f"{worst['sum']} of {worst['count']}" if method == "strat_order" else "not required"
            counts = {"somebody applies": (fits["applying_groups"] > 0).sum(), "rates within .02": close}
            counts = {name: f"{count} of {len(fits)}" for name, count in counts.items()}
            row = {"data set": SHORT[str(dataset)], "method": method, **counts}
            rows.append(row | {"in order, at the worst cost": order})
    return rows


# ---------------------------------------------------------------------- promised and delivered


def promises(results: pd.DataFrame, descents: pd.DataFrame) -> Row | None:
    """Published and delivered precision, and whether cross-fitted methods keep their promises."""
    part = summaries.promise_part(results)
    if part.empty:
        return None
    summary = summaries.summarise_promises(part)
    unseen = summary[summary["method"].isin(methods.CROSS_FIT_METHODS)]
    cells = unseen[unseen["promises"] > 0]
    bad = cells[cells["p_value"] < RARE]
    return {
        "fits": part,
        "high": [*_at_high_costs("re-run", descents), *_at_high_costs("ours", part)],
        "rows": _promise_rows(summary, summaries.promises_frame(part)),
        "table": tables.promises_table(summary),
        "unseen": {"broken": cells["broken"].sum(), "made": cells["promises"].sum(), "cells": len(cells)},
        "silent": len(unseen) - len(cells),
        "bad": bad.to_dict("records"),
        "adult": above_the_paper(unseen),
    }


def _promise_rows(summary: pd.DataFrame, made: pd.DataFrame) -> pd.DataFrame:
    """Averages over costs per data set and method; published, delivered and cost are averages over promises."""
    keys = ["dataset", "method"]
    means, sums = (getattr(summary.groupby(keys, sort=False), how)(numeric_only=True) for how in ("mean", "sum"))
    promised = made.groupby(keys)[["published", "delivered", "cost"]].mean().reindex(means.index)
    table = labels(means.reset_index(), *keys)
    table["accuracy"], table["social cost"] = numbers(means["accuracy"]), numbers(means["social_cost"])
    table["splits without applicants"] = [f"{a} of {b}" for a, b in zip(sums["nobody"], sums["splits"], strict=True)]
    for name in promised:
        table[name] = numbers(promised[name], ".3f")
    table["promises broken"] = [f"{a} of {b}" for a, b in zip(sums["broken"], sums["promises"], strict=True)]
    return table


def _at_high_costs(source: str, fits: pd.DataFrame) -> list[Row]:
    """What strat_x and strat_no_group, published on training data, publish and deliver at high costs."""
    fits = fits[(fits["cost"] >= HIGH_COST) & fits["method"].isin(["strat_x", "strat_no_group"])]
    if fits.empty:
        return []
    summary = summaries.summarise_promises(fits)
    return [
        {
            "learner": source,
            "data set": SHORT[str(dataset)],
            "costs": " to ".join(f"{cost:g}" for cost in sorted({part["cost"].min(), part["cost"].max()})),
            "published": number(np.average(part["published"], weights=part["promises"]), ".2f"),
            "delivered": number(part["true_positives"].sum() / (part["selected"].sum() or np.nan), ".2f"),
            "groups that got their cost": f"{part['kept'].sum()} of {part['promises'].sum()}",
            "cells clearly below the cost": f"{falls_short(part).sum()} of {len(part)}",
        }
        for dataset, part in summary[summary["promises"] > 0].groupby("dataset", sort=False)
    ]


def falls_short(summary: pd.DataFrame) -> np.ndarray:
    """Whether delivered precision is below the cost by more than chance explains.

    A person is a test person in several splits, so pooled counts are divided by how often before the binomial test.
    """
    repeats = np.maximum(summary["splits"] * TEST_SHARE, 1.0)
    selected, true_positives = np.ceil(summary["selected"] / repeats), np.floor(summary["true_positives"] / repeats)
    return np.asarray((selected > 0) & (binom.cdf(true_positives, selected, summary["cost"]) < RARE))


def above_the_paper(unseen: pd.DataFrame) -> Row:
    """Whether the best cross-fitted method on Adult is above the printed accuracy of strat_x at every cost."""
    adult = unseen[(unseen["dataset"] == "adult") & (unseen["nobody"] == 0)]
    printed = _printed("adult", "strat_x")["paper_accuracy"]
    table = adult.pivot_table(index="cost", columns="method", values="accuracy").reindex(printed.index)
    table = table.dropna(axis="columns")
    if not len(table.columns):
        return {"verdict": UNDECIDED, "method": "none", "pairs": []}
    best = table.mean().idxmax()
    verdict, pairs = HOLDS if (table[best] > printed).all() else FAILS, list(zip(table[best], printed, strict=True))
    return {"verdict": verdict, "method": methods.ALL_METHODS[best].title, "pairs": pairs}


# ---------------------------------------------------------------------- what could not be reproduced, and time


def naive_on_bank(descents: pd.DataFrame, dataset: str) -> Row:
    """Accuracy of the naive learner by cost: printed, re-run, and with each group's accuracy taken from the next one.

    Groups count with their own training sizes. The last group takes the training accuracy of the first, which is the
    next column of such a table.
    """
    fits = descents[(descents["dataset"] == dataset) & (descents["method"] == "naive")]
    if fits.empty:
        return {"table": pd.DataFrame(), "near": {"accuracy": 0, "shifted": 0}, "cells": 0}
    test, train = counts_of(fits, "test"), counts_of(fits, "train")
    people = train.n * np.array(fits["applies"].tolist(), dtype=int)
    following = np.column_stack([test.accuracy[:, 1:], train.accuracy[:, :1]])
    shifted = 100 * (people * following).sum(axis=1) / np.where(people.any(axis=1), people.sum(axis=1), np.nan)
    fits = fits.assign(accuracy=100 * fits["induced_accuracy"], shifted=shifted)
    printed = _printed(dataset, "naive")
    printed = printed[printed["paper_accuracy"].notna() & printed.index.isin(fits["cost"])]
    means = fits.groupby("cost")[["accuracy", "shifted"]].agg(["mean", summaries.standard_error]).reindex(printed.index)
    table = labels(printed.reset_index().assign(dataset=dataset), "dataset", "cost")
    table["printed"] = with_errors(printed["paper_accuracy"], printed["paper_accuracy_se"])
    table["re-run"] = with_errors(*means["accuracy"].to_numpy().T)
    table["re-run, next group's accuracy"] = with_errors(*means["shifted"].to_numpy().T)
    tested = printed[(printed.index > 0.65) & printed["paper_accuracy_se"].notna()]
    gaps = means.xs("mean", axis=1, level=1).reindex(tested.index).sub(tested["paper_accuracy"], axis=0).abs()
    near = gaps.le(2 * tested["paper_accuracy_se"], axis=0).sum().to_dict()
    return {"table": table, "near": near, "cells": len(tested)}


def times(ours: pd.DataFrame, descents: pd.DataFrame) -> list[Row]:
    """Seconds per fit; naive and semi share one fit among all costs of a split."""
    rows = []
    for source, part in (("", ours), (", re-run", descents)):
        for method in [name for name in methods.PAPER_METHODS if name in set(part["method"])]:
            keys = ["dataset", "split"] if method in ("naive", "semi") else ["dataset", "split", "cost"]
            seconds = part[part["method"] == method].groupby(keys)["seconds"].sum().groupby("dataset").mean()
            means = {SHORT[name]: number(seconds.get(name, np.nan), ".2f") for name in DATASETS}
            rows.append({"method": method + source, **means})
    return rows
