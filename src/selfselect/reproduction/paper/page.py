"""The page of the reproduction: tables, figures, verdicts and corrections, written from a store."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ..._errors import InputError
from ..._validation import FloatArray
from ..methods import PROMISING
from ..people import BUNDLED
from ..sweep.plan import COSTS, PROMISE_SPLITS, Plan
from ..sweep.results import Result
from ..sweep.store import Store
from .claims import THEORY, Verdict
from .corrections import CORRECTIONS
from .experiments import judge_descents, judge_experiments, judge_printed, told_comparable
from .figures import FIGURES, FigureRecipe
from .numbering import numbering_table
from .opening import machine_and_time, what_was_run
from .parity import parity_and_order
from .promises import has_promises, judge_promises, paper_sentence, promise_part, summarise_promises
from .splits import TITLE as SPLITS_TITLE
from .splits import compare_splits, split_part, told_by_choice, told_by_splits
from .summary import below_the_paper, descent_part, summarise, without_applicants
from .tables import render_promises, render_splits, render_table
from .unexplained import naive_on_bank, not_reproduced, told_of_naive

#: Data sets on which no setting we know of brings the naive learner near the paper's numbers.
UNEXPLAINED = ("bank_30", "bank_original")
#: Where the repository keeps results of runs that take long.
LONG_RUNS = tuple(f"docs/reproduction/{name}.csv.gz" for name in ("descent", "splits", "parity", "promises"))
#: How close groups' selection rates are kept where they are tied, and base rates that far apart are to be in order.
CLOSE = 0.02
#: Rates that differ by less are equal: rounding.
ROUNDING = 1e-9


def reproduction_page(store: Store, assets: str = "reproduction", more: Sequence[Result] = ()) -> str:
    """Page in Markdown.

    Parameters
    ----------
    store : Store
        A complete sweep of the bundled data.
    assets : str, default="reproduction"
        Folder of tables and figures, relative to the page.
    more : sequence of Result
        Runs that take long, as far as they were made: the paper's own training, other splits, experiments; and all
        of the sweep of promises, or none of it.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If results of the sweep are missing: the page never shows half a comparison.
    """
    stored = [result for result in store.results() if result.cell.dataset in BUNDLED]
    everything = [*(result for result in more if result.cell.dataset in BUNDLED), *stored]
    results = _whole(stored, Plan(), store, "no_results")
    promises = _whole(everything, Plan.promises(), store, "no_promises") if has_promises(everything) else []
    descents = descent_part(everything)
    summary = summarise(results, descents)
    bank = naive_on_bank(results, descents)
    parts = [
        _HEAD,
        _section("What was run, and how", _OPENING.format(naive=told_of_naive(bank)), what_was_run(results, descents)),
        _section("Main results", _made("tables", "main"), render_table(summary, "markdown", main=True)),
        _below(summary),
        _claims(descents, results),
        _splits(everything, assets),
        parity_and_order(everything),
        _ties(results),
        _promises(promises, descents, assets),
        _verdicts("What mathematics says to the paper's claims", THEORY),
        _section("Numbers of the paper", numbering_table()),
        _corrections(),
        not_reproduced(summary, results, descents),
        _figures(assets, with_promises=bool(promises)),
        machine_and_time(store, results, descents),
        _section(
            "Extended results",
            _made("tables", "extended") + " The same numbers unrounded, and more: "
            f"[extended.csv]({assets}/extended.csv). As LaTeX: [main.tex]({assets}/main.tex), "
            f"[extended.tex]({assets}/extended.tex).",
            render_table(summary, "markdown", main=False),
        ),
    ]
    return "\n\n".join(part.strip("\n") for part in parts if part) + "\n"


def _section(title: str, *paragraphs: str) -> str:
    return "\n\n".join([f"## {title}", *(text.strip("\n") for text in paragraphs if text)])


def _made(command: str, table: str) -> str:
    """Which command makes a table again."""
    return (
        f"Made again by `make reproduce`, or alone by `selfselect {command} --store results.sqlite --table {table} "
        f"--beside {LONG_RUNS[0]}`."
    )


def _whole(stored: Sequence[Result], plan: Plan, store: Store, key: str) -> list[Result]:
    """What a plan asks for, all of it."""
    expected = set(plan.cells())
    found = {result.cell: result for result in stored if result.cell in expected}
    missing = expected - found.keys()
    if missing:
        raise InputError(
            f"{len(missing)} of {len(expected)} results are missing, {min(missing)} for one.", key=key, path=store.path
        )
    return list(found.values())


_HEAD = """\
# The reproduction

Every table and figure of "Classification Under Strategic Self-Selection" (Horowitz, Sommer, Koren and Rosenfeld, ICML
2024), made anew, by the paper's own method and by ours. This page is written by `make reproduce` (`selfselect page`)
from results; do not edit it. Runs that take hours are made by commands of their own, and kept in the repository as
tables of counts, one row per fit, which `selfselect page --beside FILE` reads; each section names the command that
makes it again.

