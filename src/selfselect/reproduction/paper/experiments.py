"""What results say to the paper's claims about its experiments: those of its own method first, then those of ours.

Each claim has a bar, in words and in numbers, that decides its verdict; both kinds of results meet the same one.
Numbers may be undefined: there is no induced accuracy where nobody applies, and no order where fewer than two groups
have anybody selected. A claim about such numbers alone cannot be decided, neither way; nor can one about methods that
were not run again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from ..._errors import InputError
from ..people import BUNDLED
from ..sweep.plan import SPLITS
from ..sweep.results import Result
from .claims import CORRECTED, FAILS, HOLDS, UNDECIDED, Verdict
from .promises import promises_frame
from .summary import paper_results, results_frame, standard_error, summarise

#: The methods of the paper; strat_order is ours.
PAPER_METHODS = ("naive", "semi", "strat_x", "strat_no_group", "strat_parity")
NEEDED_METHODS = (*PAPER_METHODS, "strat_order")

#: Standard errors by which a difference must be above 0 to be called so.
CLEARLY = 2.0
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
#: A social cost that is lower by so many points is mitigated.
MITIGATED = 5.0
#: Points by which accuracy on training people may be better than on test people before it counts as overfitting.
OVERFITTED = 0.5
#: Precision that may be lost between what is published and what is delivered: what training asks for beyond the cost on
#: Adult, so that a group that loses more gets less than its cost.
LOST = 0.02


#: Splits that a setting must have been run on to be judged by: fewer have no standard error to speak of.
LEAST_SPLITS = 3


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
    promised : DataFrame
        One row per fit and group that applies: what it was promised and what it got.
    """

    summary: pd.DataFrame
    fits: pd.DataFrame
    promised: pd.DataFrame

    def by_method(self, column: str) -> pd.DataFrame:
        """A column of the summary: one row per setting (data set and cost), one column per method."""
        return _by_method(self.summary, column)

    def of(self, method: str) -> pd.DataFrame:
        """Rows of the summary of one method."""
        return self.summary[self.summary["method"] == method]

    def need(self, *methods: str) -> None:
        """Without results of these methods, a claim cannot be decided."""
        missing = [name for name in methods if self.of(name).empty]
        if missing:
            raise UndecidedError(f"There is no result of {', '.join(missing)}.")

    def differences(self, method: str, other: str) -> pd.DataFrame:
        """Accuracy of a method minus that of another, in points, on splits in which somebody applies under both.

        One row per setting: mean, error (standard error) and splits. Where single fits are not known, means of methods
        are compared, and there is no error.
        """
        if not self.fits.empty:
            return _paired(self.fits, "induced_accuracy", method, other)
        accuracy = self.by_method("accuracy")
        return pd.DataFrame({"mean": (accuracy[method] - accuracy[other]).dropna(), "error": np.nan, "splits": np.nan})

    @property
    def has_order(self) -> bool:
        """Whether strat_order was run: it is ours, and has no descent."""
        return not self.of("strat_order").empty


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
    numbers.need("naive", "strat_x")
    gap = numbers.differences("naive", "strat_x")
    _defined(gap["mean"], "There is no setting in which somebody applies under both methods.")
    lower = gap["mean"] < 0
    clear = gap["mean"] > CLEARLY * gap["error"].fillna(np.inf)
    naive = numbers.of("naive")
    nobody = int((naive["splits_with_applicants"] == 0).sum())
    some = int(((naive["splits_with_applicants"] > 0) & (naive["splits_with_applicants"] < naive["splits"])).sum())
    above = "; ".join(
        f"{dataset} at {cost:g}, {_difference(row['mean'], row['error'])} on average over {row['splits']:.0f}"
        for (dataset, cost), row in gap[~lower].iterrows()
    )
    return (
        FAILS if not nobody or clear.any() else HOLDS if lower.all() else CORRECTED,
        f"Below strat_x in {int(lower.sum())} of {len(gap)} settings in which somebody applies"
        f"{f' (not: {above})' if above else ''}. Of {len(naive)} settings, nobody applies in any split of {nobody}, "
        f"and in some splits of {some} more.",
    )


