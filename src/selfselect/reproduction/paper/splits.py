"""The same methods on later splits, beside those that constants were chosen on.

Constants of our learners were chosen while looking at splits 0 to 9. Splits of different blocks cannot be paired, so
differences between blocks have the standard errors of both; within a split, methods can be, and what a split is like
then cancels: each method is set against semi, which has no constant to choose.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..choosing import FOLDS
from ..methods import CHOSEN_METHODS, METHODS, TOLERANCE, TOLERANCES
from ..people import BUNDLED
from ..sweep.plan import COSTS
from ..sweep.results import Result
from .layout import Grid, GridRow
from .summary import order_of_datasets, results_frame, standard_error

#: Methods that are compared, in order.
COMPARED = {**METHODS, **CHOSEN_METHODS}
#: What training data choose a margin for, and what has the same margin everywhere.
CHOSEN, FIXED = "strat_no_group_chosen", "strat_no_group"
#: What the comparison is called.
TITLE = "Splits that constants were not chosen on"
#: How strat_parity trains was changed after its results on the second block had been on the page.
LOOKED_AT_BEFORE = "strat_parity"
#: Blocks of splits: those that were looked at when constants were chosen, and those that were not.
BLOCKS = (range(10), range(10, 30), range(30, 50))
#: The method that the others are set against, split by split.
YARDSTICK = "semi"
#: Standard errors by which a number must differ from one block to the next to be called different.
CLEARLY = 2.0


def block_name(block: range) -> str:
    """What a block is called.

    Examples
    --------
    >>> block_name(range(10, 30))
    '10 to 29'
    """
    return f"{block.start} to {block.stop - 1}"


def split_part(results: Iterable[Result]) -> list[Result]:
    """Results of our learners on the bundled data and the paper's costs, on splits of any block, each once."""
    found = {
        result.cell: result
        for result in results
        if result.cell.method in COMPARED and result.cell.dataset in BUNDLED and result.cell.cost in COSTS
    }
    return list(found.values())


def compare_splits(results: Sequence[Result]) -> pd.DataFrame:
    """Accuracies of our learners by block of splits.

    Parameters
    ----------
    results : sequence of Result
        See :func:`split_part`.

    Returns
    -------
    DataFrame
        One row per data set, cost and method that was run on a later block than the first. Of each block, with its
        first split in the name (``_10``): splits, accuracy and accuracy_se (percent, over splits in which somebody
        applies), beside and beside_se (paired difference to semi); of each but the first, difference and
        difference_se (its accuracy minus that of the first block). Undefined is NaN.
    """
    fits = results_frame(results)
    if fits.empty:
        return fits
    fits["accuracy"] = 100 * fits["induced_accuracy"]
    yardstick = fits[fits["method"] == YARDSTICK].set_index(["dataset", "cost", "split"])["accuracy"]
    fits = fits.join(yardstick.rename("yardstick"), on=["dataset", "cost", "split"])
    rows = [
        {"dataset": dataset, "cost": cost, "method": method, **_by_block(part)}
        for (dataset, cost, method), part in fits.groupby(["dataset", "cost", "method"], sort=False)
        if (part["split"] >= BLOCKS[1].start).any()
    ]
    if not rows:
        return pd.DataFrame()
    table = pd.DataFrame(rows)
    places, methods = order_of_datasets(table["dataset"]), {name: place for place, name in enumerate(COMPARED)}
    order = np.lexsort((table["method"].map(methods), table["cost"], table["dataset"].map(places)))
    return table.iloc[order].reset_index(drop=True)


def _by_block(fits: pd.DataFrame) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for block in BLOCKS:
        part = fits[fits["split"].isin(block)]
        beside = part["accuracy"] - part["yardstick"]
        at = block.start
        row |= {
            f"splits_{at}": len(part),
            f"accuracy_{at}": part["accuracy"].mean(),
            f"accuracy_se_{at}": standard_error(part["accuracy"].dropna()),
            f"beside_{at}": beside.mean(),
            f"beside_se_{at}": standard_error(beside.dropna()),
        }
        if at:
            row[f"difference_{at}"] = row[f"accuracy_{at}"] - row["accuracy_0"]
            row[f"difference_se_{at}"] = np.hypot(row[f"accuracy_se_{at}"], row["accuracy_se_0"])
    return row


def blocks_of(table: pd.DataFrame) -> list[range]:
    """The blocks of which there is any result."""
    return [block for block in BLOCKS if table[f"splits_{block.start}"].any()]


# ---------------------------------------------------------------------- in words


def told_by_splits(table: pd.DataFrame) -> str:
    """What later blocks say to the first: how many cells differ clearly, and which fell most."""
    said = []
    for block in blocks_of(table)[1:]:
        at = block.start
        difference, error = table[f"difference_{at}"], table[f"difference_se_{at}"]
        known = difference.notna() & error.notna()
        low = known & (difference < -CLEARLY * error)
        high = known & (difference > CLEARLY * error)
        text = (
            f"On splits {block_name(block)} induced accuracy is {difference[known].mean():+.2f} points from that of "
            f"splits {block_name(BLOCKS[0])} on average over {int(known.sum())} cells; lower by more than {CLEARLY:g} "
            f"standard errors in {int(low.sum())}, higher in {int(high.sum())}."
        )
        if low.any():
            worst = table[low].sort_values(f"difference_{at}").head(5)
            text += " The largest falls: " + "; ".join(_fall(row, at) for row in worst.to_dict("records")) + "."
        said.append(text)
    if LOOKED_AT_BEFORE in set(table["method"]):
        said.append(
            f"{LOOKED_AT_BEFORE} is an exception: how it searches was changed, for what was seen on splits "
            f"{block_name(BLOCKS[0])}, when its results on splits {block_name(BLOCKS[1])} had been looked at; it was "
            f"run on those again, and splits {block_name(BLOCKS[2])} are the ones that had no part in it."
        )
    return " ".join(said)


