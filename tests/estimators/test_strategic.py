"""StrategicClassifier: accuracy, constraints, settings, odd data."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.stats import uniform
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from own_behaviours import AtLeastTen, Linear
from selfselect import (
    ApplicationWarning,
    InfeasibleError,
    SemiStrategicClassifier,
    StrategicClassifier,
    ThresholdCurves,
    constraints,
    theory,
)
from selfselect.behaviour import BetaBeliefs, LogitResponse, PrivateCosts
from selfselect.constraints import (
    BaseRateOrder,
    DemographicParity,
    MaxSocialCost,
    RequiredGroups,
    TruePositiveRateParity,
)
from selfselect.datasets import make_ordering_constraint
from selfselect.metrics import rank_agreement
from selfselect.publishing import CrossFit, LowerBound, Precision

#: Rates that differ by at most a fifth of the overall rate, and precision in the order of base rates.
PARITY = [
    BaseRateOrder(),
    DemographicParity(0.2, relative=True, weight=10.0),
    TruePositiveRateParity(0.2, relative=True, weight=10.0),
]


def test_strategic_beats_every_threshold_on_a_naive_score():
    X, y, z = make_ordering_constraint(random_state=0, return_X_y_group=True)
    semi = SemiStrategicClassifier(cost=0.8).fit(X, y, sensitive_features=z).audit(X, y, z)
    strategic = StrategicClassifier(cost=0.8).fit(X, y, sensitive_features=z)
    assert strategic.applies().to_dict() == {"z0": True, "z1": False}
    assert strategic.audit(X, y, z).induced_accuracy > 0.99 > semi.induced_accuracy + 0.1


def test_constructive_is_the_strategic_optimum_on_the_logistic_score(people):
    X, y, z = people
    model = StrategicClassifier(cost=0.7, margin=0.0, solver="constructive").fit(X, y, sensitive_features=z)
    score = LogisticRegression(C=1e4, max_iter=1000).fit(X, y).decision_function(X)
    curves = ThresholdCurves.from_scores(y, score, sensitive_features=z)
    best = theory.strategic_optimum(curves, 0.7, min_selected=10).by_group["accuracy"]
    applies = model.applies()
    (group,) = applies.index[applies]
    assert model.audit(X, y, z).induced_accuracy == pytest.approx(best[group], abs=0.003)


def test_with_group_columns_one_group_applies_and_the_others_are_shut_out(adult):
    X, y, z, X_test, y_test, z_test = adult["with"]
    model = StrategicClassifier(cost=0.75).fit(X, y, sensitive_features=z)
    assert model.applies().sum() == 1
    assert model.published_.precision[~model.applies()].isna().all()
    assert model.audit(X_test, y_test, z_test).induced_accuracy > 0.89


def test_columns_that_determine_the_group_work_like_one_hot_columns(people):
    X, y, z = people
    one_hot = StrategicClassifier(cost=0.7).fit(X, y, sensitive_features=z)
    dummies = X.drop(columns="group_z0").assign(extra=X["group_z1"] * 5 + X["group_z2"] * 3)
    other = StrategicClassifier(cost=0.7).fit(dummies, y, sensitive_features=z)
    assert other.applies().equals(one_hot.applies())
    assert other.audit(dummies, y, z).induced_accuracy == pytest.approx(
        one_hot.audit(X, y, z).induced_accuracy, abs=0.01
    )


@pytest.mark.filterwarnings("ignore::selfselect.PromiseWarning")
def test_without_group_columns_strategic_is_at_least_as_good_as_semi(adult):
    X, y, z, *_ = adult["without"]
    semi = SemiStrategicClassifier(cost=0.75).fit(X, y, sensitive_features=z)
    strategic = StrategicClassifier(cost=0.75).fit(X, y, sensitive_features=z)
    assert strategic.applies().any()
    assert strategic.audit(X, y, z).induced_accuracy >= semi.audit(X, y, z).induced_accuracy - 0.01


def spread(some, everyone):
    """Largest difference of rates, as a share of the overall rate."""
    return np.ptp(some / everyone) / (some.sum() / everyone.sum())


@pytest.mark.filterwarnings("ignore::selfselect.PromiseWarning")
def test_a_violation_on_unseen_people_is_a_warning_a_number_and_a_line_of_explain(adult):
    X, y, z, *_ = adult["without"]
    with pytest.warns(ApplicationWarning, match=r"Not all constraints hold.*Parity\(.*\) by 0\.\d+"):
        model = StrategicClassifier(cost=0.7, constraints=PARITY).fit(X, y, sensitive_features=z)
    counts = model.published_.counts
    spreads = [spread(counts.selected, counts.n), spread(counts.true_positives, counts.positives)]
    assert model.violations_.iloc[1:].tolist() == pytest.approx([max(0.0, each - 0.2) for each in spreads], abs=1e-8)
    assert not model.constraints_met_
    lines = dict(line.rsplit(": ", 1) for line in model.explain().split("\n")[-3:])
    for name, amount in model.violations_.items():
        assert lines[name] == ("holds." if amount == 0 else f"violated by {amount:.3g}.")


def test_parity_with_equal_tpr_orders_precision_by_base_rate(adult):
    X, y, z, *_ = adult["without"]
    model = StrategicClassifier(cost=0.7, constraints=PARITY, publish="train").fit(X, y, sensitive_features=z)
    frame, counts = model.published_.to_frame(), model.published_.counts
    assert spread(counts.selected, counts.n) <= 0.2 + 1e-9
    assert spread(counts.true_positives, counts.positives) <= 0.2 + 1e-9
    assert counts.selected.sum() > 0.1 * counts.n.sum()  # absolute bounds were met by selecting almost nobody
    assert model.applies().any()
    rounded = frame["base_rate"].round(2)  # Asian and White are .03 apart here, Black and Other closer than .02
    for high in frame.index:
        for low in frame.index:
            if frame.loc[high, "base_rate"] > frame.loc[low, "base_rate"] + 0.02:
                assert frame.loc[high, "precision"] >= frame.loc[low, "precision"]
    assert rank_agreement(rounded, frame["precision"]).spearman > 0


@pytest.mark.parametrize(
    ("columns", "require"),
    [("with", ["Asian-Pac-Islander", "Black", "Other", "White"]), ("without", ["White", "Black"])],
)
def test_required_groups_apply(adult, columns, require):
    X, y, z, *_ = adult[columns]
    model = StrategicClassifier(cost=0.7, constraints=[RequiredGroups(*require)]).fit(X, y, sensitive_features=z)
    assert model.applies()[require].all()


@pytest.mark.parametrize("kind", ["with", "without"])
@pytest.mark.parametrize("limit", [0.5, 0.0])
def test_the_social_cost_stays_below_its_limit(adult, kind, limit):
    X, y, z, *_ = adult[kind]
    model = StrategicClassifier(cost=0.7, constraints=[MaxSocialCost(limit)]).fit(X, y, sensitive_features=z)
    assert model.audit(X, y, z).social_cost <= limit + 1e-9


def test_a_small_group_with_few_positives_can_apply():
    rng = np.random.default_rng(0)
    z = np.repeat(["large", "small"], [600, 30])
    x = rng.normal(size=630)
    y = (x + np.where(z == "large", rng.normal(size=630) / 2, 0) > 1).astype(int)
    X = np.c_[z == "large", z == "small", x].astype(float)
    assert 0 < y[z == "small"].sum() < 10
    model = StrategicClassifier(0.7, constraints=[MaxSocialCost(0.0)], publish="train").fit(X, y, sensitive_features=z)
    assert model.applies().all()


def test_constraints_that_cannot_be_met_raise_with_the_closest_value():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    z = np.repeat(["hard", "easy"], 200)
    y = np.where(z == "easy", X[:, 0] > 0, rng.uniform(size=400) < 0.2).astype(int)
    flat = np.ones_like(X)
    with pytest.raises(InfeasibleError, match=r"precision found for 'hard' is 0\.\d+, below the cost.*subsidise"):
        StrategicClassifier(cost=0.9, constraints=[RequiredGroups("hard")]).fit(flat, y, sensitive_features=z)
    with pytest.raises(InfeasibleError, match="social cost could not be brought down to 0"):
        StrategicClassifier(cost=0.9, constraints=[MaxSocialCost(0.0)]).fit(flat, y, sensitive_features=z)
    with pytest.raises(ValueError, match=r"RequiredGroups names group.*'nowhere'"):
        StrategicClassifier(constraints=[RequiredGroups("nowhere")]).fit(X, y, sensitive_features=z)


def test_subsidies_are_anticipated_in_training(adult):
    X, y, z, *_ = adult["with"]
    black = [RequiredGroups("Black")]
    dear = StrategicClassifier(cost=0.9, constraints=black, subsidies={"Black": 0.3}).fit(X, y, sensitive_features=z)
    assert dear.applies()["Black"]
    assert dear.published_.precision["Black"] >= 0.6
    half = StrategicClassifier(cost=0.9, constraints=black, subsidies=0.5, subsidy_kind="proportional")
    assert half.fit(X, y, sensitive_features=z).applies()["Black"]


@pytest.mark.parametrize("solver", ["auto", "constructive"])
@pytest.mark.parametrize("publish", ["train", "cross_fit"])
def test_shut_out_groups_have_nobody_or_everybody_selected(people, solver, publish):
    X, y, z = people
    none, everybody = (
        StrategicClassifier(0.7, solver=solver, shut_out=how, publish=publish).fit(X, y, sensitive_features=z)
        for how in ("select_none", "select_all")
    )
    assert none.applies().equals(everybody.applies())
    out = ~none.applies().to_numpy()
    assert 0 < out.sum() < len(out)
    assert (none.published_.counts.selected[out] == 0).all()
    assert (everybody.published_.counts.selected[out] == everybody.published_.counts.n[out]).all()
    assert everybody.published_.precision[out].to_numpy() == pytest.approx(none.published_.counts.base_rate[out])
    assert none.audit(X, y, z).induced_accuracy == everybody.audit(X, y, z).induced_accuracy
    beyond = pd.DataFrame(X).assign(x=2 * X["x"])[X.columns]
    shut = z.isin(none.applies().index[out]).to_numpy()
    assert not none.predict(beyond)[shut].any()
    assert everybody.predict(beyond)[shut].all()


def test_a_group_whose_base_rate_reaches_the_cost_is_shut_out_by_selecting_nobody():
    rng = np.random.default_rng(0)
    z = np.repeat(["a", "b", "c"], 400)
    x = rng.normal(size=1200)
    # of b more than the cost are qualified, but nobody can tell who; of a it is known
    y = np.where(z == "a", x > 0, rng.uniform(size=1200) < np.where(z == "b", 0.6, 0.1)).astype(int)
    X = np.c_[z == "a", z == "b", z == "c", x].astype(float)
    model = StrategicClassifier(0.5, shut_out="select_all", publish="train").fit(X, y, sensitive_features=z)
    assert model.applies().to_dict() == {"a": True, "b": False, "c": False}
    assert model.published_.counts.selected[1:].tolist() == [0, 400]


@pytest.mark.parametrize(
    ("publish", "automatic"),
    [("train", 0.02), (CrossFit(statistic=Precision()), 0.02), (CrossFit(statistic=LowerBound(0.6)), 0.0)],
)
def test_the_automatic_margin_is_2_percent_where_the_precision_is_published_and_else_0(people, publish, automatic):
    X, y, z = people
    made, same, other = (
        StrategicClassifier(0.7, margin=margin, publish=publish).fit(X, y, sensitive_features=z).predict(X)
        for margin in ("auto", automatic, 0.2)
    )
    assert (made == same).all()
    assert (made != other).any()


@pytest.mark.parametrize("margin", [0.02, 0.05])
def test_a_margin_is_kept_over_the_cost(adult, margin):
    X, y, z, *_ = adult["with"]
    model = StrategicClassifier(cost=0.7, margin=margin).fit(X, y, sensitive_features=z)
    assert (model.published_.precision[model.applies()] >= 0.7 + margin - 1e-9).all()


def test_a_group_within_the_margin_is_better_than_nobody():
    z = np.repeat(["a", "b"], 400)
    x = np.tile(np.repeat([0, 1], [300, 100]), 2)
    y = np.where(x == 1, np.arange(800) % 100 < 71, 0).astype(int)
    y[400:] = np.arange(400) % 10 == 0
    X = np.c_[z == "a", z == "b", x].astype(float)
    for margin in (0.0, 0.02):
        model = StrategicClassifier(0.7, margin=margin, publish="train").fit(X, y, sensitive_features=z)
        assert model.applies().to_dict() == {"a": True, "b": False}


def test_a_group_with_few_selected_people_does_not_win():
    rng = np.random.default_rng(0)
    n, K = 6000, 60
    z = np.where(np.arange(n) < 3000, 0, rng.integers(1, K, n))
    X = np.c_[np.eye(K)[z], rng.normal(size=(n, 2))]
    y = (X[:, -1] + rng.normal(size=n) > 0.8).astype(int)
    model = StrategicClassifier(0.75).fit(X, y, sensitive_features=z)
    applies = model.applies().to_numpy()
    assert (model.published_.counts.selected[applies] >= 10).all()


def test_a_required_group_of_weight_zero_is_refused(people):
    X, y, z = people
    with pytest.raises(ValueError, match="all of whose rows weigh 0: 'z2'"):
        StrategicClassifier(0.5, constraints=[RequiredGroups("z2")]).fit(
            X, y, sensitive_features=z, sample_weight=np.where(z == "z2", 0, 1)
        )
    with pytest.raises(ValueError, match="leaves one class only"):
        StrategicClassifier(0.5).fit(X, y, sensitive_features=z, sample_weight=np.where(y == 1, 0, 1))


@pytest.mark.parametrize("scale", [1e-310, 1e200])
def test_features_whose_squares_overflow_or_vanish_are_refused(people, scale):
    X, y, z = people
    with pytest.raises(ValueError, match="rescale it"):
        StrategicClassifier(0.7).fit(X.to_numpy() * scale, y, sensitive_features=z)


def test_a_required_group_with_few_positives_is_a_warning(people):
    X, y, z = people
    few = np.r_[
        np.flatnonzero(z != "z2"), np.flatnonzero((z == "z2") & (y == 1))[:5], np.flatnonzero((z == "z2") & (y == 0))
    ]
    with pytest.warns(ApplicationWarning, match=r"'z2' have under 10 qualified people in training \(5\)"):
        StrategicClassifier(cost=0.4, constraints=[RequiredGroups("z2")], publish="train").fit(
            X.iloc[few], y.iloc[few], sensitive_features=z.iloc[few]
        )


def oddities():
    rng = np.random.default_rng(0)
    n = 300
    X = rng.normal(size=(n, 3))
    z = rng.choice(["a", "b", "c"], n)
    y = (X[:, 0] + rng.normal(size=n) > 0).astype(int)
    return {
        "no positives in a group": (X, np.where(z == "a", 0, y), z, {}),
        "all positives in a group": (X, np.where(z == "a", 1, y), z, {}),
        "a group of one row": (X, y, np.r_[["alone"], z[1:]], {}),
        "constant features": (np.ones((n, 3)), y, z, {}),
        "duplicated columns": (np.c_[X, X, X], y, z, {}),
        "a huge offset": (X + 1e9, y, z, {}),
        "mixed scales": (X * [1e12, 1, 1e-12], y, z, {}),
        "cost 0": (X, y, z, {"cost": 0.0}),
        "cost 1": (X, y, z, {"cost": 1.0}),
        "all costs out of reach": (X, rng.integers(0, 2, n), z, {"cost": 1.0, "margin": 0.0}),
        "costs per group": (X, y, z, {"cost": {"a": 0.9, "b": 0.2, "c": 0.0}}),
        "separable": (X, (X[:, 0] > 0).astype(int), z, {}),
        "more features than rows": (rng.normal(size=(40, 60)), y[:40], z[:40], {}),
        "every row its own group": (X, y, np.arange(n), {}),
        "strong l2": (X, y, z, {"l2": 1e6}),
    }


@pytest.mark.parametrize("name", list(oddities()))
@pytest.mark.parametrize("extra", [{}, {"constraints": PARITY}], ids=["plain", "parity"])
def test_odd_data_lead_to_no_nan_and_no_runtime_warning(name, extra):
    X, y, z, settings = oddities()[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ApplicationWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = StrategicClassifier(**settings, **extra).fit(X, y, sensitive_features=z)
        assert np.isfinite(model.coef_).all()
        assert np.isfinite(model.intercept_).all()
        assert np.isfinite(model.predict_proba(X)).all()
        model.audit(X, y, z)


@pytest.mark.parametrize("relative", [False, True])
def test_relative_and_absolute_bounds_are_kept(relative):
    X, y, z = make_ordering_constraint(random_state=0, return_X_y_group=True)
    bounds = [
        cls(0.1, relative=relative, weight=10.0) for cls in (DemographicParity, constraints.FalsePositiveRateParity)
    ]
    model = StrategicClassifier(0.6, constraints=bounds, publish="train").fit(X, y, sensitive_features=z)
    counts = model.published_.counts
    rates = ((counts.selected, counts.n), (counts.selected - counts.true_positives, counts.n - counts.positives))
    beyond = [(spread(*rate) if relative else np.ptp(rate[0] / rate[1])) - 0.1 for rate in rates]
    assert model.violations_.tolist() == pytest.approx([max(0.0, each) for each in beyond], abs=1e-8)


# ---------------------------------------------------------------------- other behaviours


@pytest.mark.parametrize(
    "behaviour",
    [
        AtLeastTen(),
        Linear(),
        LogitResponse(0.05),
        PrivateCosts({"z0": uniform(-0.2, 0.4), "z1": uniform(-0.1, 0.2), "z2": uniform(-0.3, 0.4)}),
        BetaBeliefs({"z0": 0.2, "z1": 0.5, "z2": 0.9}, 30),
        BetaBeliefs(0.5, 30, Linear()),
    ],
    ids=lambda behaviour: type(behaviour).__name__,
)
@pytest.mark.parametrize(
    "given", [[], [MaxSocialCost(0.8), constraints.MinSelectionRate(0.02), DemographicParity(0.3)]]
)
def test_it_is_trained_for_any_behaviour(people, behaviour, given):
    X, y, z = people
    settings = {"cost": 0.7, "behaviour": behaviour, "constraints": given, "publish": "train"}
    strategic = StrategicClassifier(**settings, random_state=0).fit(X[["x"]], y, sensitive_features=z)
    semi = SemiStrategicClassifier(**settings).fit(X[["x"]], y, sensitive_features=z)
    assert strategic.constraints_met_
    audits = [model.audit(X[["x"]], y, z) for model in (strategic, semi)]
    assert audits[0].induced_accuracy > audits[1].induced_accuracy - 0.01
    shares, counts = strategic.application_shares().to_numpy(), strategic.published_.counts
    assert audits[0].social_cost == pytest.approx(1 - shares @ counts.positives / counts.positives.sum())
    assert audits[0].induced_accuracy == pytest.approx(shares @ counts.correct / (shares @ counts.n))
    again = StrategicClassifier(**settings, random_state=0).fit(X[["x"]], y, sensitive_features=z)
    assert (again.coef_ == strategic.coef_).all()
    line = strategic.explain().split("\n")[0]
    assert line.endswith(f"{shares[0]:.1%} of the group apply at its cost of 0.7.")
