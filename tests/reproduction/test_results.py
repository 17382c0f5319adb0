"""Results as a frame: reading, writing and metrics."""

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy.stats import binomtest

from reproduction.__main__ import main
from reproduction.results import (
    CELL,
    COLUMNS,
    METRICS,
    ResultsError,
    load_results,
    with_metrics,
    write_result,
    write_results_csv,
)
from selfselect import PublishedStatistics
from selfselect.metrics import application_rate, induced_accuracy, rank_agreement, social_cost

KEPT = Path(__file__).parents[2] / "docs" / "reproduction"
NAMES = ("descent", "ours", "promises")
COST = 0.6


@pytest.mark.parametrize("name", NAMES)
def test_kept_results_are_read_and_written_byte_for_byte(name, tmp_path):
    results = load_results(KEPT / f"{name}.csv.gz")
    write_results_csv(results, tmp_path / "results.csv")
    assert (tmp_path / "results.csv").read_bytes() == gzip.decompress((KEPT / f"{name}.csv.gz").read_bytes())
    write_results_csv(results.sample(frac=1, random_state=0), tmp_path / "results.csv.gz")
    assert load_results(tmp_path / "results.csv.gz").equals(results)


def test_a_folder_of_files_holds_what_a_csv_file_holds(tmp_path):
    results = load_results(KEPT / "promises.csv.gz").sample(40, random_state=0)
    for row in results.to_dict("records"):
        write_result(tmp_path, row)
    assert load_results(tmp_path).equals(results.sort_values(CELL, ignore_index=True))


def test_of_several_results_of_one_fit_the_first_counts(tmp_path):
    results = load_results(KEPT / "descent.csv.gz")
    write_results_csv(results.head(3).assign(package_version="other"), tmp_path / "more.csv")
    both = load_results(tmp_path / "more.csv", KEPT / "descent.csv.gz")
    assert len(both) == len(results)
    assert both["package_version"].value_counts().to_dict() == {"0.1.0": len(results) - 3, "other": 3}


def test_files_that_hold_no_results_are_refused_by_name(tmp_path):
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ResultsError, match=r"other\.csv holds no results"):
        load_results(tmp_path / "other.csv")
    with pytest.raises(ResultsError, match=r"absent\.csv"):
        load_results(tmp_path / "absent.csv")
    broken = tmp_path / "r" / "adult" / "naive" / "cost_0.7_split_0.json"
    broken.parent.mkdir(parents=True)
    broken.write_text("{")
    with pytest.raises(ResultsError, match=r"cost_0\.7_split_0\.json cannot be read"):
        load_results(tmp_path / "r")


def test_export_writes_chosen_methods(tmp_path):
    options = ["--results", str(KEPT / "descent.csv.gz"), "--method", "parity_10", "--out", str(tmp_path / "r.csv")]
    assert CliRunner().invoke(main, ["export", *options]).exit_code == 0
    assert set(load_results(tmp_path / "r.csv")["method"]) == {"parity_10"}


def test_no_results_have_no_metrics():
    empty = with_metrics(load_results())
    assert list(empty.columns) == [*COLUMNS, *METRICS]
    assert empty.empty


# ---------------------------------------------------------------------- metrics against rows of people


def crowd(rng, n_groups, n=300):
    """Labels, predictions and groups of random people."""
    z = rng.integers(n_groups, size=n)
    y = rng.uniform(size=n) < 0.2 + 0.6 * z / n_groups
    return y.astype(int), (rng.uniform(size=n) < np.where(y, 0.7, 0.2)).astype(int), z