def _strat_x_is_best(numbers: Numbers) -> tuple[str, str]:
    # a mean over the few splits in which somebody applied is no rival of a mean over all of them
    numbers.need(*PAPER_METHODS)
    summary = numbers.summary[numbers.summary["method"].isin(PAPER_METHODS)]
    summary = summary[summary.groupby(["dataset", "cost"])["method"].transform("nunique") == len(PAPER_METHODS)]
    whole = summary["splits_with_applicants"] == summary["splits"]
    accuracy = _by_method(summary.assign(accuracy=summary["accuracy"].where(whole)), "accuracy")[list(PAPER_METHODS)]
    behind = _defined(
        accuracy.max(axis=1) - accuracy["strat_x"],
        "There is no setting in which somebody applies under strat_x in all splits.",
    )
    error = numbers.by_method("accuracy_se")["strat_x"].reindex(behind.index)
    settings = len(accuracy)  # in which all five were run
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
    numbers.need("strat_x")
    groups = _defined(numbers.by_method("applying_groups")["strat_x"], "There is no result of strat_x.")
    low, high = ABOUT_ONE
    return (
        HOLDS if low <= groups.min() and groups.max() < high else FAILS,
        f"Average over costs: {_by_dataset(groups, 2)}; at most {groups.max():.1f}.",
    )


def _semi_does_well(numbers: Numbers) -> tuple[str, str]:
    numbers.need("semi", "strat_x")
    accuracy = numbers.by_method("accuracy")
    gap = _defined(
        accuracy["semi"] - accuracy["strat_x"], "There is no setting in which somebody applies under both methods."
    )
    return (
        HOLDS if gap.mean() < 0 and gap.max() - gap.min() > INCONSISTENT else FAILS,
        f"Against strat_x, on average {gap.mean():+.1f} points, between {gap.min():+.1f} and {gap.max():+.1f}.",
    )


def _restrictions_cost(numbers: Numbers) -> tuple[str, str]:
    numbers.need("strat_x", "strat_no_group", "strat_parity")
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
        f"({_by_dataset(parity)}), lower in {int((parity < 0).sum())} of {len(parity)}.",
    )


def _parity_gives_order(numbers: Numbers) -> tuple[str, str]:
    numbers.need("strat_parity")
    r2, parity, fits = numbers.by_method("rank_r2"), numbers.of("strat_parity"), numbers.fits
    if fits.empty:
        raise UndecidedError(
            f"Rank r² is {r2['strat_parity'].mean():.2f} on average ({_by_dataset(r2['strat_parity'], 2)}); Spearman's "
            "coefficient, which has the sign, is not printed."
        )
    spearman = numbers.by_method("spearman")
    none = "In no fit with parity do two groups have anybody selected, so that there is no order."
    parity_r2 = _defined(r2["strat_parity"], none).mean()
    parity_spearman = _defined(spearman["strat_parity"], none).mean()
    fits = fits[fits["method"] == "strat_parity"]
    evidence = (
        f"Rank r² is {parity_r2:.2f} on average (printed for these settings: "
        f"{_text(parity['paper_rank_r2'].mean(), '.2f')}), but it is blind to sign: Spearman's coefficient is "
        f"{parity_spearman:+.2f}, and the order is respected in {_respected(parity)} fits. "
        + " ".join(
            f"{whether.capitalize()} applies in {len(part)} fits: {part['train_rate'].median():.1%} of people are "
            f"selected, groups' rates are {part['rates_apart'].median():.0%} of that apart (medians), rank r² "
            f"{_text(part['rank_r2'].mean(), '.2f')}, Spearman's coefficient {_text(part['spearman'].mean(), '+.2f')}, "
            f"negative in {int((part['spearman'] < 0).sum())}."
            for whether, part in (
                ("somebody", fits[fits["applying_groups"] > 0]),
                ("nobody", fits[fits["applying_groups"] == 0]),
            )
            if len(part)
        )
    )
    if numbers.has_order:
        evidence += (
            " With equal true-positive rates as well (strat_order): "
            f"{_text(r2['strat_order'].mean(), '.2f')}, {_text(spearman['strat_order'].mean(), '+.2f')} and "
            f"{_respected(numbers.of('strat_order'))}."
        )
    return HOLDS if parity_r2 > LARGE_CORRELATION and parity_spearman > LARGE_CORRELATION else FAILS, evidence


