"""Shared by all tests."""

import os

import numpy as np
import pytest
from hypothesis import settings
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from browsing import CHROMIUM, NO_CHROMIUM, chromium
from selfselect.datasets import fetch_adult

settings.register_profile("selfselect", deadline=None, max_examples=100)
settings.load_profile("selfselect")


@pytest.fixture(scope="session")
def adult_splits():
    """The ten splits of Adult, each with a naive logistic regression: (model, X, y, z, X_test, y_test, z_test)."""
    adult = fetch_adult()
    splits = []
    for k in range(10):
        X, X_test, y, y_test, z, z_test = train_test_split(
            adult.data, adult.target, adult.group, test_size=0.3, random_state=k
        )
        model = LogisticRegression(C=np.inf, max_iter=1000).fit(X, y)
        splits.append((model, X, y, z, X_test, y_test, z_test))
    return splits


@pytest.fixture(scope="session")
def adult(adult_splits):
    """Split 0 of Adult, with and without group columns."""
    _, X, y, z, X_test, y_test, z_test = adult_splits[0]
    columns = fetch_adult(drop_group=True).feature_names
    return {"with": (X, y, z, X_test, y_test, z_test), "without": (X[columns], y, z, X_test[columns], y_test, z_test)}


@pytest.fixture(scope="session")
def browser():
    """A real browser, the same for all tests: playwright starts only one."""
    if CHROMIUM is None and not os.environ.get("SELFSELECT_REQUIRE_BROWSER"):
        pytest.skip(NO_CHROMIUM)
    pytest.importorskip("playwright.sync_api")
    with chromium() as started:
        yield started


@pytest.fixture(scope="session")
def finite_difference():
    """Numeric derivative of a function of an array."""

    def derivative(function, at, h=1e-6):
        steps = np.eye(len(at)) * h
        return np.array([(function(at + step) - function(at - step)) / (2 * h) for step in steps])

    return derivative
