"""Splits that nobody looked at, beside those that constants were chosen on."""

import numpy as np
import pytest

from invented import invented
from selfselect.reproduction import Cell
from selfselect.reproduction.paper.splits import compare_splits, split_part, told_by_choice, told_by_splits
from selfselect.reproduction.paper.tables import render_splits


def made(first, hits, splits=range(30), methods=("semi", "strat_x")):
    """Results where ``hits(method, split)`` of 40 selected are right in both groups of 100 (90 are qualified)."""
    cells = [Cell("adult", method, 0.7, split) for method in methods for split in splits]
    return [invented(first, cell, [40, 40], [hits(cell.method, cell.split)] * 2) for cell in cells]


def test_a_fall_on_later_splits_is_found_and_named(small_results):
    def hits(method, split):
        return 34 + split % 2 if method == "semi" or split >= 10 else 38 + split % 2

    table = compare_splits(split_part(made(small_results[0], hits)))
    row = table.set_index("method").loc["strat_x"]
    # accuracy of a group is (100 - positives - 40 + 2 hits) / 100; eight points less for four hits less
    assert row["difference_10"] == pytest.approx(-8.0)
    assert row["difference_se_10"] == pytest.approx(np.hypot(row["accuracy_se_0"], row["accuracy_se_10"]))
    assert row[["splits_0", "splits_10", "splits_30"]].tolist() == [10, 20, 0]
    told = told_by_splits(table)
    assert "lower by more than 2 standard errors in 1, higher in 0" in told
    assert "Adult, strat_x, c = 0.7, from" in told


def test_nothing_is_called_a_fall_where_nothing_falls(small_results):
    table = compare_splits(split_part(made(small_results[0], lambda method, split: 34 + split % 2)))
    told = told_by_splits(table)
    assert "in 0, higher in 0." in told
    assert "falls" not in told


def test_the_difference_to_semi_is_paired_so_that_what_a_split_is_like_cancels(small_results):
    table = compare_splits(
        split_part(made(small_results[0], lambda method, split: 30 + split % 5 + 2 * (method == "strat_x")))
    )
    row = table.set_index("method").loc["strat_x"]
    assert row["beside_0"] == row["beside_10"] == pytest.approx(4.0)
    assert row["beside_se_0"] == pytest.approx(0.0)  # though accuracies themselves vary
    assert row["accuracy_se_0"] > 0.5


def test_only_what_was_run_on_later_splits_is_compared_and_each_block_has_its_columns(small_results):
    first = small_results[0]
    assert compare_splits(split_part(made(first, lambda *_: 34, range(10)))).empty
    with pytest.raises(ValueError, match="no result of splits from 10 on"):
        render_splits(compare_splits([]), "markdown")
    later = made(first, lambda *_: 34, range(50), ("semi",)) + made(first, lambda *_: 34, range(10), ("strat_x",))
    table = compare_splits(split_part(later))
    assert table["method"].tolist() == ["semi"]
    text = render_splits(table, "markdown")
    for block in ("0 to 9", "10 to 29", "30 to 49"):
        assert f"splits {block}" in text
    assert render_splits(table, "csv").count("\n") == 2


def test_a_split_without_applicants_is_left_out_and_undefined_is_a_dash(small_results):
    table = compare_splits(split_part(made(small_results[0], lambda method, split: 34 if split < 10 else 4)))
    assert np.isnan(table["accuracy_10"]).all()
    assert "| - |" in render_splits(table, "markdown")
    assert "nan" not in render_splits(table, "markdown")


def test_a_choice_made_on_training_data_is_told_by_paired_differences_on_the_last_block_only(small_results):
    methods = ("strat_no_group", "strat_no_group_chosen")

    def hits(method, split):
        better = 2 if split >= 30 else -2  # before the last block it would look worse
        return 30 + split % 5 + better * (method == "strat_no_group_chosen")

    told = told_by_choice(split_part(made(small_results[0], hits, range(50), methods)))
    assert "Adult +4.00 ±0.00 points" in told
    assert "clearly better at 1 of 1 costs, clearly worse at 0" in told
    assert "chosen by 5 folds of the training data among 0, 0.02, 0.05" in told
    assert told_by_choice(split_part(made(small_results[0], hits, range(30), methods))) == ""
    assert told_by_choice([]) == ""