def _respected(cells: pd.DataFrame) -> str:
    """In how many fits a higher base rate never comes with a lower precision, of those in which there is an order."""
    return f"{(cells['respected'] * cells['splits_with_order']).sum():.0f} of {cells['splits_with_order'].sum()}"


def _power_leaves_order(numbers: Numbers) -> tuple[str, str]:
    numbers.need("strat_x")
    strat = numbers.of("strat_x")
    defined, splits = int(strat["splits_with_order"].sum()), int(strat["splits"].sum())
    without = (
        f"In {splits - defined} of {splits} fits there is no order left to speak of: at most one group has anybody "
        "selected."
    )
    undefined = without + (" In the others all precisions are equal." if defined else "")
    value = _defined(numbers.by_method("spearman")["strat_x"], undefined).mean()
    spearman, r2 = numbers.by_method("spearman").mean(), numbers.by_method("rank_r2").mean()
    contrast = r2["strat_x"] < r2["strat_parity"]  # not if there is none
    return (
        FAILS if value >= LARGE_CORRELATION else HOLDS if contrast else CORRECTED,
        f"{without + ' In the others ' if defined < splits else ''}Spearman coefficients average {value:+.2f} (naive "
        f"{_text(spearman['naive'], '+.2f')}, strat_parity {_text(spearman['strat_parity'], '+.2f')}), rank r² "
        f"{_text(r2['strat_x'], '.2f')} (naive {_text(r2['naive'], '.2f')}, strat_parity "
        f"{_text(r2['strat_parity'], '.2f')}).",
    )


def _social_cost_of_power(numbers: Numbers) -> tuple[str, str]:
    numbers.need("strat_x")
    value = _defined(numbers.by_method("social_cost")["strat_x"], "Nobody is qualified, so that nobody can stay away.")
    return (
        HOLDS if value.min() > HIGH_SOCIAL_COST else FAILS,
        f"Percent of qualified people who stay away, average over costs: {_by_dataset(value)}.",
    )


def _no_group_is_kinder(numbers: Numbers) -> tuple[str, str]:
    numbers.need("naive", "strat_no_group")
    cost = numbers.by_method("social_cost").dropna(subset=["strat_no_group"])
    others = _defined(
        cost["strat_no_group"] - cost[["strat_x", "semi", "strat_parity"]].min(axis=1),
        "There is no other strategic method to compare with.",
    )
    paired = _paired(numbers.fits, "social_cost", "strat_no_group", "naive")
    kind, kinder, told = [], [], []
    for dataset in (name for name in BUNDLED if name in cost.index.get_level_values("dataset")):
        beside, naive = others[dataset].sort_index(), cost.loc[dataset, "naive"]
        kind.append(bool(beside.iloc[0] < 0))
        differences = paired.loc[dataset].sort_index()
        possible = differences[naive.reindex(differences.index) > 0]
        kinder.append(bool(len(possible) and possible["mean"].iloc[0] < 0))
        each = zip(differences.index, differences["mean"], differences["error"], strict=True)
        listed = ", ".join(f"{_difference(mean, error)} at {at:g}" for at, mean, error in each)
        told.append(
            f"{dataset}: lower than strat_x, semi and strat_parity at {_costs(beside[beside < 0])}; minus naive's "
            f"{listed}"
        )
    lowest = "; ".join(told)
    zero = int((cost["naive"] <= 0).sum())
    return (
        FAILS if not all(kind) else HOLDS if all(kinder) else CORRECTED if any(kinder) else FAILS,
        f"In points of social cost, ± the standard error of paired splits. {lowest[0].upper() + lowest[1:]}."
        + (f" Naive's is 0 in {zero} settings, and nothing can be lower." if zero else ""),
    )


