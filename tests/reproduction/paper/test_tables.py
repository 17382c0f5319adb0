import re

import numpy as np
import pandas as pd
import pytest

from invented import invented
from selfselect.reproduction import METHODS, Cell
from selfselect.reproduction.paper.summary import summarise
from selfselect.reproduction.paper.tables import render_table, tables_in


def test_splits_without_applicants_are_left_out_of_the_mean_and_shown_by_brackets(small_results):
    first = small_results[0]
    made = [
        invented(first, Cell("adult", "naive", 0.7, 0), [40, 40], [30, 10]),  # A applies
        invented(first, Cell("adult", "naive", 0.7, 1), [40, 40], [20, 10]),  # nobody does
        invented(first, Cell("adult", "semi", 0.7, 0), [40, 40], [20, 10]),
        invented(first, Cell("adult", "semi", 0.7, 1), [40, 40], [20, 10]),
        invented(first, Cell("adult", "strat_x", 0.7, 0), [40, 0], [30, 0]),
        invented(first, Cell("adult", "strat_x", 0.7, 1), [40, 40], [30, 10]),
    ]
    summary = summarise(made).set_index("method")
    assert summary.loc["naive", "accuracy"] == pytest.approx(70.0)
    assert summary.loc["naive", ["splits", "splits_with_applicants"]].tolist() == [2, 1]
    assert np.isnan(summary.loc["semi", "accuracy"])
    text = render_table(summary.reset_index(), "markdown", main=True)
    naive, semi, strat = (
        next(line for line in text.splitlines() if f"| {m} |" in line) for m in METHODS if m in made_of(made)
    )
    assert "| (70.0) [85.2 ±0.3; -15.2] | 0.5/2 [3.0] |" in naive
    assert "| - [87.4 ±0.6] | 0.0/2 [2.1] | - [0.135] |" in semi
    assert "| 70.0 ±0.0 [91.1 ±0.5; -21.1] |" in strat
    # one group with a precision is in no order; two of two splits would be a boast
    assert summary.loc["strat_x", ["respected", "splits_with_order"]].tolist() == [1.0, 1]


def made_of(made):
    return {result.cell.method for result in made}


def test_all_formats_hold_the_same_numbers_in_the_papers_layout(small_results):
    summary = summarise(small_results)
    row = summary.iloc[0]
    ours = f"{row.accuracy:.1f}"
    for main_table in (True, False):
        text, markdown, latex = (render_table(summary, f, main=main_table) for f in ("text", "markdown", "latex"))
        for table in (text, markdown, latex):
            assert ours in table
            assert "Adult" in table
            assert "social cost" in table
            assert "Kendall" in table
        assert latex.count(r"\begin{tabular}") == latex.count(r"\end{tabular}") == 2
        for part in latex.split(r"\begin{table*}")[1:]:
            columns = len(re.search(r"begin\{tabular\}\{(l+r+)\}", part).group(1))
            lines = [line for line in part.splitlines() if line.endswith(r"\\") and "multicolumn" not in line]
            assert {line.count("&") for line in lines} == {columns - 1}
        heads = next(line for line in markdown.splitlines() if line.startswith("| ") and "ind. acc." in line)
        rows = [line for line in markdown.split("\n\n")[1].splitlines() if line.startswith("|")]
        assert {line.count("|") for line in rows} == {heads.count("|")}
    csv = pd.read_csv(pd.io.common.StringIO(render_table(summary, "csv", main=False)))
    assert csv["accuracy"].tolist() == pytest.approx(summary["accuracy"].tolist(), nan_ok=True)


def test_a_data_set_of_ones_own_has_no_main_table(small_results):
    own = invented(small_results[0], Cell("mine", "naive", 0.7, 0), [40, 40], [30, 10])
    assert tables_in(summarise([own])) == ["extended"]
    assert tables_in(summarise([own, *small_results])) == ["main", "extended"]
    with pytest.raises(ValueError, match="no result of the main table"):
        render_table(summarise([own]), "text", main=True)
