"""MinSelectionRate: the least share of every group that is selected."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from selfselect import InfeasibleError, PublishedStatistics, SemiStrategicClassifier, StrategicClassifier
from selfselect.constraints import MaxSocialCost, MinSelectionRate, RequiredGroups

pytestmark = pytest.mark.filterwarnings("ignore::selfselect.ApplicationWarning")


def crowd(seed):
    """A small population of two to four groups, some of them tiny, with and without columns that tell them apart."""
    random = np.random.default_rng(seed)
    n_groups = int(random.integers(2, 5))
    codes = np.concatenate([np.full(n, g) for g, n in enumerate(random.integers(8, 90, n_groups))])
    x = random.normal(size=(len(codes), 2))
    rates = random.normal(-0.3, 1.0, n_groups)
    y = random.random(len(codes)) < 1 / (1 + np.exp(-(random.normal(1.5, 0.5) * x[:, 0] + rates[codes])))
    return x, np.column_stack([x, np.eye(n_groups)[codes]]), y.astype(int), np.array(list("abcd"))[codes]


@pytest.mark.parametrize("publish", ["train", "cross_fit", "holdout"])
@pytest.mark.parametrize("seed", range(0, 6, 2))
@pytest.mark.parametrize(
    ("cls", "settings", "more"),
    [
        (SemiStrategicClassifier, {}, []),
        (StrategicClassifier, {}, []),
        (StrategicClassifier, {"solver": "constructive", "shut_out": "select_all"}, []),
        (StrategicClassifier, {"solver": "constructive"}, [MaxSocialCost(0.4)]),
        (StrategicClassifier, {"solver": "constructive"}, [RequiredGroups("a")]),
    ],
    ids=["semi", "strategic", "select all", "with a limit", "with a required group"],
)
def test_the_published_counts_keep_the_rate_or_fit_raises(cls, settings, more, publish, seed):
    without, with_columns, y, z = crowd(seed)
    rate, cost = [0.05, 0.2, 0.5, 0.9, 1.0, 0.35][seed], [0.6, 0.75, 0.5, 0.7, 0.6, 0.8][seed]
    for X in (without, with_columns):
        model = cls(cost=cost, constraints=[MinSelectionRate(rate), *more], publish=publish, **settings)
        refused = ""
        try:
            model.fit(X, y, sensitive_features=z)
        except InfeasibleError as error:
            refused = str(error)
        if refused:  # a rate alone can always be kept
            assert more
            assert f"while at least {rate:g} of each group is selected" in refused
            continue
        counts = model.published_.counts
        assert (counts.selection_rate[counts.n > 0] >= rate - 1e-9).all()
        if publish == "train":
            table = PublishedStatistics.from_estimator(model, X, y, sensitive_features=z)
            assert (table.counts.selection_rate >= rate - 1e-9).all()


def test_semi_stays_close_to_the_inner_threshold_if_nobody_can_apply(people):
    X, y, z = people
    inner = LogisticRegression().fit(X, y)
    free, limited = (
        SemiStrategicClassifier(inner, prefit=True, cost=1.0, constraints=[MinSelectionRate(rate)]).fit(
            X, y, sensitive_features=z
        )
        for rate in (0.0, 0.4)
    )
    assert free.threshold_ == 0
    assert limited.threshold_ < 0
    assert limited.published_.counts.selection_rate.min() == pytest.approx(0.4, abs=0.01)
