"""Learning without a thought of who applies: the classifier is the one that it holds."""

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from selfselect import NaiveClassifier


def test_naive_is_the_classifier_it_holds(people):
    X, y, z = people
    model = NaiveClassifier(cost=0.6).fit(X, y, sensitive_features=z)
    with threadpool_limits(1):  # as ours are fitted: several threads add up in another order
        plain = LogisticRegression(C=np.inf, max_iter=1000).fit(X, y)
    assert (model.predict(X) == plain.predict(X)).all()
    assert (model.predict_proba(X) == plain.predict_proba(X)).all()
    assert (model.decision_function(X) == plain.decision_function(X)).all()
    assert (model.coef_ == plain.coef_).all()
    assert (model.intercept_ == plain.intercept_).all()
    trees = NaiveClassifier(HistGradientBoostingClassifier(max_iter=5), cost=0.6, publish="train")
    trees.fit(X, y, sensitive_features=z)
    assert hasattr(trees, "predict_proba")
    assert len(trees.published_) == 3
