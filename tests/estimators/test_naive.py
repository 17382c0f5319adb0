"""Learning without a thought of who applies: the classifier is the one that it holds."""

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from selfselect import NaiveClassifier


def test_naive_is_the_classifier_it_holds(people):
    X, y, z = people
    model = NaiveClassifier(cost=0.6).fit(X, y, sensitive_features=z)
    plain = LogisticRegression(C=np.inf, max_iter=1000).fit(X, y)
    assert (model.predict(X) == plain.predict(X)).all()
    # up to the order in which threads add up: ours are fitted on one
    for name in ("predict_proba", "decision_function"):
        np.testing.assert_allclose(getattr(model, name)(X), getattr(plain, name)(X), rtol=1e-10)
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-10)
    np.testing.assert_allclose(model.intercept_, plain.intercept_, rtol=1e-10)
    trees = NaiveClassifier(HistGradientBoostingClassifier(max_iter=5), cost=0.6, publish="train")
    trees.fit(X, y, sensitive_features=z)
    assert hasattr(trees, "predict_proba")
    assert len(trees.published_) == 3
