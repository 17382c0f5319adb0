"""Rules that decide whether the paper's claims about its experiments hold.

The template of the page has each claim, its rule in words and its evidence, under the name of the rule.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from .methods import SPLITS
from .summaries import paper_results, promises_frame, standard_error, summarise

HOLDS, CORRECTED, FAILS, UNDECIDED = "holds", "holds with a correction", "does not hold", "cannot be decided"
METHODS = ("naive", "semi", "strat_x", "strat_no_group", "strat_parity")
#: Accuracies in points, precisions and rates that differ by less are equal.
ROUNDING = 1e-9
#: The verdict, and the numbers or the reason behind it.
Evidence = dict[str, Any]


class UndecidedError(Exception):
    """The numbers that a claim is about do not exist; the message says why."""


@dataclass(frozen=True, eq=False)
class Numbers:
    """Evidence for the verdicts: averages per setting and method, single fits, and groups that apply.

    The paper prints averages only, so ``fits`` and ``promises`` are empty for its own numbers.
    """

    summary: pd.DataFrame
    fits: pd.DataFrame = field(default_factory=pd.DataFrame)
    promises: pd.DataFrame = field(default_factory=pd.DataFrame)

    @classmethod
    def of_fits(cls, fits: pd.DataFrame) -> Numbers:
        """Numbers of results with metrics, possibly none."""
        return cls(summarise(fits), fits, promises_frame(fits)) if len(fits) else cls(pd.DataFrame())

    @classmethod
    def printed(cls) -> Numbers:
        """Numbers that the paper prints. "Some splits" counts as one, because the paper does not say how many."""
        printed = paper_results().rename(columns=lambda name: name.removeprefix("paper_")).reset_index()
        applicants = printed["applicants_in"].map({"all splits": SPLITS, "some splits": 1, "no split": 0})
        return cls(printed.assign(splits=SPLITS, splits_with_applicants=applicants))

    def judge(self, rule: Callable[[Numbers], Evidence]) -> Evidence:
        """Verdict on a claim."""
        try:
            return rule(self)
        except UndecidedError as reason:
            return {"verdict": UNDECIDED, "reason": str(reason)}

    def by_method(self, column: str) -> pd.DataFrame:
        """One row per setting (data set and cost), one column per method; NaN where a method was not run."""
        if column not in self.summary:
            printed = len(self.summary) and self.fits.empty
            raise UndecidedError("The paper does not print these numbers." if printed else "There are no results.")
        table = self.summary.set_index(["dataset", "cost", "method"])[column].unstack("method")  # noqa: PD010
        return table.reindex(columns=[*METHODS, "strat_order"])

    def of(self, method: str) -> pd.DataFrame:
        """Rows of the summary of one method."""
        self.by_method("splits")
        return self.summary[self.summary["method"] == method]

    def gap(self, column: str, method: str, other: str) -> pd.DataFrame:
        """Method minus other, in points, paired by split: mean, standard error and number of splits per setting."""
        if self.fits.empty:
            accuracy = self.by_method("accuracy")
            return pd.DataFrame({"mean": (accuracy[method] - accuracy[other]).dropna(), "se": np.nan, "splits": np.nan})
        table = self.fits.set_index(["dataset", "cost", "split", "method"])[column].unstack("method")  # noqa: PD010
        table = table.reindex(columns=[method, other])
        paired = (100 * (table[method] - table[other])).dropna().groupby(["dataset", "cost"])
        return pd.DataFrame({"mean": paired.mean(), "se": paired.agg(standard_error), "splits": paired.count()})


def _defined(values: pd.Series) -> pd.Series:
    known = values.dropna()
    if known.empty:
        raise UndecidedError("The numbers are undefined: a method was not run, or nobody applies.")
    return known


def _means(values: pd.Series) -> dict[str, float]:
    """Averages over costs by data set."""
    return values.groupby("dataset", sort=False).mean().to_dict()


def naive_is_suboptimal(numbers: Numbers) -> Evidence:
    """Naive against strat_x, and settings without applicants."""
    naive, gap = numbers.of("naive"), numbers.gap("induced_accuracy", "naive", "strat_x")
    lower = _defined(gap["mean"]) < 0
    nobody, everybody = naive["splits_with_applicants"] == 0, naive["splits_with_applicants"] == naive["splits"]
    clearly_above = gap["mean"] > 2 * gap["se"].fillna(np.inf)
    return {
        "verdict": FAILS if not nobody.any() or clearly_above.any() else HOLDS if lower.all() else CORRECTED,
        "lower": lower.sum(),
        "settings": len(gap),
        "above": gap[~lower].reset_index().to_dict("records"),
        "all_settings": len(naive),
        "nobody": nobody.sum(),
        "sometimes": (~nobody & ~everybody).sum(),
    }


def strat_x_is_best(numbers: Numbers) -> Evidence:
    """Accuracy of strat_x against the best of all methods."""
    splits, applicants = (numbers.by_method(name)[[*METHODS]] for name in ("splits", "splits_with_applicants"))
    # a mean over the few splits in which somebody applied does not compare with a mean over all of them
    accuracy = numbers.by_method("accuracy")[[*METHODS]].where(applicants == splits)[splits.notna().all(axis=1)]
    behind = _defined(accuracy.max(axis=1) - accuracy["strat_x"])
    se = numbers.by_method("accuracy_se")["strat_x"].reindex(behind.index)
    first = behind <= ROUNDING
    near = first | (behind <= se)
    unknown = len(accuracy) - len(behind) + (~near & se.isna()).sum()
    verdict = FAILS if (~near & se.notna()).any() else UNDECIDED if unknown else HOLDS if first.all() else CORRECTED
    counts = {"first": first.sum(), "near": near.sum(), "settings": len(accuracy), "unknown": unknown}
    return {"verdict": verdict, **counts, "behind": behind.max()}


def one_group_applies(numbers: Numbers) -> Evidence:
    """Groups that apply under strat_x."""
    groups = _defined(numbers.by_method("applying_groups")["strat_x"])
    verdict = HOLDS if groups.min() >= 0.5 and groups.max() < 2 else FAILS
    return {"verdict": verdict, "means": _means(groups), "most": groups.max()}


def semi_is_inconsistent(numbers: Numbers) -> Evidence:
    """Differences of semi to strat_x."""
    accuracy = numbers.by_method("accuracy")
    gap = _defined(accuracy["semi"] - accuracy["strat_x"])
    verdict = HOLDS if gap.mean() < 0 and gap.max() - gap.min() > 1 else FAILS
    return {"verdict": verdict, "mean": gap.mean(), "low": gap.min(), "high": gap.max()}


def restrictions_cost_accuracy(numbers: Numbers) -> Evidence:
    """Accuracy without the group, and with parity on top."""
    accuracy = numbers.by_method("accuracy")
    group = _defined(accuracy["strat_no_group"] - accuracy["strat_x"])
    parity = _defined(accuracy["strat_parity"] - accuracy["strat_no_group"])
    everywhere = all((gap <= 0).all() and gap.mean() < 0 for gap in (group, parity))
    return {
        "verdict": HOLDS if everywhere else CORRECTED if group.mean() < 0 else FAILS,
        "group": {"mean": group.mean(), "lower": (group < 0).sum(), "settings": len(group)},
        "parity": {"mean": parity.mean(), "lower": (parity < 0).sum(), "settings": len(parity)},
        "means": _means(parity),
    }


def _respected(summary: pd.DataFrame) -> tuple[int, int]:
    """Fits in which a higher base rate never has a lower precision, and fits in which there is an order at all."""
    return round((summary["respected"] * summary["splits_with_order"]).sum()), int(summary["splits_with_order"].sum())


def parity_gives_order(numbers: Numbers) -> Evidence:
    """Order of precisions under parity."""
    r2 = _defined(numbers.by_method("rank_r2")["strat_parity"])
    evidence = {"rank_r2": r2.mean(), "means": _means(r2)}
    if numbers.fits.empty:
        return {"verdict": UNDECIDED, **evidence}
    spearman = _defined(numbers.by_method("spearman")["strat_parity"])
    fits = numbers.fits[numbers.fits["method"] == "strat_parity"]
    cases = []
    for applicants, part in fits.groupby(fits["applying_groups"] > 0):
        medians = part[["train_selection_rate", "train_rate_spread"]].median()
        case = {"applicants": applicants, "n": len(part), "negative": (part["spearman"] < 0).sum()}
        cases.append(case | {**medians, **part[["rank_r2", "spearman"]].mean()})
    parity, order = numbers.of("strat_parity"), numbers.of("strat_order")
    return {
        "verdict": HOLDS if r2.mean() > 0.5 and spearman.mean() > 0.5 else FAILS,
        **evidence,
        "printed": parity["paper_rank_r2"].mean(),
        "spearman": spearman.mean(),
        "respected": _respected(parity),
        "cases": cases,
        "order": {"respected": _respected(order), **order[["rank_r2", "spearman"]].mean()} if len(order) else None,
    }


def power_breaks_order(numbers: Numbers) -> Evidence:
    """Order of precisions under strat_x."""
    _defined(numbers.by_method("spearman")["strat_x"])
    spearman, r2 = numbers.by_method("spearman").mean(), numbers.by_method("rank_r2").mean()
    contrast = r2["strat_x"] < r2["strat_parity"]
    verdict = FAILS if spearman["strat_x"] >= 0.5 else HOLDS if contrast else CORRECTED
    return {"verdict": verdict, "spearman": spearman, "rank_r2": r2}


def social_cost_is_high(numbers: Numbers) -> Evidence:
    """Social cost of strat_x."""
    cost = _defined(numbers.by_method("social_cost")["strat_x"])
    return {"verdict": HOLDS if cost.min() > 50 else FAILS, "means": _means(cost), "least": cost.min()}


def no_group_lowers_social_cost(numbers: Numbers) -> Evidence:
    """Social cost of strat_no_group against naive and against the other methods."""
    cost = numbers.by_method("social_cost").dropna(subset=["strat_no_group"])
    lead = _defined(cost["strat_no_group"] - cost[["strat_x", "semi", "strat_parity"]].min(axis=1))
    gap = numbers.gap("social_cost", "strat_no_group", "naive")
    gap = gap[cost["naive"].reindex(gap.index) > 0].reset_index()
    datasets = []
    for name, beside in lead.groupby("dataset", sort=False):
        against = gap[gap["dataset"] == name].sort_values("cost").to_dict("records")
        costs = beside.index.get_level_values("cost")
        each = {"name": name, "first": against[0] if against else None, "below_others": sorted(costs[beside < 0])}
        datasets.append(each | {"below_naive": [row["cost"] for row in against if row["mean"] < 0], "low": min(costs)})
    lowest = all(each["low"] in each["below_others"] for each in datasets)
    lower = [each["first"] is not None and each["first"]["mean"] < 0 for each in datasets]
    verdict = FAILS if not lowest or not any(lower) else HOLDS if all(lower) else CORRECTED
    return {"verdict": verdict, "datasets": datasets, "zero": (cost["naive"] <= 0).sum()}


def parity_keeps_social_cost(numbers: Numbers) -> Evidence:
    """Social cost of strat_parity against strat_x."""
    cost, accuracy = numbers.by_method("social_cost"), numbers.by_method("accuracy")
    both = cost[["strat_parity", "strat_x"]].dropna()
    parity, power = (_defined(both[name]).mean() for name in both)
    order = {"cost": cost["strat_order"].mean(), "loss": (accuracy["strat_order"] - accuracy["strat_x"]).mean()}
    order |= {"selected": numbers.by_method("selection_rate").mean()}
    verdict = HOLDS if parity > power - 5 else FAILS
    return {"verdict": verdict, "settings": len(both), "parity": parity, "strat_x": power, "order": order}


def no_overfitting(numbers: Numbers) -> Evidence:
    """Accuracy and precision on training people against test people."""
    _defined(numbers.by_method("assumed_accuracy").stack())  # noqa: PD013
    fits = numbers.fits.assign(gap=100 * (numbers.fits["train_induced_accuracy"] - numbers.fits["induced_accuracy"]))
    gap = _defined(fits.groupby("method")["gap"].mean())
    # settings of one split share their people, so only splits are independent
    errors = fits.groupby(["method", "split"])["gap"].mean().groupby("method").agg(standard_error)
    promises = numbers.promises.dropna(subset=["published", "delivered"])
    means = promises.groupby("method")[["published", "delivered"]].mean()
    kept = (promises["delivered"] >= promises["cost"] - ROUNDING).groupby(promises["method"]).agg(["sum", "count"])
    rows = [
        {"method": name, "gap": gap[name], "se": errors[name], **means.loc[name], **kept.loc[name]}
        for name in METHODS
        if name in means.index
    ]
    lost = (means["published"] - means["delivered"]).max()
    return {"verdict": HOLDS if gap.max() < 0.5 and lost <= 0.02 else FAILS, "methods": rows}


#: Rules in the order of the page.
RULES = (
    naive_is_suboptimal,
    strat_x_is_best,
    one_group_applies,
    semi_is_inconsistent,
    restrictions_cost_accuracy,
    parity_gives_order,
    power_breaks_order,
    social_cost_is_high,
    no_group_lowers_social_cost,
    parity_keeps_social_cost,
    no_overfitting,
)