def _paired(fits: pd.DataFrame, column: str, method: str, other: str) -> pd.DataFrame:
    """Mean difference of two methods on the same splits, in points, with its standard error; by data set and cost."""
    table = fits[fits["method"].isin((method, other))].pivot(  # noqa: PD010
        index=["dataset", "cost", "split"], columns="method", values=column
    )
    difference = 100 * (table[method] - table[other]).dropna()
    grouped = difference.groupby(["dataset", "cost"])
    return pd.DataFrame({"mean": grouped.mean(), "error": grouped.apply(standard_error), "splits": grouped.count()})


def _difference(mean: float, error: float) -> str:
    if pd.isna(mean):
        return "undefined"
    text = f"{round(mean, 1) + 0.0:+.1f}"
    return text if pd.isna(error) else f"{text} ±{error:.1f}"


def _costs(at: pd.Series) -> str:
    return ", ".join(f"{cost:g}" for cost in at.index) or "no cost"


def _parity_is_no_remedy(numbers: Numbers) -> tuple[str, str]:
    numbers.need("strat_parity", "strat_x")
    cost, selected, accuracy = (numbers.by_method(name) for name in ("social_cost", "selection_rate", "accuracy"))
    nobody = "Nobody is qualified, so that nobody can stay away."
    both = cost[["strat_parity", "strat_x"]].dropna()
    parity, power = (_defined(both[name], nobody).mean() for name in ("strat_parity", "strat_x"))
    evidence = f"Average over {len(both)} settings: strat_x {power:.0f}%, strat_parity {parity:.0f}%."
    if numbers.has_order:
        loss = (accuracy["strat_order"] - accuracy["strat_x"]).mean()
        evidence += (
            f" With true-positive rates close to each other as well (strat_order) it is "
            f"{_text(cost['strat_order'].mean(), '.0f')}%, at {_text(loss, '+.1f')} points of accuracy: it selects "
            f"{selected['strat_order'].mean():.1f}% of people (naive: {selected['naive'].mean():.1f}%)."
        )
    return HOLDS if parity > power - MITIGATED else FAILS, evidence


def _no_overfitting(numbers: Numbers) -> tuple[str, str]:
    fits = numbers.fits.assign(gap=100 * (numbers.fits["train_induced_accuracy"] - numbers.fits["induced_accuracy"]))
    by_method = fits.groupby("method")["gap"].mean()
    # settings of one split share their people, so that splits are what varies
    errors = fits.groupby(["method", "split"])["gap"].mean().groupby("method").apply(standard_error)
    worst = _defined(by_method, "Nobody applies in any fit, so that there is no accuracy to compare.").max()
    ran = [name for name in PAPER_METHODS if name in by_method.index]
    listed = ", ".join(f"{name} {_difference(by_method[name], errors[name])}" for name in ran)
    told, lost = _lost_precision(numbers.promised, ran)
    return (
        HOLDS if worst < OVERFITTED and lost <= LOST else FAILS,
        "Accuracy, induced, on training people minus that on test people, average in points ± standard error over "
        f"splits: {listed}. Precision that is published to a group that applies, and what test people of it get, "
        f"average: {told}.",
    )


