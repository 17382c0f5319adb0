"""Costs and scale from a log of applications: equal to statsmodels, to a grid, and to what the log was made from."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, ndtr
from scipy.stats import chi2
from scipy.stats import f as f_distribution

from selfselect import NaiveClassifier, PublishedStatistics, Terms, audit
from selfselect.behaviour import LogitResponse, PrivateCosts
from selfselect.estimation import fit_behaviour
from selfselect.estimation.likelihood import Likelihood, inflation_by_period
from selfselect.statistics import Published

COLUMNS = {"group": "z", "published": "q", "applicants": "a", "pool": "n"}


def make_log(seed=0, periods=3, groups=4, pool=500, scale=0.1, cdf=expit):
    rng = np.random.default_rng(seed)
    costs = rng.uniform(0.4, 0.8, groups)
    q = np.clip(costs + rng.normal(0, 0.1, (periods, groups)), 0.02, 0.98)
    frame = pd.DataFrame({"z": np.tile([f"g{i}" for i in range(groups)], periods), "q": q.ravel(), "n": pool})
    return frame.assign(a=rng.binomial(pool, cdf((q - costs) / scale)).ravel()), costs


def fit(log, **more):
    return fit_behaviour(log, **COLUMNS, **more)


# ---------------------------------------------------------------------- estimates


@pytest.mark.parametrize("response", ["logit", "probit"])
@pytest.mark.parametrize("cost", ["per_group", "common"])
@pytest.mark.parametrize("seed", range(4))
def test_estimates_equal_those_of_statsmodels(response, cost, seed):
    sm = pytest.importorskip("statsmodels.api")
    log, _ = make_log(seed)
    link = {"logit": sm.families.links.Logit(), "probit": sm.families.links.Probit()}[response]
    dummies = pd.get_dummies(log["z"], dtype=float) if cost == "per_group" else pd.DataFrame({"one": np.ones(len(log))})
    design = dummies.assign(q=log["q"])
    both = np.column_stack([log["a"], log["n"] - log["a"]])
    theirs = sm.GLM(both, design, family=sm.families.Binomial(link)).fit(tol=1e-12)
    ours = fit(log, response=response, cost=cost)
    costs = -theirs.params[:-1].to_numpy() / theirs.params["q"]
    np.testing.assert_allclose(ours.cost, costs if cost == "per_group" else np.repeat(costs, 4), rtol=1e-6)
    assert ours.scale == pytest.approx(1 / theirs.params["q"], rel=1e-6)
    assert ours.pearson == pytest.approx(theirs.pearson_chi2, rel=1e-5)
    assert ours.df_residual == theirs.df_resid
    np.testing.assert_allclose(ours.observations["fitted"], theirs.fittedvalues, atol=1e-7)


@pytest.mark.parametrize(("response", "cdf"), [("logit", expit), ("probit", ndtr)])
def test_large_pools_give_the_costs_and_the_scale_that_made_the_log(response, cdf):
    log, costs = make_log(pool=10**7, scale=0.15, cdf=cdf)
    found = fit(log, response=response)
    np.testing.assert_allclose(found.cost, costs, atol=2e-3)
    assert found.scale == pytest.approx(0.15, abs=1e-3)


# ---------------------------------------------------------------------- intervals


def slow_interval(log, z, limit, cdf):
    """Costs on a grid whose likelihood-ratio statistic is at most the limit, each maximised on a grid of slopes."""
    slopes = np.linspace(0.05, 40, 1500)

    def rows_of(group):
        part = log[log["z"] == group]
        return part["a"].to_numpy(), part["n"].to_numpy(), part["q"].to_numpy()

    def value(a, n, eta):
        p = np.clip(cdf(eta), 1e-300, 1 - 1e-16)
        return (a * np.log(p) + (n - a) * np.log1p(-p)).sum(axis=-1)

    def best_of(group):
        """Highest log-likelihood of a group at each slope, over a fine grid of its cost."""
        a, n, q = rows_of(group)
        grid = np.linspace(-1.5, 2.5, 4001)
        return np.array([value(a, n, b * (q - grid[:, None])).max() for b in slopes])

    others = sum(best_of(group) for group in log["z"].unique() if group != z)
    a, n, q = rows_of(z)
    costs = np.linspace(0, 1.2, 2401)
    profile = np.array([(value(a, n, slopes[:, None] * (q - c)) + others).max() for c in costs])
    top = (best_of(z) + others).max()
    inside = costs[2 * (top - profile) <= limit]
    return inside.min(), inside.max()


@pytest.mark.parametrize(("response", "cdf"), [("logit", expit), ("probit", ndtr)])
def test_intervals_invert_the_likelihood_ratio_test(response, cdf):
    log, _ = make_log(3, groups=2, pool=60, periods=4)
    found = fit(log, response=response, overdispersion=False)
    for at, z in enumerate(found.groups):
        low, high = slow_interval(log, z, chi2.ppf(0.95, 1), cdf)
        assert found.cost_low[at] == pytest.approx(low, abs=2e-3)
        assert found.cost_high[at] == pytest.approx(high, abs=2e-3)


def test_overdispersion_widens_intervals_by_quantiles_of_f_and_the_dispersion():
    log, _ = make_log(5, groups=2, pool=300, periods=6)
    log["a"] = (log["a"] + np.tile([25, -25, -25, 25], 3)).clip(0, 300)
    found = fit(log)
    assert found.dispersion > 2
    limit = found.dispersion * f_distribution.ppf(0.95, 1, found.df_residual)
    low, high = slow_interval(log, "g0", limit, expit)
    assert (found.cost_low[0], found.cost_high[0]) == pytest.approx((low, high), abs=2e-3)
    assert found.p_value < 0.05


def test_an_assumed_scale_gives_the_published_value_minus_scale_times_the_logit_of_the_share():
    log = pd.DataFrame({"z": ["A", "B"], "q": [0.6, 0.7], "a": [200, 700], "n": 1000})
    found = fit(log, scale=0.1)
    shares = log["a"] / log["n"]
    np.testing.assert_allclose(found.cost, log["q"] - 0.1 * np.log(shares / (1 - shares)), rtol=1e-9)
    assert found.identified_by == "scale"
    assert np.isnan([found.scale_low, found.slope_p_value, found.dispersion]).all()
    assert ((found.cost_low < found.cost) & (found.cost < found.cost_high)).all()


def test_where_the_published_value_may_not_matter_intervals_have_no_end():
    log = pd.DataFrame({"z": ["A", "A", "B", "B"], "q": [0.5, 0.52, 0.6, 0.61], "a": [30, 31, 70, 71], "n": 100})
    found = fit(log, overdispersion=False)
    assert found.slope_p_value > 0.05
    assert found.cost_high[0] == np.inf
    assert found.cost_low[1] == -np.inf
    assert (np.isfinite(found.cost_low[0]), np.isfinite(found.cost_high[1])) == (True, True)
    assert found.scale_high == np.inf


def test_a_group_of_which_nobody_ever_applied_has_a_lower_bound_only():
    log, _ = make_log(periods=4)
    log.loc[log["z"] == "g2", "a"] = 0
    found = fit(log)
    rest = fit(log[log["z"] != "g2"])
    np.testing.assert_allclose(found.cost[[0, 1, 3]], rest.cost, rtol=1e-6)
    assert found.cost[2] == found.cost_high[2] == np.inf
    assert log.loc[log["z"] == "g2", "q"].max() < found.cost_low[2] < np.inf
    published = Published.of_value(np.full(4, 0.9), np.ones(4), found.groups)
    shares = found.behaviour.shares(published, Terms(found.costs).effective_cost(found.groups))
    assert shares[2] == pytest.approx(0, abs=1e-9)


def cover(periods, groups, pool, scale, dispersed, repeats):
    """Share of 95% intervals of costs that hold the truth."""
    covered = []
    for seed in range(repeats):
        rng = np.random.default_rng([seed, groups])
        costs = rng.uniform(0.4, 0.8, groups)
        q = np.clip(costs + rng.normal(0, 0.1, (periods, groups)), 0.02, 0.98)
        share = expit((q - costs) / scale)
        if dispersed:
            share = rng.beta(49 * share, 49 * (1 - share))
        log = pd.DataFrame({"z": np.tile(np.arange(groups), periods), "q": q.ravel(), "n": pool})
        found = fit(log.assign(a=rng.binomial(pool, share).ravel()))
        covered.append(np.mean((found.cost_low <= costs) & (costs <= found.cost_high)))
    return np.mean(covered), np.std(covered) / np.sqrt(repeats)


@pytest.mark.parametrize("dispersed", [False, True])
@pytest.mark.parametrize(("design", "repeats"), [((3, 4, 500), 150), ((20, 50, 50), 6)])
@pytest.mark.parametrize("scale", [0.1, 2.0])
def test_intervals_cover_the_truth(design, repeats, scale, dispersed):
    share, error = cover(*design, scale, dispersed, repeats)
    assert share >= 0.93 - 3 * max(error, 0.005)


def shocked(seed, periods=6, groups=5, together=0.5):
    """A log of which each period moves all groups by half a scale, and published values move together."""
    rng = np.random.default_rng([seed, periods])
    costs = rng.uniform(0.4, 0.8, groups)
    moves = np.sqrt(together) * rng.normal(size=(periods, 1)) + np.sqrt(1 - together) * rng.normal(
        size=(periods, groups)
    )
    q = np.clip(costs + 0.1 * moves, 0.02, 0.98)
    share = expit((q - costs) / 0.1 + 0.5 * rng.normal(size=(periods, 1)))
    period, z = np.indices(q.shape)
    log = pd.DataFrame({"t": period.ravel(), "z": z.ravel(), "q": q.ravel(), "n": 500})
    return log.assign(a=rng.binomial(500, share).ravel()), costs


def test_with_periods_intervals_allow_for_what_changes_all_groups_of_a_period():
    covered = {"t": [], None: []}
    for seed in range(60):
        log, costs = shocked(seed)
        for period, found in covered.items():
            made = fit(log, period=period)
            found.append([np.mean((made.cost_low <= costs) & (costs <= made.cost_high)), made.scale_low <= 0.1])
            found[-1][1] &= made.scale_high >= 0.1
            assert made.clustered == (period is not None)
    cost, scale = np.mean(covered["t"], axis=0)
    assert cost >= 0.93 - 3 * np.std(np.array(covered["t"])[:, 0]) / np.sqrt(60)
    assert scale > np.mean(covered[None], axis=0)[1] + 0.1
    found = fit(shocked(0)[0], period="t")
    assert "also where it changes all groups of one period together" in found.verdict()
    assert "if you name the periods" in fit(shocked(0)[0]).verdict()


def test_clustered_variances_are_the_sandwich_of_statsmodels():
    sm = pytest.importorskip("statsmodels.api")
    log, _ = shocked(3)
    found = fit(log, period="t", overdispersion=False)
    everything = Likelihood("logit", *(log[name].to_numpy(float) for name in ("a", "n", "q")), log["z"].to_numpy(), 5)
    best = everything.maximise()
    wider = inflation_by_period(everything, best, log["t"].to_numpy(), 24, slope_is_given=False)
    design = pd.get_dummies(log["z"], dtype=float).assign(q=log["q"])
    both = np.column_stack([log["a"], log["n"] - log["a"]])
    model = sm.GLM(both, design, family=sm.families.Binomial())
    plain = model.fit(tol=1e-12)
    robust = model.fit(tol=1e-12, cov_type="cluster", cov_kwds={"groups": log["t"].to_numpy(), "use_correction": False})
    a, b = plain.params[:-1].to_numpy(), plain.params["q"]
    gradient = np.column_stack([np.eye(5) / -b, a / b**2])  # of -a / b
    ratio = [np.einsum("ki,ij,kj->k", gradient, each.cov_params(), gradient) for each in (robust, plain)]
    np.testing.assert_allclose(wider.costs, np.maximum(6 / 5 * ratio[0] / ratio[1], 1), rtol=1e-6)
    slope = 6 / 5 * robust.cov_params().loc["q", "q"] / plain.cov_params().loc["q", "q"]
    assert wider.slope == pytest.approx(max(slope, 1), rel=1e-6)
    np.testing.assert_allclose(found.cost, -a / b, rtol=1e-6)


# ---------------------------------------------------------------------- what does not identify costs


@pytest.mark.parametrize(
    ("changes", "more", "words"),
    [
        ({}, {}, "Each group has one row.*other periods.*one cost for all groups.*assumed scale"),
        ({"q": 0.5}, {"cost": "common"}, "Each group has one row.*other periods.*assumed scale"),
        ({"a": 0}, {"scale": 0.1}, "In every group nobody applied"),
        ({"a": 100}, {"cost": "common"}, "In every group everybody applied"),
        ({"a": [0, 100]}, {}, "either nobody or everybody"),
    ],
)
def test_what_is_not_identified_is_refused_with_what_would_identify_it(changes, more, words):
    log = pd.DataFrame({"z": ["A", "B"], "q": [0.5, 0.7], "a": [30, 60], "n": 100}).assign(**changes)
    with pytest.raises(ValueError, match=words):
        fit(log, **more)


def test_one_period_is_enough_for_a_common_cost_and_bounds_it_for_a_best_response():
    log = pd.DataFrame({"z": ["A", "B", "C"], "q": [0.5, 0.6, 0.7], "a": [20, 40, 60], "n": 100})
    found = fit(log, cost="common")
    assert found.identified_by == "groups"
    assert len(set(found.cost)) == 1
    with pytest.raises(ValueError, match=r"between 0\.6.* and 0\.7"):
        fit(log)


def test_a_constant_published_value_per_group_does_not_identify_costs_over_periods():
    log = pd.DataFrame({"z": list("AABB"), "q": [0.5, 0.5, 0.7, 0.7], "a": [30, 31, 60, 66], "n": 100})
    with pytest.raises(ValueError, match="the same in all its rows"):
        fit(log)


def test_a_step_from_nobody_to_everybody_gives_ranges_of_costs_and_no_numbers():
    log = pd.DataFrame({"z": list("AAABB"), "q": [0.5, 0.6, 0.7, 0.4, 0.8], "a": [0, 40, 100, 0, 100], "n": 100})
    with pytest.raises(ValueError, match=r"best response.*\(A: 0\.6 to 0\.6; B: 0\.4 to 0\.8\)"):
        fit(log)
    with pytest.raises(ValueError, match="no cost explains this"):
        fit(log.assign(a=100 - log["a"]))


def test_without_a_pool_no_number_is_given():
    log, _ = make_log()
    with pytest.raises(ValueError, match=r"share that applies\. Costs cannot be estimated"):
        fit_behaviour(log, group="z", published="q", applicants="a")


def test_a_negative_slope_is_a_finding():
    log = pd.DataFrame({"z": ["A"] * 3 + ["B"] * 3, "q": [0.5, 0.6, 0.7] * 2, "n": 1000})
    clear = fit(log.assign(a=[700, 500, 300, 600, 420, 200]))
    assert not clear.responds
    assert np.isnan([*clear.cost, *clear.cost_low, clear.scale]).all()
    assert "No more people apply where more is published" in clear.verdict()
    for name in ("costs", "behaviour"):
        with pytest.raises(ValueError, match="no cost explains this"):
            getattr(clear, name)
    by_chance = fit(log.assign(a=[502, 500, 499, 402, 400, 400]))
    assert not by_chance.responds
    assert (np.isinf(by_chance.cost_low) & np.isinf(by_chance.cost_high)).all()
    assert "it may be chance" in by_chance.verdict()


# ---------------------------------------------------------------------- logs


def test_all_problems_of_a_log_are_named_at_once():
    log = pd.DataFrame(
        {
            "z": ["A", "A", "B", "B", None, "B"],
            "t": [1, 1, 1, 2, 3, 3],
            "q": [0.5, 62, 0.4, None, 0.5, 0.5],
            "a": [10, 20, "many", 5, -1, 200],
            "n": [100, 100, 100, 0, 100, 100],
        },
        index=list("abcdef"),
    )
    with pytest.raises(ValueError, match="cannot be used") as caught:
        fit(log, period="t")
    text = str(caught.value)
    for words in (
        "row(s) 'b': q must lie between 0 and 1 (a share: 0.62, not 62), found 62.0",
        "row(s) 'd': q is empty. Leave out",
        "row(s) 'c': a is not a number: 'many'",
        "row(s) 'e': a must not be negative",
        "row(s) 'd': n must be above 0",
        "row(s) 'f': a is larger than n",
        "row(s) 'e': the group is empty",
        "row(s) 'a', 'b': several rows are about the same group and t",
    ):
        assert words in text
    with pytest.raises(ValueError, match="no column 'qq'"):
        fit_behaviour(log, group="z", published="qq", applicants="a", pool="n")
    with pytest.raises(ValueError, match="no rows"):
        fit(log.iloc[:0])
    with pytest.raises(TypeError, match="must be a table"):
        fit([1, 2])


@pytest.mark.parametrize(
    ("more", "words"), [({"cost": "x"}, "cost"), ({"response": "x"}, "response"), ({"scale": 0}, "positive")]
)
def test_wrong_arguments_are_named(more, words):
    with pytest.raises(ValueError, match=words):
        fit(make_log()[0], **more)


@settings(max_examples=25)
@given(st.permutations(range(12)), st.integers(1, 50))
def test_order_of_rows_names_of_groups_and_type_of_frame_do_not_matter(order, shift):
    log, _ = make_log(2)
    other = log.iloc[list(order)]
    renamed = other.assign(z=other["z"].map({f"g{i}": (i * 7 + shift) % 11 for i in range(4)}))
    one, two = fit(log), fit(renamed)
    back = [list(two.groups).index((i * 7 + shift) % 11) for i in range(4)]
    for name in ("cost", "cost_low", "cost_high"):
        np.testing.assert_allclose(getattr(two, name)[back], getattr(one, name), rtol=1e-5)
    assert two.scale == pytest.approx(one.scale, rel=1e-7)


@settings(max_examples=25)
@given(st.floats(0.3, 1.0), st.floats(-0.05, 0.05))
def test_costs_and_scale_move_with_published_values(factor, shift):
    log, _ = make_log(1)
    one, two = fit(log), fit(log.assign(q=0.5 + factor * (log["q"] - 0.5) + shift * (factor < 0.9)))
    moved = 0.5 + factor * (np.stack([one.cost, one.cost_low, one.cost_high]) - 0.5) + shift * (factor < 0.9)
    np.testing.assert_allclose(np.stack([two.cost, two.cost_low, two.cost_high]), moved, rtol=1e-5, atol=1e-7)
    assert two.scale == pytest.approx(factor * one.scale, rel=1e-6)


def test_a_row_split_in_two_gives_the_same_estimates():
    log, _ = make_log()
    halves = pd.concat([log.assign(a=log["a"] // 2, n=200), log.assign(a=log["a"] - log["a"] // 2, n=300)])
    one, two = (fit(each, overdispersion=False) for each in (log, halves))
    for name in ("cost", "cost_low", "cost_high"):
        np.testing.assert_allclose(getattr(two, name), getattr(one, name), rtol=1e-6)


def test_frames_of_other_libraries_and_combinations_of_columns_are_taken():
    polars = pytest.importorskip("polars")
    log, _ = make_log()
    np.testing.assert_array_equal(fit(polars.from_pandas(log)).cost, fit(log).cost)
    pairs = log.assign(x=log["z"].map({"g0": "a", "g1": "a", "g2": "b", "g3": "b"}))
    found = fit_behaviour(pairs, group=["x", "z"], published="q", applicants="a", pool="n")
    assert found.groups.tolist()[0] == ("a", "g0")
    np.testing.assert_allclose(found.cost, fit(log).cost)


# ---------------------------------------------------------------------- use


def test_costs_and_behaviour_go_into_audits_and_classifiers():
    log, _ = make_log()
    found = fit(log)
    rng = np.random.default_rng(0)
    z = rng.choice(found.groups, 400)
    y = rng.random(400) < 0.6
    result = audit(y, y_pred=np.ones(400), sensitive_features=z, cost=found.costs, behaviour=found.behaviour)
    precision = PublishedStatistics.from_predictions(y, np.ones(400), sensitive_features=z).counts.precision
    np.testing.assert_allclose(result.shares, found.share_at(precision - found.cost))
    model = NaiveClassifier(cost=found.costs, behaviour=found.behaviour)
    X = np.column_stack([rng.normal(y, 1.0), rng.normal(size=400)])
    assert model.fit(X, y.astype(int), sensitive_features=z).application_shares().between(0, 1).all()


@pytest.mark.parametrize("response", ["logit", "probit"])
def test_behaviour_gives_the_fitted_shares_also_for_costs_outside_of_0_and_1(response):
    q = np.array([0.1, 0.3, 0.5, 0.4, 0.6, 0.9])
    log = pd.DataFrame({"z": list("AAABBB"), "q": q, "a": [750, 850, 900, 20, 60, 200], "n": 1000})
    found = fit(log, response=response)
    assert found.cost[0] < 0
    assert found.cost[1] > 1
    assert found.costs == {"A": 0.0, "B": 1.0}
    assert isinstance(found.behaviour, PrivateCosts)
    costs = Terms(found.costs).effective_cost(found.groups)
    for at in (0.2, 0.7):
        shares = found.behaviour.shares(Published.of_value(np.full(2, at), np.ones(2), found.groups), costs)
        np.testing.assert_allclose(shares, found.share_at(at - found.cost))
    inside = fit(make_log()[0], response=response)
    assert type(inside.behaviour) is (LogitResponse if response == "logit" else PrivateCosts)


def test_the_frame_has_counts_ranges_and_what_is_extrapolated():
    log = pd.DataFrame({"z": list("AABB"), "q": [0.5, 0.7, 0.6, 0.7], "a": [30, 70, 10, 20], "n": 100})
    frame = fit(log).to_frame()
    assert frame.loc["A", ["rows", "pool", "applicants", "application_rate"]].tolist() == [2, 200, 100, 0.5]
    assert frame.loc["A", ["published_low", "published_high"]].tolist() == [0.5, 0.7]
    assert frame["extrapolated"].tolist() == [False, True]
    assert "<table" in fit(log)._repr_html_()
