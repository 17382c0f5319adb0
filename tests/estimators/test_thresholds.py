"""Any classifier's score with a threshold for each group."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from selfselect import GroupThresholdClassifier, InfeasibleError, StrategicClassifier, ThresholdCurves, constraints
from selfselect.behaviour import LogitResponse
from selfselect.constraints import DemographicParity, MaxSocialCost, MinSelectionRate, RequiredGroups
from selfselect.datasets import make_base_rate_groups
from selfselect.metrics import induced_accuracy_scorer

pytestmark = pytest.mark.filterwarnings("ignore::selfselect.ApplicationWarning")


@pytest.fixture(scope="module")
def crowd():
    return make_base_rate_groups((0.6, 0.4, 0.2), n_per_group=300, random_state=0, return_X_y_group=True)


def test_without_caution_it_is_the_best_threshold_of_the_best_group(crowd):
    X, y, z = crowd
    for cost in (0.6, 0.75, 0.9):
        model = GroupThresholdClassifier(cost=cost, publish="train", caution=0.0).fit(X, y, sensitive_features=z)
        score = LogisticRegression(C=np.inf, max_iter=1000).fit(X, y).decision_function(X)
        best = ThresholdCurves.from_scores(y, score, sensitive_features=z).best_by_group(cost)["accuracy"].max()
        assert model.audit(X, y, z).induced_accuracy == pytest.approx(best)


def test_predictions_compare_the_score_with_the_threshold_of_the_group(crowd):
    X, y, z = crowd
    model = GroupThresholdClassifier(cost=0.7, constraints=[MaxSocialCost(0.0)]).fit(X, y, sensitive_features=z)
    assert model.applies().all()
    score = model.estimator_.decision_function(X)
    by_hand = score > z.map(model.thresholds_.to_dict()).to_numpy(dtype=float)
    assert (model.predict(X, z) == by_hand).all()
    with pytest.raises(TypeError, match="The threshold depends on the group"):
        model.predict(X)
    with pytest.raises(ValueError, match="does not know: 'z9'"):
        model.predict(X, ["z9"] * len(X))
    pooled = model.set_params(unseen="pooled").predict(X, ["z9"] * len(X))
    assert (pooled == model.estimator_.predict(X)).all()


def test_the_group_may_be_a_column_of_the_features(crowd):
    X, y, z = crowd
    table = X[["x"]].assign(team=pd.factorize(z)[0])
    model = GroupThresholdClassifier(cost=0.7, group_columns=["team"], constraints=[RequiredGroups(0, 1)])
    model.fit(table, y)
    assert (model.predict(table) == model.predict(table, table[["team"]])).all()
    assert model.applies().tolist()[:2] == [True, True]


def test_the_best_estimator_on_unseen_people_is_kept(crowd):
    X, y, z = crowd
    memory = HistGradientBoostingClassifier(max_iter=100, min_samples_leaf=1, random_state=0)
    several = [memory, LogisticRegression(C=np.inf)]
    model = GroupThresholdClassifier(several, cost=0.7).fit(X, y, sensitive_features=z)
    assert isinstance(model.estimator_, LogisticRegression)
    in_sample = GroupThresholdClassifier(several, cost=0.7, publish="train").fit(X, y, sensitive_features=z)
    assert isinstance(in_sample.estimator_, HistGradientBoostingClassifier)
    with pytest.raises(ValueError, match="estimator is an empty list"):
        GroupThresholdClassifier([]).fit(X, y, sensitive_features=z)


@pytest.mark.parametrize(
    ("constraint", "holds"),
    [
        (DemographicParity(0.05), lambda c: np.ptp(c.selection_rate) <= 0.05 + 1e-9),
        (constraints.TruePositiveRateParity(0.05), lambda c: np.ptp(c.true_positive_rate) <= 0.05 + 1e-9),
        (
            constraints.FalsePositiveRateParity(0.05),
            lambda c: np.ptp((c.selected - c.true_positives) / (c.n - c.positives)) < 0.051,
        ),
        (DemographicParity(ratio_bound=0.8), lambda c: c.selection_rate.min() >= 0.8 * c.selection_rate.max() - 1e-9),
        (MinSelectionRate(0.1), lambda c: c.selection_rate.min() >= 0.1 - 1e-9),
        (RequiredGroups("z2"), lambda c: c.precision[2] >= 0.7),
    ],
    ids=lambda value: "" if callable(value) else str(value),
)
def test_constraints_hold_on_the_published_counts(constraint, holds, crowd):
    X, y, z = crowd
    model = GroupThresholdClassifier(cost=0.7, constraints=[constraint]).fit(X, y, sensitive_features=z)
    assert holds(model.published_.counts)
    assert model.allocation_.exact
    assert model.violations_.to_dict() == {repr(constraint): 0.0}
    assert model.explain().endswith(f"\n{constraint!r}: holds.")


@pytest.mark.parametrize("constraint", [constraints.BaseRateOrder(), DemographicParity(0.1, relative=True)], ids=str)
def test_a_constraint_that_it_cannot_enforce_is_refused_with_the_learners_that_can(constraint, crowd):
    X, y, z = crowd
    match = rf"cannot enforce {re.escape(repr(constraint))}; StrategicClassifier and SemiStrategicClassifier can"
    with pytest.raises(ValueError, match=match):
        GroupThresholdClassifier(cost=0.7, constraints=[constraint]).fit(X, y, sensitive_features=z)


def test_a_constraint_that_cannot_be_met_raises(crowd):
    X, y, z = crowd
    with pytest.raises(InfeasibleError, match="z2"):
        GroupThresholdClassifier(cost=0.995, constraints=[RequiredGroups("z2")]).fit(X, y, sensitive_features=z)
    paid = GroupThresholdClassifier(cost=0.995, constraints=[RequiredGroups("z2")], subsidies={"z2": 0.5})
    assert paid.fit(X, y, sensitive_features=z).applies()["z2"]


def test_shut_out_groups_have_nobody_everybody_or_their_share_selected(crowd):
    X, y, z = crowd
    rates = {}
    for how in ("select_none", "select_all", "forbid"):
        model = GroupThresholdClassifier(cost=0.8, shut_out=how).fit(X, y, sensitive_features=z)
        outside = ~model.applies().to_numpy()
        rates[how] = model.published_.counts.selection_rate[outside]
    assert (rates["select_none"] == 0).all()
    assert (rates["select_all"] == 1).all()
    assert (rates["forbid"] > 0).all()


def test_explain_has_a_line_for_each_group(crowd):
    X, y, z = crowd
    lines = GroupThresholdClassifier(cost=0.8).fit(X, y, sensitive_features=z).explain().split("\n")
    assert len(lines) == 3
    assert sum("the lower bound reaches its cost of 0.8" in line for line in lines) == 1
    assert sum("shut out" in line for line in lines) == 2


def test_pipelines_and_searches_pass_the_groups_along(crowd):
    X, y, z = crowd
    with config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(StandardScaler(), GroupThresholdClassifier(cost=0.7))
        pipeline.fit(X, y, sensitive_features=z)
        assert set(pipeline.predict(X, sensitive_features=z)) <= {0, 1}
        search = GridSearchCV(
            GroupThresholdClassifier(cost=0.7),
            {"constraints": [[], [MaxSocialCost(0.5)]]},
            scoring=induced_accuracy_scorer(nobody=0.0),
            cv=StratifiedKFold(2, shuffle=True, random_state=0),
        )
        search.fit(X, y, sensitive_features=z)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_score_ > 0.7


def test_audits_find_group_columns_too(crowd):
    X, y, z = crowd
    frame = X.assign(group=z.astype(str))
    only_x = make_pipeline(ColumnTransformer([("kept", "passthrough", ["x"])]), LogisticRegression())
    named = GroupThresholdClassifier(only_x, cost=0.6, group_columns=["group"]).fit(frame, y)
    given = GroupThresholdClassifier(only_x, cost=0.6).fit(frame, y, sensitive_features=frame["group"])
    assert named.audit(frame, y).outcome == given.audit(frame, y, frame["group"]).outcome
    assert induced_accuracy_scorer()(named, frame, y) == named.audit(frame, y).induced_accuracy


def test_a_group_of_which_nobody_is_evaluated_cannot_be_required(crowd):
    X, y, z = crowd
    gone = z == z.iloc[0]
    with pytest.raises(InfeasibleError, match="nobody of it was evaluated"):
        GroupThresholdClassifier(cost=0.6, constraints=[RequiredGroups(z.iloc[0])]).fit(
            X, y, sensitive_features=z, sample_weight=np.where(gone, 0.0, 1.0)
        )
    kept = GroupThresholdClassifier(cost=0.6, constraints=[MinSelectionRate(0.01)]).fit(
        X, y, sensitive_features=z, sample_weight=np.where(gone, 0.0, 1.0)
    )
    assert np.isfinite(kept.thresholds_[z.iloc[0]])


@pytest.mark.parametrize("behaviour", [LogitResponse(0.02), LogitResponse(0.2)], ids=str)
def test_where_shares_apply_most_of_a_group_that_is_let_in_applies(behaviour, crowd):
    X, y, z = crowd
    with_groups = X.assign(**{f"is {label}": (z == label).astype(float) for label in np.unique(z)})
    for model, features in (
        (GroupThresholdClassifier(cost=0.7, behaviour=behaviour, publish="train"), X),
        (StrategicClassifier(cost=0.7, behaviour=behaviour, random_state=0), with_groups),
    ):
        shares = model.fit(features, y, sensitive_features=z).application_shares()
        assert (shares >= 0.5).any()
        assert ((shares >= 0.5) | (shares == 0)).all()
