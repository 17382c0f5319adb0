"""Averages over splits, against the tables that are kept and against slow averages."""

from pathlib import Path

import pandas as pd
import pytest
from scipy.stats import binomtest

from invented_results import invented_results, slow_outcome
from reproduction.methods import FOOTNOTE, METHODS
from reproduction.results import ResultsError, load_results, with_metrics
from reproduction.summaries import (
    averages,
    compare,
    descent_part,
    later_part,
    on_same_groups,
    our_part,
    promise_part,
    promises_frame,
    summarise_promises,
)

KEPT = Path(__file__).parents[2] / "docs" / "reproduction"


@pytest.fixture(scope="module")
def kept():
    """Kept results of Adult, with metrics."""
    results = load_results(*KEPT.glob("*.csv.gz"))
    return with_metrics(results[results["dataset"] == "adult"])


def test_the_kept_table_has_the_averages_of_the_kept_results(kept, tmp_path):
    stored = pd.read_csv(KEPT / "extended.csv").query("dataset == 'adult'").reset_index(drop=True)
    compare(kept).to_csv(tmp_path / "t.csv", index=False, float_format="%.10g")
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "t.csv"), stored)


def test_the_parts_are_of_the_right_methods_and_splits(kept):
    assert set(descent_part(kept)["method"]) == {*METHODS, FOOTNOTE}
    assert descent_part(kept)["split"].max() == 9
    assert set(our_part(kept)["split"]) == set(range(10))
    assert set(later_part(kept)["split"]) == set(range(30, 50))
    assert set(promise_part(kept)["split"]) == set(range(10, 30))
    elsewhere = kept.assign(dataset="german", split=kept["split"] - 10)
    assert set(promise_part(elsewhere)["split"]) == set(range(20))  # all that cross-fitted methods were run on


def test_naive_on_the_same_groups_is_its_accuracy_among_applicants_of_strat_order():
    results = invented_results(["strat_order", "naive"], ("adult", "bank_30"), (0.6,))
    for row in on_same_groups(results).to_dict("records"):
        fits = results[(results["dataset"] == row["dataset"]) & (results["split"] == row["split"])].set_index("method")
        applies = fits.loc["strat_order", "applies"]
        for method, name in (("strat_order", "accuracy"), ("naive", "accuracy_baseline")):
            expected = slow_outcome({**fits.loc[method].to_dict(), "applies": applies})["accuracy"]
            assert row[name] == pytest.approx(expected, nan_ok=True)


def test_a_promise_is_a_group_that_applies(kept):
    fits = kept[(kept["method"] == "semi") & (kept["cost"] == 0.8) & kept["split"].between(10, 29)]
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


def test_tables_without_results_are_refused(kept):
    for make in (averages, summarise_promises, compare):
        with pytest.raises(ResultsError, match="no result"):
            make(kept.head(0))