def _fall(row: dict[Any, Any], at: int) -> str:
    return (
        f"{BUNDLED[row['dataset']]}, {row['method']}, c = {row['cost']:g}, from {row['accuracy_0']:.1f} "
        f"±{row['accuracy_se_0']:.1f} to {row[f'accuracy_{at}']:.1f} ±{row[f'accuracy_se_{at}']:.1f}"
    )


def told_by_choice(results: Sequence[Result]) -> str:
    """What a margin chosen on training data alone changes, on splits that had no part in deciding to choose it."""
    block = BLOCKS[-1]
    fits = results_frame(results)
    if fits.empty or CHOSEN not in set(fits.loc[fits["split"].isin(block), "method"]):
        return ""
    late = fits[fits["split"].isin(block) & fits["method"].isin([CHOSEN, FIXED])]
    accuracy = 100 * late.pivot_table(index=["dataset", "cost", "split"], columns="method", values="induced_accuracy")
    gain = (accuracy[CHOSEN] - accuracy[FIXED]).dropna()
    said = []
    ran = set(gain.index.get_level_values("dataset"))
    for dataset in filter(ran.__contains__, order_of_datasets(ran)):
        here = gain.xs(dataset)
        by_split = here.groupby("split").mean()  # costs of one split are not independent
        cells = here.groupby("cost").agg(["mean", standard_error])
        clear = cells["mean"].abs() > CLEARLY * cells["standard_error"]
        better, worse = int((clear & (cells["mean"] > 0)).sum()), int((clear & (cells["mean"] < 0)).sum())
        error = standard_error(by_split)
        said.append(
            f"{BUNDLED[dataset]} {by_split.mean():+.2f} ±{error:.2f} points on average over costs, clearly better at "
            f"{better} of {len(cells)} costs, clearly worse at {worse}"
        )
    return (
        f"Can what is weak be made better by the training data alone? The margin of {FIXED} over the cost, "
        f"{TOLERANCE:g} everywhere, is instead chosen by {FOLDS} folds of the training data among "
        f"{', '.join(f'{value:g}' for value in sorted(TOLERANCES))} ({COMPARED[CHOSEN].title}); on splits "
        f"{block_name(block)}, looked at for nothing before, paired with the fixed margin: {'; '.join(said)}."
    )


# ---------------------------------------------------------------------- as a table

NOTE = (
    "Induced accuracy in percent with its standard error, by block of splits; the difference of a later block to the "
    "first, with the standard errors of both; and in each block the paired difference to semi on the same splits. "
    "Constants were chosen on the first block. A dash: nobody applies, there is one split only, or it was not run."
)


def split_grid(table: pd.DataFrame) -> Grid:
    """Lay the comparison out: data sets side by side, methods below each other, costs in sections."""
    blocks = blocks_of(table)
    columns = [f"splits {block_name(block)}" for block in blocks]
    columns += [f"difference, {block_name(block)}" for block in blocks[1:]]
    columns += [f"minus semi, {block_name(block)}" for block in blocks]
    datasets = list(dict.fromkeys(table["dataset"]))
    rows = {(row["dataset"], row["cost"], row["method"]): row for row in table.to_dict("records")}
    sections = []
    for cost in sorted(set(table["cost"])):
        lines: list[GridRow] = []
        for method in COMPARED:
            found = [rows.get((dataset, cost, method)) for dataset in datasets]
            if any(row is not None for row in found):
                cells = [cell for row in found for cell in _cells(row, blocks, len(columns))]
                lines.append((COMPARED[method].title, tuple(cells)))
        sections.append((f"c = {cost:g}", tuple(lines)))
    headings = tuple(BUNDLED[dataset] for dataset in datasets)
    return Grid(TITLE, NOTE, headings, tuple(columns), tuple(sections))


def _cells(row: dict[Any, Any] | None, blocks: Sequence[range], columns: int) -> list[str]:
    if row is None:
        return [""] * columns
    accuracies = [_cell(row, "accuracy", block, sign=False) for block in blocks]
    differences = [_cell(row, "difference", block) for block in blocks[1:]]
    return accuracies + differences + [_cell(row, "beside", block) for block in blocks]


def _cell(row: dict[Any, Any], name: str, block: range, *, sign: bool = True) -> str:
    mean, error = row[f"{name}_{block.start}"], row[f"{name}_se_{block.start}"]
    if name == "beside" and row["method"] == YARDSTICK:
        return ""
    if np.isnan(mean):
        return "-"
    text = f"{round(mean, 1) + 0.0:+.1f}" if sign else f"{mean:.1f}"
    return text if np.isnan(error) else f"{text} ±{error:.1f}"
