"""The page: its numbers by slow loops and by independent counts, its verdicts on made-up numbers, its links."""

from __future__ import annotations

import re
from operator import attrgetter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import selfselect
from invented_results import invented_results, slow_outcome
from reproduction import claims, figures, page
from reproduction.claims import CORRECTED, FAILS, HOLDS, UNDECIDED, Numbers
from reproduction.methods import PAPER_METHODS
from reproduction.results import load_results, with_metrics
from reproduction.summaries import descent_part
from reproduction.tables import number, results_table, with_error

DOCS = Path(__file__).parents[2] / "docs"
KEPT = DOCS / "reproduction"


@pytest.fixture(scope="module")
def descents() -> pd.DataFrame:
    return descent_part(with_metrics(load_results(KEPT / "descent.csv.gz")))


def rows_of(text: str, *cells: str) -> list[list[str]]:
    """Rows of tables that begin with some cells."""
    lines = [[cell.strip() for cell in line.strip("| ").split("|")] for line in text.splitlines() if line[:1] == "|"]
    return [line for line in lines if line[: len(cells)] == list(cells)]


# ---------------------------------------------------------------------- tables


def test_the_main_and_extended_tables_are_averages_over_splits():
    results = invented_results(PAPER_METHODS, ("adult", "bank_30"), (0.7, 0.8), splits=4)
    text = page.render_page(results)
    for (dataset, method, cost), fits in results.groupby(["dataset", "method", "cost"]):
        outcomes = [slow_outcome(row) for row in fits.to_dict("records")]
        accuracy = [each["accuracy"] for each in outcomes if each["groups"]]
        mean, error = (
            np.mean(accuracy),
            np.std(accuracy, ddof=1) / np.sqrt(len(accuracy)) if len(accuracy) > 1 else np.nan,
        )
        shown = with_error(mean, error) if len(accuracy) == len(outcomes) else f"({mean:.1f})" if accuracy else "-"
        main, extended = rows_of(text, page.SHORT[dataset], f"{cost:g}", method)[:2]
        assert main == extended
        assert main[5] == shown
        assert main[8] == f"{np.mean([each['groups'] for each in outcomes]):.1f}"
        assert float(main[13]) == pytest.approx(np.mean([each["social_cost"] for each in outcomes]), abs=0.051)


def test_cells_without_applicants_in_some_splits_are_in_parentheses_and_without_any_a_dash():
    summary = pd.DataFrame(
        {"dataset": "adult", "method": ["naive", "semi"], "cost": 0.7, "paper_applicants_in": "no split"}
    )
    names = ("accuracy", "accuracy_se", "applying_groups", "rank_r2")
    summary = summary.assign(**{f"paper_{name}": np.nan for name in names}, splits=3, splits_with_applicants=[2, 0])
    summary = summary.assign(
        accuracy=[88.0, np.nan], accuracy_se=1.0, applying_groups=1.0, rank_r2=0.1, social_cost=5.0
    )
    summary = summary.assign(spearman=-0.001, respected=0.5, splits_with_order=2)
    table = results_table(summary)
    assert table["accuracy: ours"].tolist() == ["(88.0)", "-"]
    assert table["Spearman: ours"].tolist() == ["0.00", "0.00"]
    assert table["in order: ours"].tolist() == ["1", "1"]
    assert number(float("nan")) == "-"


# ---------------------------------------------------------------------- what was run again, from the kept counts


def test_the_printed_accuracies_of_naive_on_the_bank_data_are_those_of_the_next_group(descents):
    by_dataset = {name: page.naive_on_bank(descents, name) for name in ("bank_30", "bank_original")}
    shifted = [float(text.split()[0]) for text in by_dataset["bank_30"]["table"]["re-run, next group's accuracy"][1:]]
    np.testing.assert_allclose(shifted, [83.7, 81.8, 76.9, 78.7, 86.9])
    np.testing.assert_allclose(shifted, [83.5, 80.9, 76.7, 78.7, 86.7], atol=0.9)  # as printed
    assert (
        sum(each["near"]["shifted"] for each in by_dataset.values())
        == sum(each["cells"] for each in by_dataset.values())
        == 6
    )
    assert sum(each["near"]["accuracy"] for each in by_dataset.values()) == 0
    # at a cost of .75 one group applies in one split of the original data
    row = descents.query(
        "dataset == 'bank_original' and method == 'naive' and cost == 0.75 and applying_groups > 0"
    ).iloc[0]
    following = np.flatnonzero(row["applies"])[0] + 1
    n, positives, selected, true_positives = (
        row[f"test_{name}"][following] for name in ("n", "positives", "selected", "true_positives")
    )
    assert round(100 * (n - positives - selected + 2 * true_positives) / n, 1) == 77.0


