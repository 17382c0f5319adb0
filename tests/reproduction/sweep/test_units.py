import warnings
from dataclasses import replace

import pytest

from invented import SMALL_COSTS
from selfselect import StrategicClassifier
from selfselect.estimators import GradientDescentLogisticRegression
from selfselect.learning import PRESETS
from selfselect.reproduction import ALL_METHODS, METHODS
from selfselect.reproduction.methods import RATE_METHODS, WEIGHT_METHODS
from selfselect.reproduction.people import split_people
from selfselect.reproduction.sweep.units import Unit, UnitError, run_unit


def test_a_cost_gives_the_same_result_alone_and_among_others(monkeypatch, small_plan):
    for name, preset in PRESETS.items():  # some steps are as good as all of them here
        monkeypatch.setitem(PRESETS, name, replace(preset, steps=50))
    dataset = small_plan.datasets[0]
    alike = {*list(WEIGHT_METHODS)[1:], *list(RATE_METHODS)[1:]}  # but for a number
    for method in ALL_METHODS.keys() - alike:
        together = run_unit(Unit(dataset, method, 1, SMALL_COSTS))
        apart = [run_unit(Unit(dataset, method, 1, (cost,)))[0] for cost in reversed(SMALL_COSTS)]
        assert together == apart[::-1]


def test_fits_of_the_descent_are_those_of_its_estimators(monkeypatch, small_plan):
    monkeypatch.setitem(PRESETS, "released", replace(PRESETS["released"], steps=50))
    dataset = small_plan.datasets[0]
    split = split_people(dataset.load(), 1)
    for method, group_columns in (("strat_x_descent", True), ("strat_parity_descent", False)):
        first = 0 if group_columns else split.train.n_group_columns
        for result in run_unit(Unit(dataset, method, 1, SMALL_COSTS)):
            settings = {key: value for key, value in result.configuration.items() if key != "group_columns"}
            model = StrategicClassifier(result.cell.cost, random_state=1, publish="train", **settings)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model.fit(split.train.features[:, first:], split.train.y, sensitive_features=split.train.codes)
            assert model.published_.counts.selected.tolist() == result.train_counts["selected"]
    naive, semi = (run_unit(Unit(dataset, f"{name}_descent", 1, SMALL_COSTS)) for name in ("naive", "semi"))
    score = GradientDescentLogisticRegression(dtype="float32", random_state=1)
    passes = score.fit(split.train.features, split.train.y).predict(split.train.features) == 1
    for blind, tuned in zip(naive, semi, strict=True):
        assert sum(blind.train_counts["selected"]) == passes.sum()
        if blind.train_metrics["induced_accuracy"] is not None:
            assert tuned.train_metrics["induced_accuracy"] >= blind.train_metrics["induced_accuracy"] - 0.01


def test_a_failing_fit_is_named(monkeypatch, small_plan):
    def fail(*args):
        raise RuntimeError("no luck")

    monkeypatch.setitem(METHODS, "naive", replace(METHODS["naive"], fit=fail))
    with pytest.raises(UnitError, match=r"people, naive, split 1, cost 0.7: RuntimeError: no luck"):
        run_unit(Unit(small_plan.datasets[0], "naive", 1, (0.7,)))
