"""At cost 0 everybody applies, so shutting groups out gains nothing."""

import numpy as np
import pytest

from selfselect import GroupThresholdClassifier, NaiveClassifier, StrategicClassifier

PEOPLE = 3000
pytestmark = [
    pytest.mark.filterwarnings(f"ignore::selfselect.{name}") for name in ("ApplicationWarning", "ShutOutWarning")
]


@pytest.fixture(scope="module")
def people():
    """Five groups of different base rates, with one-hot columns; training people and new ones."""
    rng = np.random.default_rng(5)
    z = rng.integers(0, 5, PEOPLE)
    x = rng.normal(size=(PEOPLE, 2))
    y = rng.random(PEOPLE) < 1 / (1 + np.exp(-(x @ [1.5, 0.5] + 0.5 * z - 1)))
    X = np.column_stack([x, z[:, None] == np.arange(5)]).astype(float)
    new = np.arange(PEOPLE) % 3 == 0
    return (X[~new], y[~new], z[~new]), (X[new], y[new], z[new])


@pytest.mark.parametrize("publish", ["cross_fit", "train"])
@pytest.mark.parametrize("make", [StrategicClassifier, GroupThresholdClassifier])
def test_at_no_cost_every_group_applies_and_accuracy_is_that_of_naive(people, make, publish):
    (X, y, z), (X_new, y_new, z_new) = people
    naive = NaiveClassifier(cost=0.0).fit(X, y, sensitive_features=z).audit(X_new, y_new, z_new)
    model = make(cost=0.0, publish=publish).fit(X, y, sensitive_features=z)
    audit = model.audit(X_new, y_new, z_new)
    assert model.applies().all()
    assert audit.social_cost == 0
    assert audit.induced_accuracy > naive.induced_accuracy - 0.02


def test_a_group_whose_cost_is_fully_subsidised_applies(people):
    (X, y, z), _ = people
    model = StrategicClassifier(cost=0.8, subsidies={0: 0.8}).fit(X, y, sensitive_features=z)
    assert model.applies()[0]
    assert not StrategicClassifier(cost=0.8).fit(X, y, sensitive_features=z).applies()[0]
