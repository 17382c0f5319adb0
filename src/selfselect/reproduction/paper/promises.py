"""What methods promised and what new people got: numbers, one sentence on the paper, and verdicts.

The promise to a group that applies is that it does not lose by trusting the published number: of its people who pass,
at least a share as large as the cost is qualified. It is broken, as far as test people can tell, where so few hits
would come in less than 5% of samples if it were kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import binom, binomtest

from ..._errors import InputError
from ...auditing.promises import RARE
from ..methods import HONEST_METHODS, METHODS, PROMISING, TOLERANCE
from ..people import BUNDLED, TEST_SHARE
from ..sweep.plan import SPLITS
from ..sweep.results import Result
from .claims import FAILS, HOLDS, UNDECIDED, Verdict
from .summary import order_of_datasets, paper_results, standard_error

#: The share of promises that may be broken.
MAY_BREAK = 0.1
#: Costs from here on are called high.
HIGH_COST = 0.75
#: The paper's methods whose accuracies at high costs are its main result.
STRATEGIC = ("strat_x", "strat_no_group")
#: Precisions that differ by less are equal: rounding.
ROUNDING = 1e-9


def has_promises(results: Iterable[Result]) -> bool:
    """Whether there is any result of a method that publishes honestly."""
    return any(result.cell.method in HONEST_METHODS for result in results)


def _compared_splits(results: Iterable[Result]) -> set[tuple[str, int]]:
    """Data sets and splits on which there is any honest method."""
    return {(r.cell.dataset, r.cell.split) for r in results if r.cell.method in HONEST_METHODS}


def paper_part(results: Sequence[Result]) -> list[Result]:
    """Results of the paper's own comparison: not those of splits on which promises are compared, nor of later ones.

    Where a bundled data set has none of the paper's splits, it is shown on those that it has.
    """
    others = _compared_splits(results)
    own = [r for r in results if r.cell.method in METHODS and (r.cell.dataset, r.cell.split) not in others]
    first = {r.cell.dataset for r in own if r.cell.dataset in BUNDLED and r.cell.split < SPLITS}
    return [r for r in own if r.cell.split < SPLITS or r.cell.dataset not in first]


def promise_part(results: Sequence[Result]) -> list[Result]:
    """Results of the splits on which promises are compared: honest methods, and the paper's beside them."""
    ours = _compared_splits(results)
    found = {r.cell: r for r in results if r.cell.method in PROMISING and (r.cell.dataset, r.cell.split) in ours}
    return list(found.values())  # each once, although it may be in the store and beside it


def promises_frame(results: Iterable[Result]) -> pd.DataFrame:
    """One row per promise, that is per fit and group that applies.

    Returns
    -------
    DataFrame
        dataset, method, cost, split, group; published_selected, published_true_positives and published (their share);
        delivered_selected, delivered_true_positives and delivered (NaN if nobody of the group passes among test
        people); broken.
    """
    rows = [row for result in results for row in _promise_rows(result)]
    columns = "dataset method cost split group published_selected published_true_positives published "
    columns += "delivered_selected delivered_true_positives delivered broken"
    return pd.DataFrame(rows, columns=columns.split())


def _promise_rows(result: Result) -> Iterable[tuple[Any, ...]]:
    told, new, broken = result.published.counts, result.population.counts, result.broken
    for i in np.flatnonzero(result.applies):
        yield (
            *result.cell.key,
            result.groups[i],
            told.selected[i],
            told.true_positives[i],
            told.precision[i],
            new.selected[i],
            new.true_positives[i],
            new.precision[i],
            broken[i],
        )


def summarise_promises(results: Sequence[Result]) -> pd.DataFrame:
    """What the splits come to; one row per data set, method and cost.

    Parameters
    ----------
    results : sequence of Result
        Of methods that are compared by what they promise; see :func:`promise_part`.

    Returns
    -------
    DataFrame
        dataset, method, cost; splits and nobody (splits in which no group applies); accuracy (induced, percent, over
        splits with applicants) and accuracy_se; social_cost and application_rate (percent); promises (groups that
        apply, over all splits); published (mean over promises), delivered (pooled: of all people who pass, the share
        that is qualified) and delivered_mean (over promises); kept (promises with delivered >= cost), broken (see the
        module), broken_share and p_value (of so many broken ones or more, if one in ten is); selected and
        true_positives (pooled, of test people). Undefined is NaN.
    """
    if not results:
        raise InputError("There is no result of what is promised and delivered.", key="no_promises")
    made = dict(list(promises_frame(results).groupby(["dataset", "method", "cost"])))
    fits: dict[tuple[str, str, float], list[Result]] = {}
    for result in results:
        fits.setdefault((result.cell.dataset, result.cell.method, result.cell.cost), []).append(result)
    none = promises_frame([])
    summary = pd.DataFrame(
        [
            {"dataset": key[0], "method": key[1], "cost": key[2], **_outcomes(part), **_kept(made.get(key, none))}
            for key, part in fits.items()
        ]
    )
    places = order_of_datasets(summary["dataset"])
    methods = {name: place for place, name in enumerate(PROMISING)}
    order = np.lexsort((summary["cost"], summary["method"].map(methods), summary["dataset"].map(places)))
    return summary.iloc[order].reset_index(drop=True)