def _lost_precision(promised: pd.DataFrame, methods: Sequence[str]) -> tuple[str, float]:
    """What is published and delivered by each method, in words, and the most that any of them loses on average."""
    whole = promised.dropna(subset=["published", "delivered"])
    nobody = promised["method"].value_counts().sub(whole["method"].value_counts(), fill_value=0)
    means = whole.groupby("method")[["published", "delivered"]].mean()
    kept = (whole["delivered"] >= whole["cost"] - ROUNDING).groupby(whole["method"]).agg(["sum", "count"])
    told = ", ".join(
        f"{name} {means.loc[name, 'published']:.3f} and {means.loc[name, 'delivered']:.3f} "
        f"({kept.loc[name, 'sum']} of {kept.loc[name, 'count']} groups get at least their cost"
        f"{f'; of {nobody[name]:.0f} more no test person passes' if nobody[name] else ''})"
        if name in means.index
        else f"{name} undefined"
        for name in methods
    )
    return told, float((means["published"] - means["delivered"]).max())


@dataclass(frozen=True)
class Claim:
    """A claim of the paper about its experiments.

    Attributes
    ----------
    text : str
        In our words.
    bar : str
        What must be so for it to hold.
    judge : callable
        Gives a verdict and its evidence.
    printed : bool
        Whether the numbers that it speaks of are in the paper's tables.
    """

    text: str
    bar: str
    judge: Callable[[Numbers], tuple[str, str]]
    printed: bool = False


#: In the order of the page.
CLAIMS = (
    Claim(
        "Naive learning is clearly suboptimal, and in some settings nobody applies at all.",
        "Below strat_x, on the splits in which somebody applies under both, in every setting that has any; and a "
        f"setting in which nobody applies. With the correction, nowhere above it by more than {CLEARLY:g} standard "
        "errors.",
        _naive_is_suboptimal,
        printed=True,
    ),
    Claim(
        "Across all settings, strat_x has the highest induced accuracy.",
        "Highest in every setting in which all five methods were run; with the correction, highest or within one of "
        "its standard errors of the highest.",
        _strat_x_is_best,
        printed=True,
    ),
    Claim(
        "Under strat_x the number of applying groups is close to one.",
        f"On average from {ABOUT_ONE[0]:g} up to below {ABOUT_ONE[1]:g} in every setting.",
        _one_group_applies,
        printed=True,
    ),
    Claim(
        "The semi-strategic learner does rather well, but inconsistently.",
        f"Below strat_x on average, by differences that vary over more than {INCONSISTENT:g} point between settings.",
        _semi_does_well,
        printed=True,
    ),
    Claim(
        "Leaving out the group reduces accuracy, and parity reduces it further.",
        "Both lower in every setting; with the correction, leaving it out lowers it on average.",
        _restrictions_cost,
        printed=True,
    ),
    Claim(
        "Parity approximately enforces the order of base rates (large rank r²).",
        f"Rank r² and Spearman's coefficient above {LARGE_CORRELATION:g} on average.",
        _parity_gives_order,
        printed=True,
    ),
    Claim(
        "The power of strat_x pushes the order of precisions away from base rates.",
        f"Spearman's coefficient below {LARGE_CORRELATION:g} on average, and rank r² below that of strat_parity, to "
        "which the paper contrasts it; with the correction, only the former.",
        _power_leaves_order,
    ),
    Claim(
        "Under strat_x the social cost is high.",
        f"Above {HIGH_SOCIAL_COST:g}% in every setting.",
        _social_cost_of_power,
    ),
    Claim(
        "At low costs strat_no_group has favourable social costs, even lower than naive.",
        "On every data set, lower than strat_x, semi and strat_parity at the lowest cost that was run, and lower than "
        "naive at the lowest cost at which naive's is above 0; with the correction, the latter on some data sets.",
        _no_group_is_kinder,
    ),
    Claim(
        "Accuracy comes at a social cost, which statistical parity does not mitigate.",
        f"Under strat_parity not more than {MITIGATED:g} points lower than under strat_x, on average.",
        _parity_is_no_remedy,
    ),
    Claim(
        "There is no evidence of overfitting (but mild, in who applies, on the bank data).",
        f"For every method, accuracy on training people less than {OVERFITTED:g} points above that on test people, and "
        f"published precision at most {LOST:g} above what is delivered, on average.",
        _no_overfitting,
    ),
)


