import pytest

from selfselect.reproduction import BundledDataset
from selfselect.reproduction.sweep.results import metrics_from_counts, who_applies
from selfselect.reproduction.sweep.units import Unit, run_unit


def test_a_result_holds_all_that_its_metrics_follow_from():
    (result,) = run_unit(Unit(BundledDataset("adult"), "naive", 0, (0.725,)))
    assert result.train_counts["n"] == [942, 2965, 553, 6771]
    assert sum(result.train_counts["positives"]) == 2495
    assert result.groups == ("Asian-Pac-Islander", "Black", "Other", "White")
    assert result.published_counts == result.train_counts
    again = metrics_from_counts(
        result.groups, result.published_counts, result.train_counts, result.test_counts, result.applies
    )
    assert again == (result.train_metrics, result.test_metrics)
    assert result.test_metrics["applying_groups"] == 2


def test_who_applies_is_decided_by_training_people_and_undefined_is_none():
    train = {"n": [10, 10], "positives": [5, 5], "selected": [4, 0], "true_positives": [3, 0]}
    test = {"n": [10, 10], "positives": [5, 5], "selected": [4, 4], "true_positives": [1, 4]}

    def at(cost):
        return metrics_from_counts(("A", "B"), train, train, test, who_applies("AB", train, cost))

    on_train, on_test = at(0.75)
    assert on_test["applying_groups"] == 1
    assert on_test["induced_accuracy"] == pytest.approx((10 - 5 - 4 + 2) / 10)
    assert on_test["social_cost"] == 0.5
    assert at(0.8)[1]["induced_accuracy"] is None
    assert on_train["spearman"] is None
