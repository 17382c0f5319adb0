"""Tables of results, one number a cell: with all digits as CSV, and rounded as text, Markdown and LaTeX."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from . import summaries
from .methods import ALL_METHODS
from .results import RARE, ResultsError, write_whole

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
        write_whole(folder / name, text.encode())
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


def markdown_table(table: pd.DataFrame, text_columns: int = 1) -> str:
    """Frame as a Markdown table; the first columns are texts, aligned left."""
    lines = [list(table.columns), ["---"] * text_columns + ["--:"] * (len(table.columns) - text_columns)]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in [*lines, *table.to_numpy().tolist()])


# ---------------------------------------------------------------------- rounded tables


def results_table(summary: pd.DataFrame) -> pd.DataFrame:
    """Printed, re-run and our numbers of each data set, cost and method.

    Accuracy is in parentheses where nobody applied in some splits, and a dash where nobody applied in any.
    """
    return pd.DataFrame([_result_cells(row) for row in summary.to_dict("records")])


def _result_cells(row: Mapping[str, Any]) -> dict[str, str]:
    row = {f"descent_{name}": np.nan for name in row} | dict(row)  # the paper's own training may not have been run
    everywhere = {
        prefix: row[f"{prefix}splits_with_applicants"] == row[f"{prefix}splits"] for prefix in ("descent_", "")
    }
    everywhere["paper_"] = row["paper_applicants_in"] == "all splits"
    cells = {"data set": SHORT.get(row["dataset"], row["dataset"]), "cost": f"{row['cost']:g}", "method": row["method"]}
    for prefix, source in SOURCES.items():
        accuracy, se = row[f"{prefix}accuracy"], row[f"{prefix}accuracy_se"]
        whole = everywhere[prefix] or pd.isna(accuracy)
        cells[f"accuracy: {source}"] = with_error(accuracy, se) if whole else f"({number(accuracy)})"
    columns = (
        ("groups applying", "applying_groups", ".1f", SOURCES),
        ("rank r²", "rank_r2", ".2f", SOURCES),
        ("social cost", "social_cost", ".1f", ("descent_", "")),
        ("Spearman", "spearman", "+.2f", ("descent_", "")),
    )
    for title, name, form, prefixes in columns:
        cells |= {f"{title}: {SOURCES[prefix]}": number(row[prefix + name], form) for prefix in prefixes}
    for prefix in ("descent_", ""):
        in_order = row[f"{prefix}respected"] * row[f"{prefix}splits_with_order"]
        cells[f"in order: {SOURCES[prefix]}"] = number(in_order, ".0f")
    return cells


def promises_table(summary: pd.DataFrame) -> pd.DataFrame:
    """Accuracy, published and delivered precision, and broken promises, by data set, method and cost.

    †: more than one promise in ten is broken, by a binomial test.
    """
    rows = []
    for row in summary.to_dict("records"):
        cells = {
            "data set": SHORT.get(row["dataset"], row["dataset"]),
            "method": ALL_METHODS[row["method"]].title,
            "cost": f"{row['cost']:g}",
        }
        some = row["nobody"] and row["promises"]
        cells["accuracy"] = f"({number(row['accuracy'])})" if some else number(row["accuracy"])
        cells |= {name: number(row[name], ".2f") for name in ("published", "delivered")}
        mark = "†" if row["p_value"] < RARE else ""
        rows.append(cells | {"promises broken": f"{row['broken']} of {row['promises']}{mark}"})
    return pd.DataFrame(rows)


def splits_table(table: pd.DataFrame) -> pd.DataFrame:
    """Accuracy by block of splits, changes to the first block, and paired differences to semi."""
    rows = []
    for row in table.to_dict("records"):
        cells = {
            "data set": SHORT.get(row["dataset"], row["dataset"]),
            "cost": f"{row['cost']:g}",
            "method": ALL_METHODS[row["method"]].title,
        }
        for title, name, form in (
            ("splits", "accuracy", ".1f"),
            ("change", "difference", "+.1f"),
            ("minus semi", "beside", "+.1f"),
        ):
            for at in (10, 30) if name == "difference" else BLOCKS:
                undefined = name == "beside" and row["method"] == "semi"
                mean = np.nan if undefined else row[f"{name}_{at}"]
                cells[f"{title} {BLOCKS[at]}"] = with_error(mean, row[f"{name}_se_{at}"], form)
        rows.append(cells)
    return pd.DataFrame(rows)
