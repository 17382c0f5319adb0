import numpy as np
import pytest

from selfselect.reproduction.paper.summary import below_the_paper, paper_results, summarise, without_applicants


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


def test_cells_below_the_paper_are_those_beyond_one_standard_error(small_results):
    summary = summarise(small_results).iloc[:2].copy()
    summary["paper_accuracy"], summary["paper_accuracy_se"] = 90.0, 0.5
    summary["accuracy"] = [89.52, 89.4]
    assert below_the_paper(summary)["accuracy"].tolist() == [89.4]


def test_cells_without_applicants_are_not_below_the_paper_but_by_themselves(small_results):
    summary = summarise(small_results).iloc[:3].copy()
    summary["paper_accuracy"], summary["paper_accuracy_se"] = 90.0, [0.5, 0.5, np.nan]
    summary["accuracy"] = [89.52, np.nan, np.nan]
    assert below_the_paper(summary).empty
    assert without_applicants(summary)["method"].tolist() == [summary["method"].iloc[1]]
