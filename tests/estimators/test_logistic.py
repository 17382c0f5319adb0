"""The paper's naive score: a logistic regression by gradient descent."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from selfselect.estimators import GradientDescentLogisticRegression


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks([GradientDescentLogisticRegression(max_iter=300)])
def test_it_is_a_scikit_learn_classifier(estimator, check):
    check(estimator)


def test_its_steps_equal_a_plain_loop(people):
    X, y, _ = people
    x, labels = np.column_stack([X, np.ones(len(y))]), y.to_numpy()
    w = np.random.RandomState(3).normal(size=x.shape[1])
    for _ in range(50):
        w = w - 0.3 * x.T @ (1.5 * (1 / (1 + np.exp(-1.5 * x @ w)) - labels)) / len(y)
    model = GradientDescentLogisticRegression(temperature=1.5, learning_rate=0.3, max_iter=50, random_state=3)
    model.fit(X, y)
    np.testing.assert_allclose(np.append(model.coef_[0], model.intercept_), w, rtol=1e-12)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], 1 / (1 + np.exp(-1.5 * x @ w)), rtol=1e-12)


def test_with_many_steps_it_is_logistic_regression(people):
    X, y, _ = people
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
    model = GradientDescentLogisticRegression(max_iter=20_000, learning_rate=1.0, random_state=0)
    model.fit(X, y, sample_weight=weight)
    best = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(X, y, sample_weight=weight)
    assert model.max_gradient_ < 1e-8
    np.testing.assert_allclose(model.predict_proba(X), best.predict_proba(X), atol=1e-4)
    assert GradientDescentLogisticRegression(max_iter=20, random_state=0).fit(X, y).max_gradient_ > 1e-3


def test_single_precision_agrees_up_to_rounding(people):
    X, y, _ = people
    double, single = (
        GradientDescentLogisticRegression(max_iter=500, random_state=0, dtype=dtype).fit(X, y)
        for dtype in ("float64", "float32")
    )
    np.testing.assert_allclose(single.coef_, double.coef_, atol=1e-4)
    assert (single.coef_.astype(np.float32) == single.coef_).all()


def test_a_descent_that_diverges_raises(people):
    X, y, _ = people
    with pytest.raises(ValueError, match="diverged: scale the features, or lower learning_rate"):
        GradientDescentLogisticRegression(max_iter=500, learning_rate=1e300, random_state=0).fit(X * 1e8, y)
