"""Tables, figures, the page and the commands that make them."""

import re
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from selfselect.cli import main
from selfselect.datasets import make_base_rate_groups
from selfselect.reproduction import METHODS, BundledSource, Cell, InProcess, Plan, Store, run_sweep
from selfselect.reproduction.paper.claims import CORRECTIONS, FAILS, HOLDS, THEORY, judge_experiments
from selfselect.reproduction.paper.figures import FIGURES, concepts, make_figure, populations, results
from selfselect.reproduction.paper.page import write_page
from selfselect.reproduction.paper.tables import below_the_paper, paper_results, render_table, summarise
from selfselect.reproduction.sweep.units import metrics_from_counts


@pytest.fixture(scope="module")
def small_store(tmp_path_factory):
    """Naive and semi on two data sets, two splits, the costs of the main table."""
    path = tmp_path_factory.mktemp("store") / "results.sqlite"
    plan = Plan((BundledSource("adult"), BundledSource("bank_30")), ("naive", "semi"), (0.7, 0.8), splits=2)
    with Store(path) as store:
        run_sweep(plan, store, InProcess())
    return path


@pytest.fixture(scope="module")
def small_results(small_store):
    with Store(small_store) as store:
        return store.results()


@lru_cache
def invented_metrics(selected, true_positives, cost):
    counts = {
        "n": [100, 100],
        "positives": [50, 40],
        "selected": list(selected),
        "true_positives": list(true_positives),
    }
    return counts, *metrics_from_counts(("A", "B"), counts, counts, cost)


def invented(result, cell, selected, true_positives):
    """A result with other counts, the same in training and test."""
    counts, train, test = invented_metrics(tuple(selected), tuple(true_positives), cell.cost)
    return replace(
        result, cell=cell, groups=("A", "B"), train_counts=counts, test_counts=counts, train_metrics=train,
        test_metrics=test,
    )  # fmt: skip


# ---------------------------------------------------------------------- tables


def test_the_papers_numbers_are_all_there():
    paper = paper_results()
    assert len(paper) == 3 * 5 * 9
    assert paper.loc[("adult", "naive", 0.75)].tolist()[0] == 90.0
    assert paper.loc[("adult", "naive", 0.75), "paper_applicants_in"] == "some splits"
    assert np.isnan(paper.loc[("bank_30", "naive", 0.8), "paper_accuracy"])
    assert paper.loc[("bank_original", "strat_parity", 0.85), "paper_rank_r2"] == 0.183


def test_means_and_standard_errors_are_over_splits_with_ddof_one(small_results):
    summary = summarise(small_results)
    row = summary[(summary.dataset == "adult") & (summary.method == "naive") & (summary.cost == 0.7)].iloc[0]
    values = [
        100 * r.test_metrics["induced_accuracy"] for r in small_results if r.cell.key[:3] == ("adult", "naive", 0.7)
    ]
    assert row["accuracy"] == pytest.approx(np.mean(values))
    assert row["accuracy_se"] == pytest.approx(np.std(values, ddof=1) / np.sqrt(2))
    assert row["difference"] == pytest.approx(np.mean(values) - 85.2)


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


def test_cells_below_the_paper_are_those_beyond_one_standard_error(small_results):
    summary = summarise(small_results).iloc[:2].copy()
    summary["paper_accuracy"], summary["paper_accuracy_se"] = 90.0, 0.5
    summary["accuracy"] = [89.52, 89.4]
    assert below_the_paper(summary)["accuracy"].tolist() == [89.4]


def test_an_empty_store_is_refused_in_words(tmp_path):
    Store(tmp_path / "a.sqlite").close()
    result = CliRunner().invoke(main, ["tables", "--store", str(tmp_path / "a.sqlite")])
    assert result.exit_code == 2
    assert "Run selfselect reproduce first" in result.output


# ---------------------------------------------------------------------- figures


def test_figure_two_has_the_papers_thresholds_and_precisions():
    assert concepts.optimal_precision(0.15) == pytest.approx((0.434, 0.759), abs=5e-4)
    assert concepts.optimal_precision(0.85) == pytest.approx((-0.434, 0.925), abs=5e-4)


def test_figure_three_shows_densities():
    data = concepts.mixture_data()
    whole = data[data.series == "applicants"].groupby("applying").apply(lambda d: np.trapezoid(d.density, d.x))
    assert whole.to_numpy() == pytest.approx(1.0, abs=1e-3)


def test_figure_four_has_groups_come_in_where_the_paper_has_them():
    data = populations.precision_curves_data()
    applies = data.filter(like="applies: ")
    first = sorted(data["threshold"][applies[name].argmax()] if applies[name].any() else np.inf for name in applies)
    assert first == pytest.approx([0, 0, 0.14, 0.31, 0.42, 0.46, 0.49, 0.78, np.inf, np.inf])


