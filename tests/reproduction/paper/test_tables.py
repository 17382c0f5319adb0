import re

import numpy as np
import pandas as pd
import pytest

from invented import invented
from selfselect.reproduction import METHODS, Cell
from selfselect.reproduction.paper.summary import descent_part, summarise
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
    assert "| 85.2 ±0.3 · (70.0) | 3.0 · 0.5 of 2 |" in naive
    assert "| 87.4 ±0.6 · - | 2.1 · 0.0 of 2 | 0.135 · - |" in semi
    assert "| 91.1 ±0.5 · 70.0 ±0.0 |" in strat
    # one group with a precision is in no order; two of two splits would be a boast
    assert summary.loc["strat_x", ["respected", "splits_with_order"]].tolist() == [1.0, 1]


def test_a_cell_holds_what_is_printed_what_was_run_again_and_ours_or_says_that_it_was_not(small_results):
    first = small_results[0]
    ours = [
        invented(first, Cell("adult", method, 0.7, split), [40, 40], [30, 10])
        for method in ("naive", "strat_x", "strat_order")
        for split in (0, 1)
    ]
    again = [
        invented(first, Cell("adult", "naive_descent", 0.7, split), [40, 40], [32 + split, 10]) for split in (0, 1)
    ]
    summary = summarise(ours, descent_part(again))
    assert summary.set_index("method").loc["naive", "descent_accuracy"] == pytest.approx(75.0)
    lines = render_table(summary, "markdown", main=True).splitlines()
    results, extra = ({m: next(x for x in part if f"| {m} |" in x) for m in made_of(ours)} for part in halves(lines))
    assert "| 85.2 ±0.3 · 75.0 ±1.0 · 70.0 ±0.0 | 3.0 · 1.0 · 1.0 of 2 |" in results["naive"]
    assert "| 91.1 ±0.5 · not re-run · 70.0 ±0.0 |" in results["strat_x"]
    assert "| 70.0 ±0.0 | 1.0 of 2 |" in results["strat_order"]  # the paper has none
    assert "| 44.4 ±0.0 · 44.4 ±0.0 |" in extra["naive"]
    assert "not re-run · 44.4" in extra["strat_x"]
    fewer = render_table(summarise(ours, descent_part(again[:1])), "markdown", main=True)
    assert "74.0 [splits: 1] ·" in fewer
    assert "re-run" not in render_table(summarise(ours), "markdown", main=True)


def test_only_the_papers_splits_of_its_own_training_are_beside_ours_each_once(small_results):
    first = small_results[0]
    cells = [Cell("adult", "naive_descent", 0.7, 0), Cell("adult", "naive_descent", 0.7, 12)]
    again = [invented(first, cell, [40, 40], [32, 10]) for cell in (*cells, cells[0])]
    own = invented(first, Cell("adult", "naive", 0.7, 0), [40, 40], [32, 10])
    assert [part.cell for part in descent_part([*again, own])] == [Cell("adult", "naive", 0.7, 0)]


def halves(lines):
    """Lines of the two tables."""
    cut = next(i for i, line in enumerate(lines) if "social cost and order" in line)
    return lines[:cut], lines[cut:]


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
