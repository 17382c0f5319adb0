"""What our results say to the paper's claims about its experiments.

Numbers may be undefined: there is no induced accuracy where nobody applies, and no order where fewer than two groups
have anybody selected. A claim about such numbers alone cannot be decided, neither way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import pandas as pd

from ..._errors import InputError
from ..people import BUNDLED
from ..sweep.results import Result
from .claims import CORRECTED, FAILS, HOLDS, UNDECIDED, Verdict
from .summary import results_frame, summarise

#: The methods of the paper; strat_order is ours.
PAPER_METHODS = ("naive", "semi", "strat_x", "strat_no_group", "strat_parity")
NEEDED_METHODS = (*PAPER_METHODS, "strat_order")

#: Accuracies that differ by less, in points, are equal: rounding.
ROUNDING = 1e-9
#: An average number of groups from the first up to below the second is close to one.
ABOUT_ONE = (0.5, 2.0)
#: Points of accuracy by which what is inconsistent varies from setting to setting.
INCONSISTENT = 1.0
#: Rank r² and correlations above are large.
LARGE_CORRELATION = 0.5
#: Percent of the qualified who stay away, above which the social cost is high.
HIGH_SOCIAL_COST = 50.0
#: The largest of the costs that are called low.
LOW_COST = 0.7
#: A social cost that is lower by so many points is mitigated.
MITIGATED = 5.0
#: Points by which training may be better than test before it counts as overfitting.
OVERFITTED = 0.5


class UndecidedError(Exception):
    """The numbers that a claim speaks of are undefined; the message says why."""


@dataclass(frozen=True, eq=False)
class Numbers:
    """What claims are judged by.

    Attributes
    ----------
    summary : DataFrame
        One row per data set, cost and method.
    fits : DataFrame
        One row per fit.
    """

    summary: pd.DataFrame
    fits: pd.DataFrame

    def by_method(self, column: str) -> pd.DataFrame:
        """A column of the summary: one row per setting (data set and cost), one column per method."""
        return _by_method(self.summary, column)

    def of(self, method: str) -> pd.DataFrame:
        """Rows of the summary of one method."""
        return self.summary[self.summary["method"] == method]


def _by_method(summary: pd.DataFrame, column: str) -> pd.DataFrame:
    # pivot_table leaves out what is undefined everywhere, or else invents settings
    table = summary.pivot(index=["dataset", "cost"], columns="method", values=column)  # noqa: PD010
    return table.reindex(columns=list(NEEDED_METHODS))


def _defined(values: pd.Series, otherwise: str) -> pd.Series:
    """Those of some numbers that are defined; without any, the claim cannot be decided, for the reason given."""
    known = values.dropna()
    if known.empty:
        raise UndecidedError(otherwise)
    return known


def _text(value: float, form: str) -> str:
    return "undefined" if pd.isna(value) else format(value, form)


def _by_dataset(values: pd.Series, digits: int = 1) -> str:
    """Averages over costs, per data set."""
    means = values.groupby("dataset", sort=False).mean()
    return ", ".join(f"{name} {means[name]:.{digits}f}" for name in BUNDLED if name in means.index)


def _naive_is_suboptimal(numbers: Numbers) -> tuple[str, str]:
    accuracy = numbers.by_method("accuracy")
    gap = _defined(
        accuracy["naive"] - accuracy["strat_x"], "There is no setting in which somebody applies under both methods."
    )
    lower = int((gap < 0).sum())
    naive = numbers.of("naive")
    nobody = int((naive["splits_with_applicants"] == 0).sum())
    some = int(((naive["splits_with_applicants"] > 0) & (naive["splits_with_applicants"] < naive["splits"])).sum())
    return (
        HOLDS if lower == len(gap) and nobody else FAILS,
        f"Below strat_x in {lower} of {len(gap)} settings in which somebody applies. Of {len(naive)} settings, nobody "
        f"applies in any split of {nobody}, and in some splits of {some} more.",
    )


def _strat_x_is_best(numbers: Numbers) -> tuple[str, str]:
    # a mean over the few splits in which somebody applied is no rival of a mean over all of them
    summary = numbers.summary
    whole = summary["splits_with_applicants"] == summary["splits"]
    accuracy = _by_method(summary.assign(accuracy=summary["accuracy"].where(whole)), "accuracy")[list(PAPER_METHODS)]
    behind = _defined(
        accuracy.max(axis=1) - accuracy["strat_x"],
        "There is no setting in which somebody applies under strat_x in all splits.",
    )
    error = numbers.by_method("accuracy_se")["strat_x"].reindex(behind.index)
    settings = len(accuracy)
    first = behind <= ROUNDING
    near = first | (behind <= error)
    unknown = settings - len(behind) + int((~near & error.isna()).sum())
    evidence = (
        f"Highest of the paper's five methods in {first.sum()} of {settings} settings, highest or within one standard "
        f"error of it in {near.sum()}; at most {behind.max():.2f} points below the best (methods for which somebody "
        "applies in all splits)."
    )
    if (~near & error.notna()).any():
        return FAILS, evidence
    if unknown:  # nothing speaks against it
        raise UndecidedError(
            f"{evidence} In {unknown} settings nobody applies under strat_x in some splits, or one split has no "
            "standard error."
        )
    return (HOLDS if first.all() else CORRECTED), evidence


def _one_group_applies(numbers: Numbers) -> tuple[str, str]:
    groups = _defined(numbers.by_method("applying_groups")["strat_x"], "There is no result of strat_x.")
    low, high = ABOUT_ONE
    return (
        HOLDS if low <= groups.min() and groups.max() < high else FAILS,
        f"Average over costs: {_by_dataset(groups, 2)}; at most {groups.max():.1f}.",
    )


def _semi_does_well(numbers: Numbers) -> tuple[str, str]:
    accuracy = numbers.by_method("accuracy")
    gap = _defined(
        accuracy["semi"] - accuracy["strat_x"], "There is no setting in which somebody applies under both methods."
    )
    return (
        HOLDS if gap.mean() < 0 and gap.max() - gap.min() > INCONSISTENT else FAILS,
        f"Against strat_x, on average {gap.mean():+.1f} points, between {gap.min():+.1f} and {gap.max():+.1f}.",
    )


def _restrictions_cost(numbers: Numbers) -> tuple[str, str]:
    accuracy = numbers.by_method("accuracy")
    without = _defined(
        accuracy["strat_no_group"] - accuracy["strat_x"],
        "There is no setting in which somebody applies both with the group's columns and without.",
    )
    parity = _defined(
        accuracy["strat_parity"] - accuracy["strat_no_group"],
        "There is no setting in which somebody applies both with parity and without.",
    )
    everywhere = (without <= 0).all() and (parity <= 0).all() and without.mean() < 0 and parity.mean() < 0
    return (
        HOLDS if everywhere else CORRECTED if without.mean() < 0 else FAILS,
        f"Leaving it out: {without.mean():+.1f} points on average, lower in {int((without < 0).sum())} of "
        f"{len(without)} settings. Parity on top: {round(parity.mean(), 1) + 0.0:+.1f} points on average "
        f"({_by_dataset(parity)}), lower in {int((parity < 0).sum())} of {len(parity)}: a classifier that selects few "
        "people of all groups alike can be precise too.",
    )


def _parity_gives_order(numbers: Numbers) -> tuple[str, str]:
    none = "In no fit with parity do two groups have anybody selected, so that there is no order."
    r2, spearman = numbers.by_method("rank_r2"), numbers.by_method("spearman")
    parity_r2 = _defined(r2["strat_parity"], none).mean()
    parity_spearman = _defined(spearman["strat_parity"], none).mean()
    paper = numbers.by_method("paper_rank_r2")["strat_parity"].mean()
    parity, ours = numbers.of("strat_parity"), numbers.of("strat_order")
    respected, kept = ((part["respected"] * part["splits_with_order"]).sum() for part in (parity, ours))
    return (
        HOLDS if parity_r2 > LARGE_CORRELATION and parity_spearman > LARGE_CORRELATION else FAILS,
        f"With selection rates within .02 of each other, rank r² is {parity_r2:.2f} on average (the paper: "
        f"{_text(paper, '.2f')}) and Spearman's coefficient {parity_spearman:+.2f}; the order is respected in "
        f"{respected:.0f} of {parity['splits_with_order'].sum()} fits. With equal true-positive rates as well "
        f"(strat_order): {_text(r2['strat_order'].mean(), '.2f')}, {_text(spearman['strat_order'].mean(), '+.2f')} and "
        f"{kept:.0f} of {ours['splits_with_order'].sum()}. Parity is not what orders groups; the paper's larger "
        "numbers are not explained by it.",
    )


def _power_leaves_order(numbers: Numbers) -> tuple[str, str]:
    strat = numbers.of("strat_x")
    defined, splits = int(strat["splits_with_order"].sum()), int(strat["splits"].sum())
    without = (
        f"In {splits - defined} of {splits} fits there is no order left to speak of: at most one group has anybody "
        "selected."
    )
    undefined = without + (" In the others all precisions are equal." if defined else "")
    value = _defined(numbers.by_method("spearman")["strat_x"], undefined).mean()
    return (
        FAILS if value >= LARGE_CORRELATION else HOLDS,
        f"{without} In the others Spearman coefficients average {value:+.2f}.",
    )


def _social_cost_of_power(numbers: Numbers) -> tuple[str, str]:
    value = _defined(numbers.by_method("social_cost")["strat_x"], "Nobody is qualified, so that nobody can stay away.")
    return (
        HOLDS if value.min() > HIGH_SOCIAL_COST else FAILS,
        f"Percent of qualified people who stay away, average over costs: {_by_dataset(value)}.",
    )


def _no_group_is_kinder(numbers: Numbers) -> tuple[str, str]:
    cost = numbers.by_method("social_cost")
    low = cost[cost.index.get_level_values("cost") <= LOW_COST]
    nothing = f"There is no result at a cost of up to {LOW_COST:g}."
    others = _defined(low["strat_no_group"] - low[["strat_x", "semi", "strat_parity"]].min(axis=1), nothing)
    naive = _defined(low["strat_no_group"] - low["naive"], nothing)
    kind, than_naive = int((others < 0).sum()), int((naive < 0).sum())
    return (
        HOLDS if kind == len(others) and than_naive == len(naive) else FAILS,
        f"For c up to .7: lower than strat_x, semi and strat_parity in {kind} of {len(others)} settings, but lower "
        f"than naive in {than_naive} only.",
    )


def _parity_is_no_remedy(numbers: Numbers) -> tuple[str, str]:
    cost, selected, accuracy = (numbers.by_method(name) for name in ("social_cost", "selection_rate", "accuracy"))
    nobody = "Nobody is qualified, so that nobody can stay away."
    parity, power = (_defined(cost[name], nobody).mean() for name in ("strat_parity", "strat_x"))
    loss = (accuracy["strat_order"] - accuracy["strat_x"]).mean()
    return (
        HOLDS if parity > power - MITIGATED else FAILS,
        f"Average over all settings: strat_x {power:.0f}%, strat_parity {parity:.0f}%. With true-positive rates within "
        f".05 of each other as well (strat_order) it is {_text(cost['strat_order'].mean(), '.0f')}%, at "
        f"{_text(loss, '+.1f')} points of accuracy: it selects only {selected['strat_order'].mean():.1f}% of people "
        f"(naive: {selected['naive'].mean():.1f}%), so few that the tolerances leave room for high precision in every "
        "group.",
    )


def _no_overfitting(numbers: Numbers) -> tuple[str, str]:
    gap = 100 * (numbers.fits["train_induced_accuracy"] - numbers.fits["induced_accuracy"])
    by_method = gap.groupby(numbers.fits["method"]).mean()
    worst = _defined(by_method, "Nobody applies in any fit, so that there is no accuracy to compare.").max()
    listed = ", ".join(f"{name} {_text(by_method[name], '+.1f')}" for name in PAPER_METHODS)
    return (
        HOLDS if worst < OVERFITTED else FAILS,
        f"Induced accuracy on training people minus that on test people, average in points, of our fits: {listed}.",
    )


#: Claims and who judges them, in the order of the page; each gives a verdict and its evidence.
_EXPERIMENTS: dict[str, Callable[[Numbers], tuple[str, str]]] = {
    "Naive learning is clearly suboptimal, and in some settings nobody applies at all.": _naive_is_suboptimal,
    "Across all settings, strat_x has the highest induced accuracy.": _strat_x_is_best,
    "Under strat_x the number of applying groups is close to one.": _one_group_applies,
    "The semi-strategic learner does rather well, but inconsistently.": _semi_does_well,
    "Leaving out the group reduces accuracy, and parity reduces it further.": _restrictions_cost,
    "Parity approximately enforces the order of base rates (large rank r²).": _parity_gives_order,
    "The power of strat_x pushes the order of precisions away from base rates.": _power_leaves_order,
    "Under strat_x the social cost is high.": _social_cost_of_power,
    "At low costs strat_no_group has favourable social costs, even lower than naive.": _no_group_is_kinder,
    "Accuracy comes at a social cost, which statistical parity does not mitigate.": _parity_is_no_remedy,
    "There is no evidence of overfitting.": _no_overfitting,
}


def judge_experiments(results: Iterable[Result]) -> list[Verdict]:
    """Verdicts on the paper's claims about its experiments, from results of all methods on the bundled data.

    Raises
    ------
    ValueError
        If results of a method are missing.
    """
    kept = [result for result in results if result.cell.dataset in BUNDLED]
    missing = set(NEEDED_METHODS) - {result.cell.method for result in kept}
    if missing:
        raise InputError(
            f"There is no result of {', '.join(sorted(missing))}; claims need all methods.", key="no_results"
        )
    numbers = Numbers(summarise(kept), results_frame(kept))
    return [_judge(claim, judge, numbers) for claim, judge in _EXPERIMENTS.items()]


def _judge(claim: str, judge: Callable[[Numbers], tuple[str, str]], numbers: Numbers) -> Verdict:
    try:
        return Verdict(claim, *judge(numbers))
    except UndecidedError as reason:
        return Verdict(claim, UNDECIDED, str(reason))