def _outcomes(fits: Sequence[Result]) -> dict[str, Any]:
    def percent(name: str) -> pd.Series:
        return 100 * pd.Series([fit.test_metrics[name] for fit in fits], dtype=float)

    accuracy = percent("induced_accuracy")
    return {
        "splits": len(fits),
        "nobody": int(accuracy.isna().sum()),
        "accuracy": accuracy.mean(),
        "accuracy_se": standard_error(accuracy.dropna()),
        "social_cost": percent("social_cost").mean(),
        "application_rate": percent("application_rate").mean(),
    }


def _kept(made: pd.DataFrame) -> dict[str, Any]:
    n, broken = len(made), int(made["broken"].sum())
    selected, hits = made["delivered_selected"].sum(), made["delivered_true_positives"].sum()
    return {
        "promises": n,
        "published": made["published"].mean() if n else np.nan,
        "delivered": hits / selected if selected else np.nan,
        "delivered_mean": made["delivered"].mean() if n else np.nan,
        "kept": int((made["delivered"] >= made["cost"] - ROUNDING).sum()),
        "broken": broken,
        "broken_share": broken / n if n else np.nan,
        "p_value": binomtest(broken, n, MAY_BREAK, alternative="greater").pvalue if n else np.nan,
        "selected": selected,
        "true_positives": hits,
    }


def breaks_too_many(summary: pd.DataFrame) -> pd.Series:
    """Whether more than one promise in ten is broken, by a binomial test; False where none is made."""
    return summary["p_value"] < RARE


def falls_short(summary: pd.DataFrame) -> pd.Series:
    """Whether new people get less than the cost that they were promised, by more than chance explains.

    Of several splits everybody is among the test people of some. So the pooled counts are divided by how often, before
    the binomial probability of so few hits is taken.
    """
    times = np.maximum(summary["splits"].to_numpy() * TEST_SHARE, 1.0)
    passed = np.ceil(summary["selected"].to_numpy(dtype=float) / times)
    hits = np.floor(summary["true_positives"].to_numpy(dtype=float) / times)
    chance = binom.cdf(hits, passed, summary["cost"].to_numpy())
    return pd.Series((passed > 0) & (chance < RARE), index=summary.index)


# ---------------------------------------------------------------------- in words


def paper_sentence(summary: pd.DataFrame, descents: Sequence[Result] = ()) -> str:
    """What the numbers say about the paper's accuracies at high costs: what they rest on, by data set.

    Parameters
    ----------
    summary : DataFrame
        Of our learners, from :func:`summarise_promises`.
    descents : sequence of Result
        Of the paper's own training, as far as it was run again.
    """
    bad, good = told_at_high_costs(summary)
    if not bad and not good:
        return f"At costs from {HIGH_COST:g} on, the paper's strategic methods promise nothing: nobody applies."
    methods = " and ".join(STRATEGIC)
    if not bad:
        return (
            f"At costs from {HIGH_COST:g} on, the promises that {methods} make, published on training data, are not "
            f"shown to fail in most cells: {'; '.join(good)}."
        )
    again = [r for r in descents if r.cell.cost >= HIGH_COST and r.cell.method in STRATEGIC]
    text = (
        "**The paper's accuracies at high costs rest on promises that new people do not get.** Published on training "
        f"data, as in the paper, at costs from {HIGH_COST:g} on ({methods})."
    )
    if again:
        broken, kept = told_at_high_costs(summarise_promises(again))
        text += f" By its own method, re-run: {'; '.join([*broken, *kept])}."
    text += f" By our learner, whose margin over the cost is {TOLERANCE:g} on all data: {'; '.join(bad)}."
    return text + (f" Not so, or not so clearly, elsewhere: {'; '.join(good)}." if good else "")


