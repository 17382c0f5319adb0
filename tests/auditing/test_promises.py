"""What was promised, and what new people got."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from selfselect import NaiveClassifier, audit
from selfselect.auditing.promises import promises
from selfselect.counting import GroupCounts
from selfselect.datasets import make_base_rate_groups


@given(st.integers(0, 60), st.integers(0, 60), st.floats(0.05, 0.95))
def test_a_promise_is_broken_or_kept_where_binomial_tests_say_so(hits, passed, cost):
    hits = min(hits, passed)
    counts = GroupCounts(*(np.array([value]) for value in (100, 60, passed, hits)))
    row = promises(np.array([True]), np.array([cost]), counts, pd.Index(["A"])).iloc[0]
    broken = passed > 0 and binom.cdf(hits, passed, cost) < 0.05
    kept = passed > 0 and binomtest(hits, passed, cost, alternative="greater").pvalue < 0.05
    assert row["promise_kept"] == ("no" if broken else "yes" if kept else "undecided")
    assert np.isnan(row["delivered"]) == (passed == 0)


def test_nothing_is_promised_to_those_who_stay_away():
    counts = GroupCounts(*(np.array([value]) for value in (100, 60, 50, 1)))
    assert promises(np.array([False]), np.array([0.5]), counts, pd.Index(["A"]))["promise_kept"].tolist() == [""]


def test_an_audit_of_new_people_has_what_was_published_and_what_was_delivered():
    X, y, z = make_base_rate_groups((0.6, 0.3), n_per_group=400, random_state=0, return_X_y_group=True)
    new = make_base_rate_groups((0.6, 0.3), n_per_group=400, random_state=1, return_X_y_group=True)
    model = NaiveClassifier(cost=0.6).fit(X, y, sensitive_features=z)
    found = model.audit(*new).to_frame()
    asked = ["precision", "delivered", "delivered_low", "delivered_high", "cost", "applies", "promise_kept"]
    assert list(found[asked].columns) == asked
    assert found["precision"].to_numpy() == pytest.approx(model.published_.precision.to_numpy())
    delivered = audit(new[1], y_pred=model.predict(new[0]), sensitive_features=new[2], cost=0.6).published.precision
    assert found["delivered"].to_numpy() == pytest.approx(delivered.to_numpy())
    assert (found["delivered_low"] <= found["delivered"]).all()
    assert "delivered" not in audit(y, y_pred=y, sensitive_features=z, cost=0.6).to_frame()
