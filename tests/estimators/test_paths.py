"""A path over costs gives the models of one fit per cost."""

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from selfselect import GroupThresholdClassifier, NaiveClassifier, SemiStrategicClassifier, StrategicClassifier
from selfselect.constraints import DemographicParity
from selfselect.datasets import make_base_rate_groups
from selfselect.estimators import cost_path
from selfselect.publishing import Holdout, LowerBound

pytestmark = pytest.mark.filterwarnings("ignore")
COSTS = [0.6, 0.75]
MODELS = [
    NaiveClassifier(),
    SemiStrategicClassifier(),
    GroupThresholdClassifier(publish="holdout"),
    StrategicClassifier(),
    StrategicClassifier(publish="train", constraints=[DemographicParity(0.2)]),
    StrategicClassifier(transformer=StandardScaler()),
    SemiStrategicClassifier(publish=Holdout(statistic=LowerBound(0.9), guarantee=True)),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_a_path_gives_the_models_of_one_fit_per_cost(model):
    X, y, z = make_base_rate_groups((0.5, 0.3), n_per_group=300, random_state=0, return_X_y_group=True)
    path = cost_path(model, X, y, z, COSTS)
    for cost, found in zip(COSTS, path, strict=True):
        alone = type(model)(**model.get_params(deep=False)).set_params(cost=cost).fit(X, y, sensitive_features=z)
        assert found.cost == cost
        np.testing.assert_array_equal(found.applies(), alone.applies())
        np.testing.assert_array_equal(found.published_.counts.selected, alone.published_.counts.selected)
        groups = {"sensitive_features": z} if isinstance(model, GroupThresholdClassifier) else {}
        np.testing.assert_array_equal(found.decision_function(X, **groups), alone.decision_function(X, **groups))


def test_folds_and_inner_classifiers_are_fitted_once(monkeypatch):
    X, y, z = make_base_rate_groups((0.5, 0.3), n_per_group=100, random_state=0, return_X_y_group=True)
    fitted = []
    monkeypatch.setattr(NaiveClassifier, "_fit_afresh", lambda self, *_: (fitted.append(1), _real(self, *_))[1])
    cost_path(NaiveClassifier(), X, y, z, [0.5, 0.6, 0.7])
    assert len(fitted) == 6


_real = NaiveClassifier._fit_afresh
