"""Rules that decide whether the paper's claims hold, on one data set and for one source of numbers.

The template of the page has each claim and its rule in words, under the name of the rule.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from .data import DATASETS
from .methods import COSTS, FOOTNOTE, METHODS, SPLITS
from .summaries import averages, paper_results, promises_frame, standard_error

HOLDS, CORRECTED, FAILS, UNDECIDED = "holds", "holds with a correction", "does not hold", "cannot be decided"
#: A method counts as run at a cost from this number of splits on.
MIN_SPLITS = 3
#: By how much delivered precision may be below the published one: the paper's tolerance.
TOLERANCE = {"adult": 0.02, "bank_30": 0.05, "bank_original": 0.05}


class UndecidedError(Exception):
    """The numbers that a claim is about do not exist; the message says why."""


@dataclass(frozen=True)
class Evidence:
    """A verdict, the numbers behind it in a few words, and all of them by name."""

    verdict: str
    text: str
    numbers: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Numbers:
    """One source of numbers on one data set: averages by cost and method, and single fits; the paper prints no fits."""

    dataset: str
    table: pd.DataFrame
    fits: pd.DataFrame

    @classmethod
    def of_fits(cls, dataset: str, fits: pd.DataFrame) -> Numbers:
        """Numbers of results with metrics, possibly none."""
        own = fits[fits["dataset"] == dataset]
        table = averages(own) if len(own) else pd.DataFrame({"cost": [], "method": [], "splits": []})
        return cls(dataset, table.set_index(["cost", "method"]), own)

    @classmethod
    def printed(cls, dataset: str) -> Numbers:
        """Numbers that the paper prints. "Some splits" counts as one, because the paper does not say how many."""
        table = paper_results().xs(dataset, level="dataset").reorder_levels(["cost", "method"])
        applicants = table["applicants_in"].map({"all splits": SPLITS, "some splits": 1, "no split": 0})
        return cls(dataset, table.assign(splits=SPLITS, applicants=applicants), pd.DataFrame())

    def judge(self, rule: Callable[[Numbers], Evidence]) -> Evidence:
        """Verdict on a claim."""
        try:
            return rule(self)
        except UndecidedError as reason:
            return Evidence(UNDECIDED, str(reason))

    def costs(self, *methods: str) -> list[float]:
        """Costs at which all of these methods were run."""
        run = self.table.index[self.table["splits"] >= MIN_SPLITS]
        return [cost for cost in COSTS if all((cost, method) in run for method in methods)]

    def by_method(self, column: str, *methods: str, everywhere: bool = True) -> pd.DataFrame:
        """One row per cost, one column per method; undecided if a method was not run at every cost."""
        costs = self.costs(*methods)
        if not costs or (everywhere and len(costs) < len(COSTS)):
            raise UndecidedError(f"run at {len(costs)} of {len(COSTS)} costs" if costs else "not run")
        if column not in self.table:
            raise UndecidedError("not printed")
        return self.table[column].unstack("method").loc[costs, list(methods)]  # noqa: PD010

    def gap(self, column: str, method: str, other: str) -> pd.DataFrame:
        """Method minus other by cost, in points and paired by split: mean, se and number of splits."""
        if self.fits.empty:
            accuracy = self.by_method("accuracy", method, other).dropna()
            se = self.by_method("accuracy_se", method, other).loc[accuracy.index]
            both = {"mean": accuracy[method] - accuracy[other], "se": np.hypot(se[method], se[other])}
            return pd.DataFrame(both).assign(splits=self.by_method("applicants", method, other).min(axis=1))
        table = self.fits.pivot_table(index=["cost", "split"], columns="method", values=column, dropna=False)
        paired = (
            (100 * (table.reindex(columns=[method, other]).diff(axis=1, periods=-1)[method])).dropna().groupby("cost")
        )
        return pd.DataFrame({"mean": paired.mean(), "se": paired.agg(standard_error), "splits": paired.count()})

    def verdict(self, violated: bool, corrected: bool, *methods: str) -> str:
        """Verdict on what must hold at every cost: one violation refutes it, and only all costs prove it."""
        if violated or len(self.costs(*methods)) == len(COSTS):
            return FAILS if violated else CORRECTED if corrected else HOLDS
        return UNDECIDED


def naive_is_suboptimal(numbers: Numbers) -> Evidence:
    """Naive against strat_x where somebody applies under both."""
    if not numbers.costs("naive", "strat_x"):
        raise UndecidedError("not run")
    gap = numbers.gap("induced_accuracy", "naive", "strat_x")
    gap = gap[gap["splits"] > 0]
    lower = gap["mean"] < 0
    clearly_above = (gap["mean"] > 2 * gap["se"]) & (gap["splits"] >= MIN_SPLITS)
    verdict = numbers.verdict(clearly_above.any(), not lower.all(), "naive", "strat_x")
    return Evidence(verdict, f"lower at {lower.sum()} of {len(gap)}, {gap['mean'].mean():+.1f}", _by_cost(gap["mean"]))


def nobody_applies_under_naive(numbers: Numbers) -> Evidence:
    """Costs at which nobody applies under naive."""
    applicants, splits = (numbers.by_method(name, "naive")["naive"] for name in ("applicants", "splits"))
    nobody, some = (applicants == 0).sum(), ((applicants > 0) & (applicants < splits)).sum()
    text = f"nobody at {nobody} costs, in some splits at {some}"
    return Evidence(HOLDS if nobody + some else FAILS, text, _by_cost(applicants))


def strat_x_is_best(numbers: Numbers) -> Evidence:
    """Accuracy of strat_x against every other method, on splits in which somebody applies under both."""
    costs = numbers.costs(*METHODS)
    if not costs:
        raise UndecidedError("not run")
    gaps = {other: numbers.gap("induced_accuracy", other, "strat_x") for other in METHODS if other != "strat_x"}
    # a difference over fewer splits says little, and the paper prints no error where nobody applied in some
    enough = SPLITS if numbers.fits.empty else MIN_SPLITS
    ahead = pd.DataFrame({other: gap["mean"][gap["splits"] >= enough] for other, gap in gaps.items()}).reindex(costs)
    behind = ahead.max(axis=1).clip(lower=0).fillna(0).round(9)
    near = behind <= numbers.table["accuracy_se"].xs("strat_x", level="method").reindex(costs)
    first = behind == 0
    verdict = numbers.verdict(not (near | first).all(), not first.all(), *METHODS)
    text = f"highest at {first.sum()} of {len(costs)}" + ("" if first.all() else f", up to {behind.max():.1f} below")
    return Evidence(verdict, text, _by_cost(behind))


def one_group_applies(numbers: Numbers) -> Evidence:
    """Groups that apply under strat_x."""
    groups = numbers.by_method("applying_groups", "strat_x", everywhere=False)["strat_x"]
    verdict = numbers.verdict(not groups.between(0.5, 2, inclusive="left").all(), False, "strat_x")
    return Evidence(verdict, f"{groups.mean():.1f}, at most {groups.max():.1f}", _by_cost(groups))


def semi_is_inconsistent(numbers: Numbers) -> Evidence:
    """Differences of semi to strat_x."""
    accuracy = numbers.by_method("accuracy", "semi", "strat_x")
    gap = accuracy["semi"] - accuracy["strat_x"]
    verdict = HOLDS if gap.mean() < 0 and gap.max() - gap.min() > 1 else FAILS
    return Evidence(verdict, f"{gap.min():+.1f} to {gap.max():+.1f}", _by_cost(gap))


def _lowers_accuracy(numbers: Numbers, method: str, other: str) -> Evidence:
    numbers.by_method("accuracy", method, other)
    gap = numbers.gap("induced_accuracy", method, other)["mean"]
    lower = gap < 0
    verdict = HOLDS if lower.all() else CORRECTED if gap.mean() < 0 else FAILS
    return Evidence(verdict, f"{gap.mean():+.1f}, lower at {lower.sum()} of {len(gap)}", _by_cost(gap))


def no_group_lowers_accuracy(numbers: Numbers) -> Evidence:
    """Accuracy without the group."""
    return _lowers_accuracy(numbers, "strat_no_group", "strat_x")


def parity_lowers_accuracy(numbers: Numbers) -> Evidence:
    """Accuracy with parity on top."""
    return _lowers_accuracy(numbers, "strat_parity", "strat_no_group")


def parity_gives_order(numbers: Numbers) -> Evidence:
    """Order of precisions under parity."""
    r2 = numbers.by_method("rank_r2", "strat_parity")["strat_parity"]
    if "spearman" not in numbers.table:
        return Evidence(UNDECIDED, f"r² {r2.mean():.2f}", _by_cost(r2))
    spearman = numbers.by_method("spearman", "strat_parity")["strat_parity"]
    by_split = numbers.fits[numbers.fits["method"] == "strat_parity"].groupby("split")[["rank_r2", "spearman"]].mean()
    clearly_below = (by_split.mean() + 2 * by_split.agg(standard_error) < 0.5).any()
    verdict = HOLDS if min(r2.mean(), spearman.mean()) > 0.5 else FAILS if clearly_below else UNDECIDED
    values = {f"rank_r2 at {cost:g}": value for cost, value in r2.items()}
    values |= {f"spearman at {cost:g}": value for cost, value in spearman.items()}
    return Evidence(verdict, f"r² {r2.mean():.2f}, Spearman {spearman.mean():+.2f}", values)


def power_breaks_order(numbers: Numbers) -> Evidence:
    """Order of precisions under strat_x."""
    spearman = numbers.by_method("spearman", "strat_x")["strat_x"]
    r2 = numbers.by_method("rank_r2", "strat_x", "strat_parity").mean()
    verdict = FAILS if spearman.mean() >= 0.5 else HOLDS if r2["strat_x"] < r2["strat_parity"] else CORRECTED
    text = f"Spearman {round(spearman.mean(), 2) + 0.0:+.2f}; r² {r2['strat_x']:.2f} against {r2['strat_parity']:.2f}"
    return Evidence(verdict, text, _by_cost(spearman))


def social_cost_is_high(numbers: Numbers) -> Evidence:
    """Social cost of strat_x."""
    cost = numbers.by_method("social_cost", "strat_x", everywhere=False)["strat_x"]
    verdict = numbers.verdict(cost.min() <= 50, False, "strat_x")
    return Evidence(verdict, f"{cost.mean():.0f}%, at least {cost.min():.0f}%", _by_cost(cost))


def no_group_lowers_social_cost(numbers: Numbers) -> Evidence:
    """Social cost of strat_no_group against naive and against the other methods."""
    cost = numbers.by_method("social_cost", *METHODS, everywhere=False)
    if cost.index[0] != COSTS[0]:
        raise UndecidedError("not run at the lowest cost")
    own, others = cost["strat_no_group"], cost[["semi", "strat_x", "strat_parity"]].iloc[0]
    lead = numbers.gap("social_cost", "strat_no_group", str(others.idxmin())).iloc[0]
    gap = numbers.gap("social_cost", "strat_no_group", "naive").reindex(cost.index[cost["naive"] > 0])
    at, first = gap.index[0], gap.iloc[0]
    # above the others or naive at all, and by more than chance
    others_below, naive_below = ((each["mean"] > 0, each["mean"] > 2 * each["se"]) for each in (lead, first))
    if others_below[1]:
        verdict = FAILS
    elif others_below[0] or naive_below[0] != naive_below[1]:
        verdict = UNDECIDED
    else:
        verdict = CORRECTED if naive_below[1] else HOLDS
    text = f"{own.iloc[0]:.0f}% against {others.min():.0f}%; naive {first['mean']:+.0f} ±{first['se']:.0f} at {at:g}"
    return Evidence(verdict, text, _by_cost(gap["mean"]))


def parity_keeps_social_cost(numbers: Numbers) -> Evidence:
    """Social cost of strat_parity against strat_x."""
    cost = numbers.by_method("social_cost", "strat_x", "strat_parity").mean()
    verdict = HOLDS if cost["strat_parity"] > cost["strat_x"] - 5 else FAILS
    return Evidence(verdict, f"{cost['strat_parity']:.0f}% against {cost['strat_x']:.0f}%", cost.to_dict())


def _worst(numbers: Numbers, values: pd.DataFrame, allowed: float, form: str) -> Evidence:
    """Whether the means of a column ``lost`` of all methods are at most a value, or above it by chance."""
    run = numbers.table.index[numbers.table["splits"] >= MIN_SPLITS]
    values = values[[cell in run for cell in zip(values["cost"], values["method"], strict=True)]]
    means = values.groupby("method")["lost"].mean()
    # costs of one split share their people, so only splits are independent
    errors = values.groupby(["method", "split"])["lost"].mean().groupby("method").agg(standard_error)
    above, clearly = means > allowed, means - 2 * errors > allowed
    verdict = numbers.verdict(clearly.any(), above.any(), *METHODS)
    worst = str(means.idxmax())
    text = f"{clearly.sum()} of {len(means)} methods; {worst} {means[worst]:{form}} ±{errors[worst]:{form[1:]}}"
    return Evidence(verdict, text, means.to_dict())


def accuracy_is_not_overfitted(numbers: Numbers) -> Evidence:
    """Accuracy among applicants in training minus that of test people."""
    numbers.by_method("assumed_accuracy", "naive", everywhere=False)
    fits = numbers.fits[numbers.fits["method"].isin(METHODS)]
    lost = 100 * (fits["train_induced_accuracy"] - fits["induced_accuracy"])
    return _worst(numbers, fits.assign(lost=lost), 0.5, "+.1f")


def promises_are_not_overfitted(numbers: Numbers) -> Evidence:
    """Precision that is published minus precision that new people get."""
    numbers.by_method("assumed_accuracy", "naive", everywhere=False)
    promises = promises_frame(numbers.fits[numbers.fits["method"].isin(METHODS)])
    lost = promises["published"] - promises["delivered"]
    return _worst(numbers, promises.assign(lost=lost), TOLERANCE[numbers.dataset], "+.2f")


def _by_cost(values: pd.Series) -> dict[str, Any]:
    return {f"at {cost:g}": value for cost, value in values.items()}


#: Rules in the order of the page.
RULES = (
    naive_is_suboptimal,
    nobody_applies_under_naive,
    strat_x_is_best,
    one_group_applies,
    semi_is_inconsistent,
    no_group_lowers_accuracy,
    parity_lowers_accuracy,
    parity_gives_order,
    power_breaks_order,
    social_cost_is_high,
    no_group_lowers_social_cost,
    parity_keeps_social_cost,
    accuracy_is_not_overfitted,
    promises_are_not_overfitted,
)


def by_footnote(numbers: Numbers) -> Numbers:
    """The same with parity by the weight of the footnote in place of that of the text."""
    fits = numbers.fits[numbers.fits["method"] != "strat_parity"]
    return Numbers.of_fits(numbers.dataset, fits.replace({"method": {FOOTNOTE: "strat_parity"}}))


def distance_to_print(numbers: Numbers, other: Numbers) -> float:
    """Mean distance of rank r² under parity to the printed one, over costs at which both readings were run."""
    printed = Numbers.printed(numbers.dataset).by_method("rank_r2", "strat_parity")
    costs = [cost for cost in numbers.costs("strat_parity") if cost in other.costs("strat_parity")]
    if not costs:
        return np.nan
    r2 = numbers.by_method("rank_r2", "strat_parity", everywhere=False)
    return float((r2 - printed).loc[costs, "strat_parity"].abs().mean())


def judge_rerun(numbers: Numbers, rule: Callable[[Numbers], Evidence]) -> Evidence:
    """Verdict on the paper's training. On Adult the paper gives two weights of parity, a factor of ten apart.

    The claim on order is judged by the weight whose rank r² is nearer to the printed one. All others must have the same
    verdict by both weights, or they cannot be decided.
    """
    by_text = numbers.judge(rule)
    if numbers.dataset != "adult":
        return by_text
    other = by_footnote(numbers)
    footnote = other.judge(rule)
    if rule is parity_gives_order:
        return by_text if distance_to_print(numbers, other) < distance_to_print(other, numbers) else footnote
    if footnote.verdict == by_text.verdict:
        return by_text
    return replace(by_text, verdict=UNDECIDED, text=f"{by_text.text}; by the footnote: {footnote.text}")


def verdicts(parts: Mapping[str, pd.DataFrame]) -> dict[str, dict[str, dict[str, Evidence]]]:
    """Evidence by rule, data set and source: "printed", "rerun", and those of our learner."""
    judged: dict[str, dict[str, dict[str, Evidence]]] = {rule.__name__: {} for rule in RULES}
    for dataset in DATASETS:
        printed = Numbers.printed(dataset)
        sources = {name: Numbers.of_fits(dataset, fits) for name, fits in parts.items()}
        for rule in RULES:
            each = {"printed": printed.judge(rule)}
            for name, numbers in sources.items():
                each[name] = judge_rerun(numbers, rule) if name == "rerun" else numbers.judge(rule)
            judged[rule.__name__][dataset] = each
    return judged
