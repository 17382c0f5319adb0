"""Tables of results, one number a cell: with all digits as CSV, and rounded as text, Markdown and LaTeX."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd

from . import summaries
from .methods import ALL_METHODS
from .results import RARE, ResultsError, write_atomically

#: Names of data sets in tables.
SHORT = {"adult": "Adult", "bank_30": "Bank 30%", "bank_original": "Bank"}
#: Data sets and costs of the paper's main table.
MAIN = [("adult", 0.7), ("adult", 0.8), ("bank_30", 0.7), ("bank_30", 0.8)]
#: Whose numbers columns of a summary hold, by their prefix.
SOURCES = {"paper_": "printed", "descent_": "re-run", "": "ours"}
#: Blocks of splits, by their first; constants of our learner were chosen on the first block.
BLOCKS = {0: "0 to 9", 10: "10 to 29", 30: "30 to 49"}


def write_tables(results: pd.DataFrame, folder: Path) -> list[Path]:
    """Write the tables that results can fill: main, extended, splits and promises. Return the files."""
    tables = {}
    own, promises = summaries.paper_part(results), summaries.promise_part(results)
    later = summaries.compare_splits(summaries.split_part(results))
    if len(own):
        summary = summaries.summarise(own, summaries.descent_part(results))
        parts = {"main": main_part(summary), "extended": summary}
        tables = {name: (part, results_table(part)) for name, part in parts.items() if len(part)}
    if len(later):
        tables["splits"] = later, splits_table(later)
    if len(promises):
        promised = summaries.summarise_promises(promises)
        tables["promises"] = promised, promises_table(promised)
    if not tables:
        raise ResultsError("There is no result that a table shows. `python -m reproduction run` makes results.")
    contents = {}
    for name, (table, cells) in tables.items():
        digits = "%.10g" if name in ("splits", "promises") else None
        contents[f"{name}.csv"] = table.to_csv(index=False, float_format=digits, lineterminator="\n")
        contents[f"{name}.txt"] = cells.to_string(index=False) + "\n"
        contents[f"{name}.md"] = markdown_table(cells, 3) + "\n"
        contents[f"{name}.tex"] = cells.to_latex(index=False, escape=True, longtable=True)
    for name, text in contents.items():
        write_atomically(folder / name, text.encode())
    return [folder / name for name in contents]


def main_part(summary: pd.DataFrame) -> pd.DataFrame:
    """Rows of a summary that the paper's main table shows."""
    return summary[[cell in MAIN for cell in zip(summary["dataset"], summary["cost"], strict=True)]]


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


def with_errors(means: Iterable[float], errors: Iterable[float], form: str = ".1f") -> list[str]:
    """Format several means with their standard errors."""
    return [with_error(mean, se, form) for mean, se in zip(means, errors, strict=True)]


def markdown_table(table: pd.DataFrame, text_columns: int = 1) -> str:
    """Frame as a Markdown table; the first columns are texts, aligned left."""
    lines = [list(table.columns), ["---"] * text_columns + ["--:"] * (len(table.columns) - text_columns)]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in [*lines, *table.to_numpy().tolist()])


def labels(frame: pd.DataFrame, *columns: str) -> pd.DataFrame:
    """Columns that say what rows are about, in words: ``dataset``, ``method`` and ``cost``."""
    words = {
        "dataset": ("data set", lambda name: SHORT.get(name, name)),
        "method": ("method", lambda name: ALL_METHODS[name].title),
        "cost": ("cost", "{:g}".format),
    }
    return pd.DataFrame({words[name][0]: frame[name].map(words[name][1]).tolist() for name in columns})


# ---------------------------------------------------------------------- rounded tables


def with_rerun(summary: pd.DataFrame) -> pd.DataFrame:
    """Summary with columns of the paper's own training, undefined if it was not run."""
    absent = [f"descent_{name}" for name in summary if f"descent_{name}" not in summary]
    return summary.assign(**dict.fromkeys(absent, np.nan))


def results_table(summary: pd.DataFrame) -> pd.DataFrame:
    """Printed, re-run and our numbers of each data set, cost and method.

    Accuracy is in parentheses where nobody applied in some splits, and a dash where nobody applied in any.
    """
    summary = with_rerun(summary)
    table = labels(summary, "dataset", "cost", "method")
    for prefix, source in SOURCES.items():
        if prefix == "paper_":
            partly = (summary["paper_applicants_in"] == "some splits").to_numpy()
        else:
            partly = (summary[f"{prefix}splits_with_applicants"] < summary[f"{prefix}splits"]).to_numpy()
        accuracy, se = summary[f"{prefix}accuracy"], summary[f"{prefix}accuracy_se"].mask(partly)
        cells = zip(with_errors(accuracy, se), partly & accuracy.notna(), strict=True)
        table[f"accuracy: {source}"] = [f"({text})" if some else text for text, some in cells]
    for title, name, form in (
        ("groups applying", "applying_groups", ".1f"),
        ("rank r²", "rank_r2", ".2f"),
        ("social cost", "social_cost", ".1f"),
        ("Spearman", "spearman", "+.2f"),
    ):
        for prefix in [prefix for prefix in SOURCES if prefix + name in summary]:
            table[f"{title}: {SOURCES[prefix]}"] = numbers(summary[prefix + name], form)
    for prefix in ("descent_", ""):
        in_order = summary[f"{prefix}respected"] * summary[f"{prefix}splits_with_order"]
        table[f"in order: {SOURCES[prefix]}"] = numbers(in_order, ".0f")
    return table


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


def splits_table(compared: pd.DataFrame) -> pd.DataFrame:
    """Accuracy by block of splits, changes to the first block, and paired differences to semi."""
    table = labels(compared, "dataset", "cost", "method")
    for at, name in BLOCKS.items():
        table[f"splits {name}"] = with_errors(compared[f"accuracy_{at}"], compared[f"accuracy_se_{at}"])
    for at in (10, 30):
        changes = with_errors(compared[f"difference_{at}"], compared[f"difference_se_{at}"], "+.1f")
        table[f"change {BLOCKS[at]}"] = changes
    for at, name in BLOCKS.items():
        beside = compared[f"beside_{at}"].mask(compared["method"] == "semi")
        table[f"minus semi {name}"] = with_errors(beside, compared[f"beside_se_{at}"], "+.1f")
    return table