def told_at_high_costs(summary: pd.DataFrame) -> tuple[list[str], list[str]]:
    """What the paper's strategic methods publish and deliver at high costs, in words, a clause per data set.

    Returns
    -------
    bad, good : lists of str
        Data sets in most cells of which new people get less than their cost, by more than chance; and the others.
    """
    high = summary[(summary["cost"] >= HIGH_COST) & summary["method"].isin(STRATEGIC) & (summary["promises"] > 0)]
    short = falls_short(high)
    bad: list[str] = []
    good: list[str] = []
    for _, part in high.groupby("dataset", sort=False):
        here = short[part.index]
        (bad if here.mean() > 0.5 else good).append(_told(part, here))
    return bad, good


def _told(cells: pd.DataFrame, short: pd.Series) -> str:
    """Numbers of the cells of one data set."""
    dataset = str(cells["dataset"].iloc[0])
    weights = cells["promises"]
    published = float(np.average(cells["published"], weights=weights))
    delivered = cells["true_positives"].sum() / max(cells["selected"].sum(), 1)
    low, high = cells["cost"].min(), cells["cost"].max()
    needed = f"{low:g}" if low == high else f"{low:g} to {high:g}"
    return (
        f"on {BUNDLED.get(dataset, dataset)} a precision of {published:.2f} is published on average and "
        f"{delivered:.2f} delivered, where {needed} would be needed (below "
        f"the cost, by more than chance, in {int(short.sum())} of {len(cells)} cells; {int(cells['kept'].sum())} of "
        f"{int(weights.sum())} groups that came got what their cost asks for)"
    )


def judge_promises(summary: pd.DataFrame) -> list[Verdict]:
    """Verdicts on what is asked of honest methods; that on the paper's accuracies, where there are results of Adult."""
    honest = summary[summary["method"].isin(HONEST_METHODS)]
    verdicts = [_few_are_broken(honest)]
    return [*verdicts, _above_the_paper(honest)] if (honest["dataset"] == "adult").any() else verdicts


def _few_are_broken(honest: pd.DataFrame) -> Verdict:
    claim = "Honest defaults break at most one promise in ten in every cell, or nobody applies."
    made = honest[honest["promises"] > 0]
    if made.empty:
        return Verdict(claim, UNDECIDED, "Nobody applies anywhere.")
    bad = made[breaks_too_many(made)]
    total, broken = int(made["promises"].sum()), int(made["broken"].sum())
    evidence = (
        f"{broken} of {total} promises ({broken / total:.1%}) in {len(made)} cells; in {len(honest) - len(made)} more "
        f"nobody applies. By a binomial test at {RARE:g}, more than one in ten in {len(bad)} cells"
    )
    listed = "; ".join(
        f"{BUNDLED.get(row.dataset, row.dataset)}, {row.method}, c = {row.cost:g}: {row.broken} of {row.promises}"
        for row in bad.itertuples()
    )
    return Verdict(claim, FAILS if len(bad) else HOLDS, f"{evidence}: {listed}." if listed else f"{evidence}.")


def _above_the_paper(honest: pd.DataFrame) -> Verdict:
    claim = "On Adult the best honest method is above the accuracy that the paper prints for strat_x, at every cost."
    adult = honest[honest["dataset"] == "adult"]
    # an accuracy that is there in some splits only is no match for one that is there in all
    whole = adult.assign(accuracy=adult["accuracy"].where(adult["nobody"] == 0))
    # pivot_table leaves out what is undefined everywhere
    table = whole.pivot(index="cost", columns="method", values="accuracy")  # noqa: PD010
    printed = paper_results().reset_index()
    printed = printed[(printed["dataset"] == "adult") & (printed["method"] == "strat_x")]
    paper = printed.set_index("cost")["paper_accuracy"].dropna()
    table = table.reindex(paper.index).dropna(axis="columns")
    if table.empty or not len(table.columns):
        return Verdict(claim, UNDECIDED, "No honest method has applicants in every split at every cost.")
    best = str(table.mean().idxmax())
    pairs = ", ".join(f"{ours:.1f} ({theirs:.1f})" for ours, theirs in zip(table[best], paper, strict=True))
    above = bool((table[best] > paper).all())
    return Verdict(claim, HOLDS if above else FAILS, f"{best}, and in parentheses the paper's strat_x: {pairs}.")
