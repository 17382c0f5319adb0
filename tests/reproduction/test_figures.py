"""Data of the figures: against the numbers of the paper, or against formulas and enumeration of our own."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad, trapezoid
from scipy.stats import norm

from invented_results import invented_results, invented_row, slow_outcome
from reproduction.figures import NAMES, script, write_figures
from reproduction.results import COLUMNS, ResultsError, with_metrics
from selfselect.theory import application_region


def data_of(name: str, *results: pd.DataFrame) -> pd.DataFrame:
    return script(name).draw(*results)[1]


def test_figure_two_has_the_papers_thresholds_and_precisions():
    data = data_of("figure02_base_rates").groupby("base_rate")[["threshold", "precision"]].first()
    np.testing.assert_allclose(data.loc[0.15], [0.434, 0.759], atol=5e-4)
    np.testing.assert_allclose(data.loc[0.85], [-0.434, 0.925], atol=5e-4)


def test_in_figure_three_the_applicants_are_a_density_and_the_sum_of_the_groups_that_apply():
    for _, part in data_of("figure03_self_selection").groupby("applying"):
        series = part.pivot_table(index="x", columns="series", values="density")
        applying = part.loc[part["applies"], "series"].unique().tolist()
        applying.remove("applicants")
        np.testing.assert_allclose(series["applicants"], series[applying].sum(axis=1))
        assert trapezoid(series["applicants"], series.index) == pytest.approx(1, abs=1e-3)


def test_in_figure_four_groups_come_in_at_the_papers_thresholds():
    data = data_of("figure04_precision_curves")
    applies = data.filter(like="applies: ").to_numpy(dtype=bool)
    first = sorted(data["threshold"][column.argmax()] if column.any() else np.inf for column in applies.T)
    # the paper has .15 for the third: it asks for more than the cost, and the precision at .14 is exactly .8
    np.testing.assert_allclose(first, [0, 0, 0.14, 0.31, 0.42, 0.46, 0.49, 0.78, np.inf, np.inf])


def test_where_the_paper_decides_in_figure_seven_the_exact_regions_agree():
    data = data_of("figure07_regions")
    wide = data.pivot_table(index=["base_rate", "cost", "accuracy"], columns="source", values="region", aggfunc="first")
    decided = wide[wide["paper"] != "free"]
    assert (decided["paper"] == decided["exact"]).all()
    assert (wide["paper"] != wide["exact"]).any()
    for (rate, cost, accuracy), region in wide["exact"].sample(200, random_state=0).items():
        assert region == application_region(rate, accuracy, cost)  # tests/test_theory.py: exact over all small tables


def test_figure_eight_follows_from_integrating_its_density():
    data = data_of("figure08_calibrated_score").set_index("t")
    for t in (0.0, 0.33, 0.9):
        above = quad(lambda x: (x - 1 / 3) ** 2 + 1 / 3, t, 1)[0] / (1 - t)
        assert data.loc[t, "above"] == pytest.approx(above)
    assert (data["above"] - data["above_sample"]).abs().max() < 0.05
    assert data["above"].is_monotonic_increasing
    assert not data["at"].is_monotonic_increasing


def test_the_curves_of_figure_nine_are_the_papers_sigmoid():
    data = data_of("figure09_smooth_application")
    inside = data[data["precision"].between(0.001, 0.999)]
    odds = inside["precision"] * (1 - inside["cost"]) / (inside["cost"] * (1 - inside["precision"]))
    np.testing.assert_allclose(inside["application"], 1 / (1 + odds ** -inside["temperature"]))
    assert data.groupby("precision")["application"].mean()[[0.0, 1.0]].tolist() == [0, 1]


def test_in_figure_ten_assumed_accuracy_is_right_too_high_and_too_low():
    data = data_of("figure10_assumed_induced")
    learned = data[(data["threshold"] - 0.5).abs() < 1e-9].set_index("panel")
    accuracies = learned[["assumed accuracy", "induced accuracy"]]
    np.testing.assert_allclose(accuracies, [[0.84, 0.84], [0.875, 0.845], [0.875, 0.907]], atol=0.006)
    # half of the people have density .5 N(.5, .5) against .5 N(-.5, .5): the best cut-off is 0
    assert data["cutoff: z0"].dropna().to_numpy() == pytest.approx(0, abs=0.05)
    density = data[(data["panel"] == "z3") & (data["x"] == 0)]
    assert density["qualified"].iloc[0] == pytest.approx(0.85 * norm.pdf(1) / 0.5)


def test_in_figure_eleven_another_score_beats_every_threshold_on_the_naive_one():
    data = data_of("figure11_ordering_constraint")
    curves = data.dropna(subset=["induced accuracy"])
    best = data.loc[curves.groupby("panel")["induced accuracy"].idxmax()].set_index("panel")
    assert best["induced accuracy"].to_dict() == pytest.approx({"naive score": 0.86, "x1 alone": 0.99}, abs=0.01)
    assert best.loc["naive score", ["applies: z0", "applies: z1"]].tolist() == [True, True]
    assert best.loc["x1 alone", ["applies: z0", "applies: z1"]].tolist() == [True, False]


def test_figure_five_shows_the_average_social_cost():
    results = invented_results(["naive", "strat_x", "strat_x_descent"], costs=(0.65, 0.7))
    for row in data_of("figure05_social_cost", results).to_dict("records"):
        method = row["method"] + ("_descent" if "paper" in row["learner"] else "")
        fits = results[(results["method"] == method) & (results["cost"] == row["cost"])].to_dict("records")
        values = [slow_outcome(fit)["social_cost"] for fit in fits]
        assert row["social_cost"] == pytest.approx(np.mean(values))
        assert row["social_cost_se"] == pytest.approx(np.std(values, ddof=1) / np.sqrt(len(values)))


@pytest.mark.parametrize(
    ("name", "method"), [("figure06_by_group", "strat_x_descent"), ("figure06_by_our_learner", "strat_x")]
)
def test_figure_six_shows_every_group_of_one_bank_split(name, method):
    row = invented_row("bank_30", method, 0.65, 3)
    results = with_metrics(pd.DataFrame([row, invented_row("bank_30", method, 0.65, 1)], columns=COLUMNS))
    data = data_of(name, results)
    assert data["group"].tolist() == ["x", "y", "z"]
    for g, line in enumerate(data.to_dict("records")):
        n, positives, selected, true_positives = (
            row[f"test_{name}"][g] for name in ("n", "positives", "selected", "true_positives")
        )
        assert line["accuracy"] == pytest.approx((n - positives - selected + 2 * true_positives) / n)
        assert line["precision"] == pytest.approx(row["train_true_positives"][g] / row["train_selected"][g])
        assert line["applies"] == (line["precision"] >= 0.65)
    with pytest.raises(ResultsError, match="bank_30, split 3"):
        data_of(name, results[results["split"] == 1])


def test_figure_twelve_has_a_point_for_every_group_that_applies_and_says_where_none_does():
    silent = invented_row("adult", "naive_honest", 0.7, 10) | {"applies": (False,) * 4}
    rows = [invented_row("adult", "naive", 0.7, 10), invented_row("adult", "semi_honest", 0.7, 10), silent]
    data = data_of("figure12_promises", with_metrics(pd.DataFrame(rows, columns=COLUMNS)))
    assert data["group"].notna().sum() == sum(sum(row["applies"]) for row in rows)
    assert data.loc[data["group"].isna(), "method"].tolist() == ["naive_honest"]


def test_figures_are_files_that_do_not_change_and_those_without_results_are_left_out(tmp_path):
    results = invented_results(["naive", "strat_x"])
    first, second = (write_figures(results, tmp_path / name) for name in "ab")
    assert {path.stem for path in first} == set(NAMES) - {
        "figure06_by_group",
        "figure06_by_our_learner",
        "figure12_promises",
    }
    assert {path.suffix for path in first} == {".csv", ".svg", ".png"}
    assert all(a.read_bytes() == b.read_bytes() for a, b in zip(first, second, strict=True))