def judge_experiments(results: Iterable[Result]) -> list[Verdict]:
    """Verdicts on the paper's claims about its experiments, from results of all our learners on the bundled data.

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
    return _judged(kept)


def judge_descents(descents: Iterable[Result]) -> list[Verdict]:
    """Verdicts on the same claims, from the paper's own method as far as it was run again.

    Parameters
    ----------
    descents : iterable of Result
        As :func:`~.summary.descent_part` gives them; see :func:`comparable` for which of them count.
    """
    return _judged(comparable(descents))


def judge_printed() -> list[Verdict]:
    """Verdicts on the same claims, from the numbers that the paper prints in its extended table."""
    printed = paper_results()
    summary = printed.rename(columns=lambda name: name.removeprefix("paper_")).assign(
        splits=SPLITS,  # in how many of "some splits" somebody applies is not printed: in one, as far as we know
        splits_with_applicants=printed["paper_applicants_in"].map(
            {"all splits": SPLITS, "some splits": 1, "no split": 0}
        ),
    )
    numbers = Numbers(summary.reset_index(), pd.DataFrame(), pd.DataFrame())
    unknown = "The paper's tables do not have these numbers."
    return [
        replace(_judge(claim, numbers) if claim.printed else Verdict(claim.text, UNDECIDED, unknown), bar=claim.bar)
        for claim in CLAIMS
    ]


def comparable(descents: Iterable[Result]) -> list[Result]:
    """Results in which methods can be compared although a run is not complete.

    Of each data set and cost, methods that were run on at least :data:`LEAST_SPLITS` splits, on the splits that all of
    these have.
    """
    kept = [result for result in descents if result.cell.dataset in BUNDLED]
    splits: dict[tuple[str, float], dict[str, set[int]]] = {}
    for result in kept:
        by_method = splits.setdefault((result.cell.dataset, result.cell.cost), {})
        by_method.setdefault(result.cell.method, set()).add(result.cell.split)
    common = {}
    for setting, by_method in splits.items():
        enough = {method: found for method, found in by_method.items() if len(found) >= LEAST_SPLITS}
        shared = set.intersection(*enough.values()) if enough else set()
        common[setting] = dict.fromkeys(enough, shared)
    return [
        result
        for result in kept
        if result.cell.split in common[result.cell.dataset, result.cell.cost].get(result.cell.method, ())
    ]


def told_comparable(descents: Iterable[Result]) -> str:
    """By which settings and splits the paper's own method is judged, in words."""
    fits = results_frame(comparable(descents))
    if fits.empty:
        return "It was not re-run."
    per_setting = fits.groupby(["dataset", "cost"]).agg(methods=("method", "nunique"), splits=("split", "nunique"))
    said = []
    for (methods, splits), part in per_setting.groupby(["methods", "splits"], sort=False):
        costs: dict[str, list[str]] = {}
        for dataset, cost in part.index:
            costs.setdefault(dataset, []).append(f"{cost:g}")
        listed = "; ".join(f"{dataset} at {', '.join(at)}" for dataset, at in costs.items())
        said.append(f"{methods} of {len(PAPER_METHODS)} methods on {splits} splits: {listed}")
    return f"It is judged by {len(fits):,} fits. {'. '.join(said)}."


def _judged(results: Sequence[Result]) -> list[Verdict]:
    if not results:
        return [Verdict(claim.text, UNDECIDED, "There is no result.", bar=claim.bar) for claim in CLAIMS]
    numbers = Numbers(summarise(results), results_frame(results), promises_frame(results))
    return [replace(_judge(claim, numbers), bar=claim.bar) for claim in CLAIMS]


def _judge(claim: Claim, numbers: Numbers) -> Verdict:
    try:
        return Verdict(claim.text, *claim.judge(numbers))
    except UndecidedError as reason:
        return Verdict(claim.text, UNDECIDED, str(reason))