def test_figure_five_shows_the_social_cost_of_the_store(small_results):
    data = results.social_cost_data(small_results)
    row = data[(data.dataset == "bank_30") & (data.method == "naive") & (data.cost == 0.8)].iloc[0]
    assert row["social_cost"] == 100.0


def test_figure_six_shows_every_group_by_name(small_results):
    data = results.by_group_data(small_results)
    assert data["group"].nunique() == 10
    assert {"blue-collar", "student"} <= set(data["group"])
    assert set(data["method"]) == {"naive"}
    with pytest.raises(ValueError, match="no result of bank_original, split 0"):
        results.by_group_data(small_results, dataset="bank_original")


def test_figure_seven_has_regions_that_the_paper_leaves_free():
    data = concepts.region_data(size=21).pivot_table(
        index=["base_rate", "cost", "accuracy"], columns="source", values="region", aggfunc="first"
    )
    assert ((data["paper"] == "free") & (data["exact"] == "applies")).any()
    forced = data["paper"] != "free"
    settled = data["exact"] != "undefined"
    assert (data["paper"] == data["exact"])[forced & settled].mean() > 0.98  # all but the borders, which are ties


def test_figure_eight_follows_its_formulas():
    data = concepts.calibrated_data()
    assert (data["above"] - data["above_sample"]).abs().max() < 0.02
    assert data["above"].is_monotonic_increasing
    assert not data["at"].is_monotonic_increasing


def test_figure_nine_passes_through_one_half_at_the_cost():
    data = concepts.sigmoid_data()
    at_cost = data[(data["precision"] - data["cost"]).abs() < 1e-9]
    assert len(at_cost) == 6
    assert at_cost["application"].tolist() == pytest.approx([0.5] * 6)


def test_figures_ten_and_eleven_show_what_the_paper_saw():
    data = populations.assumed_induced_data()
    half = data[(data["threshold"] - 0.5).abs() < 1e-9].set_index("panel")
    gap = half["induced accuracy"] - half["assumed accuracy"]
    assert gap.tolist() == pytest.approx([0.0, -0.03, 0.032], abs=0.012)
    best = populations.ordering_data().groupby("panel")["induced accuracy"].max()
    assert best["naive score"] == pytest.approx(0.86, abs=0.015)
    assert best["x1 alone"] == pytest.approx(0.99, abs=0.01)


def test_every_figure_is_drawn_and_the_same_data_give_the_same_files(small_results):
    assert sorted(FIGURES) == list(range(1, 12))
    for recipe in FIGURES.values():
        files = make_figure(recipe, small_results)
        assert files["png"].startswith(b"\x89PNG")
        assert b"<svg" in files["svg"]
        assert len(files["csv"].splitlines()) > 5
        if recipe.number == 9:
            assert make_figure(recipe) == files


# ---------------------------------------------------------------------- verdicts and the page


def test_every_test_that_the_page_points_to_exists():
    folder = Path(__file__).parents[1]
    pointers = [item.test for item in (*THEORY, *CORRECTIONS) if item.test]
    assert len(pointers) == len(THEORY) + len(CORRECTIONS)
    for pointer in pointers:
        file, name = pointer.split("::")
        assert f"def {name}(" in (folder / file).read_text(), pointer


@pytest.fixture(scope="module")
def whole_store(small_results, tmp_path_factory):
    """A store with a result in every cell, of invented counts: what the page is made of, without the fits."""
    path = tmp_path_factory.mktemp("whole") / "results.sqlite"
    first = small_results[0]
    with Store(path) as store:
        store.write(
            invented(
                first, cell, *(([40, 0], [36, 0]) if cell.method == "strat_x" else ([40, 40], [34, 20 + cell.split]))
            )
            for cell in Plan().cells()
        )
        store.note_sweep("2026-01-01T00:00:00Z", 600.0, 1620, "2 processes", {
            "processor": "P", "cores": 2, "python": "3", "numpy": "2", "scipy": "1", "scikit-learn": "1"
        })  # fmt: skip
    return path


def test_verdicts_follow_the_numbers(whole_store):
    with Store(whole_store) as store:
        results_ = store.results()
    verdicts = {verdict.claim: verdict for verdict in judge_experiments(results_)}
    assert verdicts["Under strat_x the number of applying groups is close to one."].verdict == HOLDS
    assert verdicts["There is no evidence of overfitting."].verdict == HOLDS  # training and test counts are the same
    assert verdicts["Under strat_x the social cost is high."].verdict == FAILS  # 40 of 90 qualified stay away
    order = verdicts["The power of strat_x pushes the order of precisions away from base rates."]
    assert "In 270 of 270 fits" in order.evidence
    with pytest.raises(ValueError, match="no result of strat_order"):
        judge_experiments([result for result in results_ if result.cell.method != "strat_order"])