Methods: **naive** ignores applications; **semi** moves the threshold of a naive score; **strat_x** trains strategically
with all features, **strat_no_group** without the group's columns, **strat_parity** also with equal selection rates.
**strat_order** is ours: equal selection rates and equal true-positive rates, which is what it takes to publish
precisions in the order of base rates. People decide by what was published on training data; all accuracies are on test
data."""

_OPENING = """\
Two learners were run. The **paper's own method** is its descent with every setting of its released code: 30,000 full
gradient steps at rate .1 from several Gaussian starts, all starts of a fit as one batch; the start is kept that is best
in training. **Our learner** lowers the same objective from informed starts in seconds. Claims are judged on the former
first. [What could not be reproduced](#what-could-not-be-reproduced): strat_parity on Adult, and naive on the bank data.
{naive}"""


def _below(summary: pd.DataFrame) -> str:
    low, nobody = below_the_paper(summary), without_applicants(summary)
    bars = int(summary["paper_accuracy_se"].notna().sum())
    known = low[(low["method"] == "naive") & low["dataset"].isin(UNEXPLAINED)]
    text = (
        f"Of {bars} cells with a standard error in the paper, our learner has an accuracy below the paper's mean minus "
        f"one standard error in {len(low)} (ours taken to full precision, the paper's as printed, to one decimal)"
        f"{f', {len(known)} of them of the naive learner on the bank data' if len(known) else ''}."
        f"{f' In {len(nobody)} more nobody applies here, so that there is no accuracy.' if len(nobody) else ''}"
    )
    tables = [_low_table("our learner", "", low)]
    if "descent_accuracy" in summary.columns:
        again = summary[summary["descent_accuracy"].notna() & summary["paper_accuracy_se"].notna()]
        worse = below_the_paper(again, "descent_")
        above = again[again["descent_accuracy"] > (again["paper_accuracy"] + again["paper_accuracy_se"]).round(1)]
        text += (
            f" The paper's own method, re-run in {len(again)} of these cells, is below in {len(worse)}, and above the "
            f"mean plus one standard error in {len(above)}."
        )
        tables.insert(0, _low_table("the paper's method, re-run", "descent_", worse))
    return _section(
        "Cells below the paper", text + " From the numbers of [the extended table](#extended-results).", *tables
    )


def _low_table(title: str, whose: str, low: pd.DataFrame) -> str:
    if low.empty:
        return ""
    lines = [f"| data set | cost | method | {title} | printed | difference |", "|---|--:|---|--:|--:|--:|"]
    for row in low.to_dict("records"):
        ours, printed = row[f"{whose}accuracy"], row["paper_accuracy"]
        lines.append(
            f"| {BUNDLED[row['dataset']]} | {row['cost']:g} | {row['method']} | {ours:.2f} "
            f"±{row[f'{whose}accuracy_se']:.2f} | {printed:.1f} ±{row['paper_accuracy_se']:.1f} | "
            f"{ours - printed:+.2f} |"
        )
    return "\n".join(lines)


def _claims(descents: Sequence[Result], results: Sequence[Result]) -> str:
    """Verdicts on what is printed, on the paper's own method re-run, and on ours, by one bar."""
    lines = [
        "| claim | bar: it holds if | the numbers that the paper prints | its own method, re-run | our learner |",
        "|---|---|---|---|---|",
    ]
    for verdicts in zip(judge_printed(), judge_descents(descents), judge_experiments(results), strict=True):
        judged = " | ".join(f"**{verdict.verdict}**: {verdict.evidence}" for verdict in verdicts)
        lines.append(f"| {verdicts[-1].claim} | {verdicts[-1].bar} | {judged} |")
    told = (
        "All three meet the same bar. A setting is a data set and a cost. What is printed are averages of "
        f"{len(BUNDLED) * len(COSTS)} settings. The paper's own method is judged by the settings in which it was "
        f"re-run, on the splits that all methods there have. {told_comparable(descents)} Made again by `make "
        "reproduce`, after `make reproduce-descent` for the paper's method."
    )
    return _section("What the experiments say to the paper's claims", told, "\n".join(lines))


def _splits(results: Sequence[Result], assets: str) -> str:
    """Later splits beside those that constants were chosen on."""
    table = compare_splits(split_part(results))
    if table.empty:
        return _section(SPLITS_TITLE, "Not run yet: `make reproduce-splits`.")
    said = " ".join(filter(None, [told_by_splits(table), told_by_choice(split_part(results))]))
    return _section(
        SPLITS_TITLE,
        f"{said} Made by `make reproduce-splits`; all numbers: [splits.csv]({assets}/splits.csv).",
        render_splits(table, "markdown"),
    )


def ordered_beyond(base_rate: FloatArray, precision: FloatArray, margin: float = CLOSE) -> bool:
    """Whether precision follows base rates for every pair of groups whose base rates differ by more than a margin.

    Examples
    --------
    >>> ordered_beyond(np.array([0.2, 0.21, 0.5]), np.array([0.7, 0.6, 0.8]))
    True
    """
    apart = base_rate[:, None] > base_rate[None, :] + margin
    return bool((precision[:, None] >= precision[None, :])[apart].all())  # NaN is in no order


def _ties_row(method: str, dataset: str, fits: Sequence[Result]) -> str:
    applied = close = 0
    ordered = dict.fromkeys(sorted({fit.cell.cost for fit in fits}), 0)
    for fit in fits:
        counts = fit.published.counts
        applied += bool(fit.train_metrics["applying_groups"])
        close += bool(np.ptp(counts.selection_rate) <= CLOSE + ROUNDING)
        ordered[fit.cell.cost] += ordered_beyond(counts.base_rate, counts.precision)
    splits = len(fits) // max(len(ordered), 1)
    least = f"{min(ordered.values())} of {splits}" if method == "strat_order" else "not asked for"
    return f"| {BUNDLED[dataset]} | {method} | {applied} of {len(fits)} | {close} of {len(fits)} | {least} |"


def _ties(results: Sequence[Result]) -> str:
    """Whether groups' rates are as close, and precisions as ordered, as training asked for."""
    rows = [
        _ties_row(method, dataset, [r for r in results if (r.cell.method, r.cell.dataset) == (method, dataset)])
        for method in ("strat_parity", "strat_order")
        for dataset in BUNDLED
    ]
    return "\n".join(
        [
            "## Groups tied to each other",
            "",
            "Our learner, from the store of `make reproduce`. On training people: fits in which somebody applies; in "
            "which selection rates of all groups are within .02 of each other; and, for the cost at which this holds "
            "least often, splits in which precision follows base rates for every pair of groups whose base rates "
            "differ by more than .02.",
            "",
            "| data set | method | somebody applies | rates within .02 | in order, at the worst cost |",
            "|---|---|--:|--:|--:|",
            *rows,
        ]
    )


def _promises(results: Sequence[Result], descents: Sequence[Result], assets: str) -> str:
    """What was promised and what new people got."""
    title = "Promised and delivered"
    if not results:
        return _section(title, "Not run yet: `make reproduce-promises`.")
    summary = summarise_promises(promise_part(results))
    minutes = sum(result.seconds for result in results) / 60
    figure = next(recipe for recipe in FIGURES.values() if recipe.needs_promises)
    parts = [
        f"## {title}",
        "People apply because of a published precision. Published on the very people that a classifier was fitted to, "
        "as in the paper, it is better than what new people get. **Honest** methods publish, and choose everything, on "
        'people that the score had not seen (`publish="cross_fit"`), and count a group as applying only if that is '
        "sure to reach its cost; otherwise they are as the package has them by default. **thresholds** puts a "
        "threshold per group on the score of a logistic regression, of gradient boosting, or of the better of both. "
        f"Splits {PROMISE_SPLITS.start} to {PROMISE_SPLITS.stop - 1}, which are not those of the other tables: "
        f"{len(results):,} fits of {len(PROMISING)} methods, by `make reproduce-promises`, {minutes:.0f} minutes if "
        "added up.",
        paper_sentence(summary, descents),
        _figure(figure, assets),
        render_promises(summary, "markdown"),
        f"All numbers, with what was published, social cost and splits in which nobody applies: "
        f"[promises.csv]({assets}/promises.csv).",
        _verdicts("What the honest methods keep", judge_promises(summary), level=3),
    ]
    return "\n\n".join(part.strip("\n") for part in parts)


def _link(test: str) -> str:
    file, _, name = test.partition("::")
    return f"[{name.removeprefix('test_').replace('_', ' ')}](../tests/{file})"


def _verdicts(title: str, verdicts: Sequence[Verdict], level: int = 2) -> str:
    lines = [f"{'#' * level} {title}", "", "| claim | verdict | evidence |", "|---|---|---|"]
    for verdict in verdicts:
        evidence = verdict.evidence + (f" Test: {_link(verdict.test)}." if verdict.test else "")
        lines.append(f"| {verdict.claim} | **{verdict.verdict}** | {evidence} |")
    return "\n".join(lines)


def _corrections() -> str:
    lines = [
        "## Corrections",
        "",
        "What is done differently from the paper or its code, and the test that shows why (`make test`).",
        "",
    ]
    lines += [f"- {correction.what} Test: {_link(correction.test)}." for correction in CORRECTIONS]
    return "\n".join(lines)


def _figures(assets: str, *, with_promises: bool) -> str:
    elsewhere = next(recipe.number for recipe in FIGURES.values() if recipe.needs_promises)
    shown = [recipe for recipe in FIGURES.values() if not recipe.needs_promises]
    how = "`selfselect figures --store results.sqlite --out docs/reproduction`"
    lines = ["## Figures", f"Each as SVG, PNG and CSV of its data, by {how}."]
    lines[1] += f" Figure {elsewhere} is with what is promised and delivered." if with_promises else ""
    return "\n\n".join([*lines, *(_figure(recipe, assets) for recipe in shown)])


def _figure(recipe: FigureRecipe, assets: str) -> str:
    stem = f"{assets}/{recipe.stem}"
    return (
        f"**Figure {recipe.number}.** {recipe.caption} ([SVG]({stem}.svg), [data]({stem}.csv))\n\n"
        f"![{recipe.caption}]({stem}.png)"
    )