def test_verdicts_on_the_printed_numbers_and_on_the_papers_own_training(descents):
    sources = Numbers.printed(), Numbers.of_fits(descents)
    verdicts = [[numbers.judge(rule)["verdict"] for rule in claims.RULES] for numbers in sources]
    assert verdicts[0] == [HOLDS, FAILS, HOLDS, HOLDS, CORRECTED, *[UNDECIDED] * 6]
    assert verdicts[1] == [CORRECTED, HOLDS, HOLDS, HOLDS, CORRECTED, FAILS, HOLDS, HOLDS, CORRECTED, HOLDS, FAILS]


def test_a_tolerance_is_met_if_rates_are_that_close():
    row = {f"published_{name}": (100, 200) for name in ("n", "positives")}
    row |= {"published_selected": (10, 24), "published_true_positives": (10, 24)}
    settings = {"parity": 1.0, "rate_bound": 0.02}
    assert page.meets_tolerance(row | {"configuration": settings}) == 1
    assert page.meets_tolerance(row | {"configuration": settings | {"rate_bound": 0.019}}) == 0
    # .12 - .10 is .176 of the overall rate, .113
    assert page.meets_tolerance(row | {"configuration": settings | {"relative": True}}) == 0
    assert np.isnan(page.meets_tolerance(row | {"configuration": {"parity": 0.0}}))


# ---------------------------------------------------------------------- verdicts


def averages(**accuracy: tuple[float, ...]) -> Numbers:
    """Averages of all splits, by method, at as many costs."""
    rows = [
        {"dataset": "adult", "method": method, "cost": 0.6 + i / 10, "accuracy": value, "accuracy_se": 0.5}
        for method, values in accuracy.items()
        for i, value in enumerate(values)
    ]
    return Numbers(pd.DataFrame(rows).assign(splits=10, splits_with_applicants=10, applying_groups=1.0, rank_r2=0.9))


@pytest.mark.parametrize(
    ("strat_x", "verdict"), [((91.0, 91.0), HOLDS), ((91.0, 89.6), CORRECTED), ((91.0, 89.4), FAILS)]
)
def test_strat_x_is_best_if_it_is_the_highest_or_nearly_so(strat_x, verdict):
    others = dict.fromkeys(("naive", "semi", "strat_no_group", "strat_parity"), (90.0, 90.0))
    assert averages(strat_x=strat_x, **others).judge(claims.strat_x_is_best)["verdict"] == verdict


@pytest.mark.parametrize(("semi", "verdict"), [((88.0, 90.5), HOLDS), ((90.0, 90.5), FAILS), ((93.0, 91.0), FAILS)])
def test_semi_must_be_lower_and_vary(semi, verdict):
    assert averages(strat_x=(91.0, 91.0), semi=semi).judge(claims.semi_is_inconsistent)["verdict"] == verdict


def test_a_claim_about_methods_that_were_not_run_cannot_be_decided():
    evidence = averages(naive=(90.0,)).judge(claims.restrictions_cost_accuracy)
    assert evidence["verdict"] == UNDECIDED
    assert "undefined" in evidence["reason"]
    assert Numbers.of_fits(pd.DataFrame()).judge(claims.social_cost_is_high)["reason"] == "There are no results."


# ---------------------------------------------------------------------- the page as a whole


@pytest.mark.parametrize("methods", [("naive",), ("strat_x", "strat_order"), ("semi", "strat_parity", "naive_descent")])
def test_a_page_of_few_results_says_what_is_missing(methods, tmp_path):
    path = tmp_path / "page.md"
    page.write_page(invented_results(methods, splits=2), path, assets="files")
    text = path.read_text()
    assert "incomplete run" in text
    assert "Not run yet." in text
    assert "cannot be decided" in text
    assert "(files/figure05_social_cost.png)" in text
    assert not re.search(r"\bnan\b|\{\{|\{%", text)


def test_every_link_of_the_kept_page_leads_somewhere():
    text = (DOCS / "reproduction.md").read_text()
    headings = {
        re.sub(r"[^\w -]", "", line.lstrip("# ")).lower().replace(" ", "-")
        for line in text.splitlines()
        if line[:1] == "#"
    }
    targets = set(re.findall(r"\]\(([^)]+)\)", text))
    assert {target[1:] for target in targets if target[0] == "#"} <= headings
    assert all((DOCS / target).exists() for target in targets if target[0] != "#")


def test_every_rule_has_its_claim_and_every_figure_its_caption_in_the_template():
    template = (Path(page.__file__).parent / "templates" / "page.md").read_text()
    assert re.findall(r'^  "(\w+)": \(', template, re.M) == [rule.__name__ for rule in claims.RULES]
    assert sorted(re.findall(r'figure\("(\w+)", "', template)) == figures.NAMES


def test_every_function_that_the_theory_page_names_exists():
    text = (DOCS / "research" / "theory.md").read_text()
    names = {name for row in text.splitlines() if row.startswith("| ") for name in re.findall(r"`([\w.]+)`", row)}
    assert len(names) > 10
    assert all(attrgetter(name)(selfselect) for name in names)
