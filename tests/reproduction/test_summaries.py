"""Averages over splits, against the tables that are kept and against slow averages."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from reproduction.results import ResultsError, load_results, with_metrics
from reproduction.summaries import (
    compare_splits,
    descent_part,
    paper_part,
    promise_part,
    promises_frame,
    split_part,
    summarise,
    summarise_promises,
)
from reproduction.tables import write_tables

KEPT = Path(__file__).parents[2] / "docs" / "reproduction"


@pytest.fixture(scope="module")
def kept():
    """Kept results of Adult, with metrics."""
    results = load_results(*(KEPT / f"{name}.csv.gz" for name in ("descent", "promises", "splits")))
    return with_metrics(results[results["dataset"] == "adult"])


def kept_table(name):
    table = pd.read_csv(KEPT / f"{name}.csv", dtype=str, keep_default_na=False)
    return table[table["dataset"] == "adult"].reset_index(drop=True)


def as_written(table, path):
    table.to_csv(path, index=False, float_format="%.10g")
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def test_promises_are_byte_for_byte_those_of_the_kept_table(tmp_path):
    results = load_results(KEPT / "promises.csv.gz", KEPT / "splits.csv.gz")
    compared = results[results["method"].isin(["naive", "semi", "strat_x", "strat_no_group"])]
    cross_fitted = results[results["method"].str.contains("honest|thresholds")]
    write_tables(with_metrics(pd.concat([compared, cross_fitted])), tmp_path)
    assert (tmp_path / "promises.csv").read_bytes() == (KEPT / "promises.csv").read_bytes()
    assert all((tmp_path / f"promises.{ending}").stat().st_size for ending in ("md", "tex", "txt"))


def test_later_splits_have_the_numbers_of_the_kept_table(kept, tmp_path):
    table, stored = as_written(compare_splits(split_part(kept)), tmp_path / "t.csv"), kept_table("splits")
    # the first block is not among the kept results
    own = [
        "dataset",
        "cost",
        "method",
        *(name for name in stored if "difference" not in name and not name.endswith("_0")),
    ]
    assert len(own) == 3 + 3 + 2 * 5
    pd.testing.assert_frame_equal(table[own], stored[own])


def test_the_papers_own_training_has_the_averages_of_the_kept_table(kept):
    again = summarise(descent_part(kept)).set_index(["dataset", "cost", "method"])
    stored = pd.read_csv(KEPT / "extended.csv").set_index(["dataset", "cost", "method"]).loc[again.index]
    names = [name for name in again.columns if f"descent_{name}" in stored and name != "seconds"]
    assert len(names) == 16
    for name in names:
        np.testing.assert_array_equal(again[name].astype(float), stored[f"descent_{name}"], err_msg=name)


def test_the_parts_are_of_the_right_methods_and_splits(kept):
    assert set(descent_part(kept)["method"]) == {"naive", "semi", "strat_x", "strat_no_group", "strat_parity"}
    assert descent_part(kept)["split"].max() == 9
    assert set(promise_part(kept)["split"]) == set(range(10, 30))
    # promises are compared on splits 10 to 29, so the paper's methods are left with 30 to 49
    assert set(paper_part(kept)["split"]) == set(range(30, 50))
    first = kept[kept["method"] == "naive"].assign(split=lambda fits: fits["split"] - 10)
    assert set(paper_part(pd.concat([kept, first], ignore_index=True))["split"]) == set(range(10))


def test_a_promise_is_a_group_that_applies(kept):
    fits = kept[(kept["method"] == "semi") & (kept["cost"] == 0.8) & (kept["split"] < 30)]
    made = promises_frame(fits)
    assert len(made) == fits["applying_groups"].sum()
    row = made.iloc[0]
    source = fits[fits["split"] == row["split"]].iloc[0]
    place = source["groups"].index(row["group"])
    assert source["applies"][place]
    assert row["published"] == source["published_true_positives"][place] / source["published_selected"][place]
    assert row["delivered"] == source["test_true_positives"][place] / source["test_selected"][place]
    summary = summarise_promises(fits).iloc[0]
    assert summary["promises"] == len(made)
    assert summary["broken"] == sum(word == "no" for kept_to in fits["promise_kept"] for word in kept_to) > 0
    assert summary["kept"] == (made["delivered"] >= 0.8 - 1e-9).sum()
    assert summary["delivered"] == made["delivered_true_positives"].sum() / made["delivered_selected"].sum()
    chance = binomtest(int(summary["broken"]), len(made), 0.1, alternative="greater").pvalue
    assert summary["p_value"] == pytest.approx(chance)


def test_tables_without_results_are_refused(kept, tmp_path):
    for make in (summarise, summarise_promises, lambda empty: write_tables(empty, tmp_path)):
        with pytest.raises(ResultsError, match="no result"):
            make(kept.head(0))
