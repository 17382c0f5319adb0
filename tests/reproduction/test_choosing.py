"""A setting that training data choose."""

from types import SimpleNamespace

import numpy as np
import pytest

from selfselect import StrategicClassifier
from selfselect.reproduction.choosing import chosen_by_folds
from selfselect.reproduction.methods import ALL_METHODS, TOLERANCES
from selfselect.reproduction.people import BundledDataset, split_people


class Told:
    """A classifier whose accuracy on people left out is told beforehand, by its setting."""

    def __init__(self, setting=0):
        self.setting = setting

    def get_params(self, deep=False):
        return {"setting": self.setting}

    def set_params(self, setting):
        self.setting = setting
        return self

    def fit(self, X, y, sensitive_features):
        return self

    def audit(self, X, y, z):
        accuracy, came = self.setting
        return SimpleNamespace(outcome=SimpleNamespace(induced_accuracy=accuracy, application_rate=came))


@pytest.fixture
def split():
    return split_people(BundledDataset("adult").load(), 0)


@pytest.mark.parametrize(
    ("values", "best"),
    [
        ([(0.8, 1.0), (0.9, 0.1)], 1),
        ([(0.9, 1.0), (0.9, 0.5)], 0),
        ([(0.6, 1.0), (np.nan, 0.0)], 0),
        ([(np.nan, 0.0), (0.6, 1.0)], 1),
        ([(np.nan, 0.0), (np.nan, 0.0)], 0),
    ],
)
def test_the_highest_accuracy_over_applicants_is_chosen_and_the_first_of_equals(split, values, best):
    assert chosen_by_folds(Told(), "setting", values, split.train.features, split.train) == values[best]


def test_nobody_who_is_fitted_is_counted_and_everybody_is_left_out_once(split):
    people, seen = split.train, []

    class Watching(Told):
        def fit(self, X, y, sensitive_features):
            self.fitted_ = {row.tobytes() for row in X}
            return self

        def audit(self, X, y, z):
            seen.append((len(X), self.fitted_))
            assert not any(row.tobytes() in self.fitted_ for row in X)
            return super().audit(X, y, z)

    rows = np.arange(len(people.y), dtype=float)[:, None]
    chosen_by_folds(Watching(), "setting", [(0.5, 1.0)], rows, people)
    assert len(seen) == 5
    assert sum(n for n, _ in seen) == len(people.y)


def test_the_method_fits_with_the_margin_that_folds_choose_and_never_sees_the_test_set(split):
    method = ALL_METHODS["strat_no_group_chosen"]
    (selection,) = method.fit(split, [0.75], lambda cost: method.settings("adult", cost), 0)
    features = split.train.features[:, split.train.n_group_columns :]
    made = {}
    for tolerance in TOLERANCES:
        model = StrategicClassifier(cost=0.75, random_state=0, publish="train", tolerance=tolerance)
        made[tolerance] = (
            model.fit(features, split.train.y, sensitive_features=split.train.codes).predict(features) == 1
        )
    best = chosen_by_folds(
        StrategicClassifier(cost=0.75, random_state=0, publish="train"), "tolerance", TOLERANCES, features, split.train
    )
    assert np.array_equal(selection.train, made[best])