def random_result(seed, n_groups=3):
    """A result of random people, and the people."""
    rng = np.random.default_rng(seed)
    groups = tuple("ABCD"[:n_groups])
    row = dict.fromkeys(COLUMNS) | {"dataset": "adult", "method": "naive", "cost": COST, "split": seed}
    people = {who: crowd(rng, n_groups) for who in ("train", "test", "published")}
    for who, (y, selected, z) in people.items():
        counts = {"n": 1, "positives": y, "selected": selected, "true_positives": y * selected}
        for name, values in counts.items():
            row[f"{who}_{name}"] = tuple(int((values * (z == code)).sum()) for code in range(n_groups))
    y, selected, z = people["published"]
    applies = PublishedStatistics.from_predictions(y, selected, sensitive_features=z).applies(COST)
    return row | {"groups": groups, "applies": tuple(applies.tolist()), "seconds": 0.0}, people


@pytest.mark.parametrize("n_groups", [3, 4])
def test_metrics_are_those_of_the_rows_of_people(n_groups):
    made = [random_result(seed, n_groups) for seed in range(20)]
    metrics = with_metrics(pd.DataFrame([row for row, _ in made]))
    assert len(set(metrics["applying_groups"])) > 1
    for got, (row, people) in zip(metrics.to_dict("records"), made, strict=True):
        applies = np.array(row["applies"])
        y, selected, z = people["test"]
        y_train, selected_train, z_train = people["train"]
        train_rates = [selected_train[z_train == code].mean() for code in range(n_groups)]
        y_published, selected_published, z_published = people["published"]
        base_rates = [y_published[z_published == code].mean() for code in range(n_groups)]
        precisions = [y_published[(z_published == code) & (selected_published == 1)].mean() for code in range(n_groups)]
        order = rank_agreement(base_rates, precisions)
        expected = {
            "assumed_accuracy": (y == selected).mean(),
            "induced_accuracy": induced_accuracy(y, selected, applies=applies[z]),
            "applying_groups": applies.sum(),
            "application_rate": application_rate(applies=applies[z]),
            "social_cost": social_cost(y, applies=applies[z]),
            "selection_rate": selected.mean(),
            "train_induced_accuracy": induced_accuracy(y_train, selected_train, applies=applies[z_train]),
            "train_selection_rate": selected_train.mean(),
            "train_rate_spread": np.ptp(train_rates) / selected_train.mean(),
            "rank_r2": order.r2,
            "spearman": order.spearman,
            "kendall": order.kendall,
            "respected": float(order.respected),
        }
        assert {name: got[name] for name in expected} == pytest.approx(expected, nan_ok=True)


def word_of(applies, true_positives, selected):
    """Whether a promise is kept, by exact binomial tests."""
    if not applies or not selected:
        return "undecided" if applies else ""
    if binomtest(true_positives, selected, COST, alternative="less").pvalue < 0.05:
        return "no"
    return "yes" if binomtest(true_positives, selected, COST, alternative="greater").pvalue < 0.05 else "undecided"


def test_promises_are_judged_by_binomial_tests():
    words = []
    for seed in range(40):
        row, _ = random_result(seed, n_groups=4)
        kept = with_metrics(pd.DataFrame([row]))["promise_kept"][0]
        counts = zip(row["applies"], row["test_true_positives"], row["test_selected"], strict=True)
        assert list(kept) == [word_of(*of_group) for of_group in counts]
        words += kept
    assert set(words) == {"", "yes", "no", "undecided"}


def test_a_group_without_published_people_has_no_place_in_the_order():
    row, _ = random_result(0)
    nobody = {f"published_{count}": (*row[f"published_{count}"][:2], 0) for count in ("n", "positives", "selected")}
    row |= nobody | {"published_true_positives": (*row["published_true_positives"][:2], 0)}
    got = with_metrics(pd.DataFrame([row])).iloc[0]
    assert not np.isnan(got["kendall"])


def test_if_nobody_applies_accuracy_is_undefined_and_everybody_qualified_stays_away():
    row, _ = random_result(0)
    got = with_metrics(pd.DataFrame([row | {"applies": (False, False, False)}])).iloc[0]
    assert np.isnan(got["induced_accuracy"])
    assert (got["social_cost"], got["application_rate"], got["promise_kept"]) == (1.0, 0.0, ("", "", ""))