def test_the_page_is_made_of_a_complete_store_only(whole_store, small_store, tmp_path):
    with Store(whole_store) as store:
        page = write_page(store)
    for title in (
        "Machine and time",
        "Main results",
        "Cells below the paper",
        "Corrections",
        "could not be",
        "Figures",
    ):
        assert title in page
    for recipe in FIGURES.values():
        assert f"reproduction/{recipe.stem}.png" in page
    assert "nan" not in page.replace("undefined is nan", "")
    result = CliRunner().invoke(main, ["page", "--store", str(small_store), "--out", str(tmp_path / "page.md")])
    assert result.exit_code == 2
    assert "1604 of 1620 results are missing" in result.output
    assert not (tmp_path / "page.md").exists()


# ---------------------------------------------------------------------- commands


def test_reproduce_status_tables_and_figures_work_together(tmp_path):
    store, out = str(tmp_path / "r.sqlite"), str(tmp_path / "out")
    run = CliRunner().invoke
    options = ["reproduce", "--store", store, "--dataset", "adult", "--method", "naive", "--method", "semi"]
    options += ["--cost", "0.7", "--splits", "1"]
    dry = run(main, [*options, "--dry-run"])
    assert "2 fits asked for, 2 of them missing." in dry.output
    assert not Path(store).exists()
    assert "2 fits done; all 2 asked for" in run(main, options).output
    assert "0 fits done; all 2 asked for" in run(main, options).output
    assert "2 fits asked for, 0 of them missing." in run(main, [*options, "--dry-run"]).output
    shown = run(main, ["status", "--store", store]).output
    assert re.search(r"adult +naive +1 +0 +89", shown)
    assert run(main, ["tables", "--store", store, "--format", "csv"]).output.count("\n") == 3
    assert run(main, ["tables", "--store", store, "--out", out]).exit_code == 0
    again = run(main, ["tables", "--store", store, "--out", out])
    assert again.exit_code == 2
    assert "--force" in again.output
    drawn = run(main, ["figures", "--out", out, "--figure", "5", "--store", store])
    assert drawn.exit_code == 0, drawn.output
    names = {path.name for path in Path(out).iterdir()}
    assert {"main.md", "extended.csv", "main.tex", "extended.txt", "figure05_social_cost.svg"} <= names
    needs = run(main, ["figures", "--out", out, "--figure", "6"])
    assert needs.exit_code == 2
    assert "--store" in needs.output


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--dataset", "moon"], "no data set 'moon'"),
        (["--method", "magic"], "No method 'magic'"),
        (["--cost", "2"], "cost must lie in"),
        (["--label", "y"], "belong together"),
        (["--splits", "0"], "--splits"),
    ],
)
def test_wrong_options_are_named_with_exit_code_two(tmp_path, options, message):
    result = CliRunner().invoke(main, ["reproduce", "--store", str(tmp_path / "a.sqlite"), *options])
    assert result.exit_code == 2
    assert message in result.output
    assert not (tmp_path / "a.sqlite").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("x,y\n1,0\n2,1\n", "no column 'z'"),
        ("x,y,z\n1,0,a\n2,2,b\n3,1,a\n", "must hold two values"),
        ("x,y,z\n1,0,a\n2,1,\n", "row 3, column 'z': the group is empty"),
        ("x,y,z,z\n1,0,a,b\n2,1,b,a\n", "2 columns have this name"),
        ("x,y,z\n1,hired,a\n2,rejected,b\n", "say which value means qualified with --positive"),
        ("x,y,z\n1,0,a\n2,1,a\n", "one group only"),
        ("y,z\n0,a\n1,b\n", "nothing to learn from"),
    ],
)
def test_a_table_of_ones_own_is_checked_before_any_work(tmp_path, content, message):
    path = tmp_path / "mine.csv"
    path.write_text(content)
    options = ["--data", str(path), "--label", "y", "--group", "z"]
    result = CliRunner().invoke(main, ["reproduce", "--store", str(tmp_path / "a.sqlite"), *options])
    assert result.exit_code == 2
    assert message in result.output


def test_a_table_of_ones_own_gets_its_own_table(tmp_path):
    bunch = make_base_rate_groups((0.5, 0.3), n_per_group=200, random_state=0, drop_group=True)
    path, store = tmp_path / "mine.csv", str(tmp_path / "a.sqlite")
    bunch.data.assign(town="here", z=bunch.group.to_numpy(), y=np.where(bunch.target, "yes", "no")).to_csv(
        path, index=False
    )
    options = ["--data", str(path), "--label", "y", "--group", "z", "--cost", "0.7", "--splits", "2"]
    options += ["--positive", "yes"]
    result = CliRunner().invoke(main, ["reproduce", "--store", store, *options])
    assert result.exit_code == 0, result.output
    status = CliRunner().invoke(main, ["status", "--store", store]).output
    assert "adult" not in status
    assert {line.split()[4] for line in status.splitlines()[1:7]} == {"0"}  # nothing is missing
    table = CliRunner().invoke(main, ["tables", "--store", store]).output
    assert "mine" in table
    assert all(method in table for method in METHODS)
