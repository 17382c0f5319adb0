"""Rounds of people as rows: against a slow reference, the static audit, and what must not matter."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from selfselect import ApplicationWarning, GroupThresholdClassifier, NaiveClassifier, StrategicClassifier, encode_groups
from selfselect.behaviour import LogitResponse
from selfselect.datasets import fetch_adult, make_base_rate_groups
from selfselect.publishing import CrossFit, Holdout, LowerBound
from selfselect.simulation import (
    BetaMemory,
    Discounted,
    Exploration,
    Growth,
    History,
    LastPublished,
    Window,
    simulate,
)
from simulation.worlds import THRESHOLD, Above, some_people

COST = 0.6


def firm(**options):
    return NaiveClassifier(Above(), **{"cost": COST, "publish": "train", **options})


def slow_rounds(people, initial, rounds, cost, window):
    """The same in plain loops: a list of rounds, each a dict from group to numbers."""
    X, y, group = people
    score = X["score"].tolist()
    labelled = dict.fromkeys(initial, 0)
    pool = [i for i in range(len(y)) if i not in labelled]
    played = []
    for number in range(1, rounds + 1):
        known = [i for i, found in labelled.items() if number - 1 - found < window]
        outcome = {}
        for z in sorted(set(group)):
            passed = [i for i in known if group[i] == z and score[i] > THRESHOLD]
            hits = sum(y[i] for i in passed)
            published = hits / len(passed) if passed else float("nan")
            applies = bool(passed) and hits >= cost * len(passed) - 1e-9
            own = [i for i in pool if group[i] == z]
            selected = [i for i in own if score[i] > THRESHOLD] if applies else []
            right = [i for i in own if (score[i] > THRESHOLD) == y[i]]
            hired = sum(y[i] for i in selected)
            outcome[z] = {
                "pool": len(own),
                "published": published,
                "share": float(applies),
                "applicants": len(own) if applies else 0,
                "selected": len(selected),
                "hired": hired,
                "delivered": hired / len(selected) if selected else float("nan"),
                "accuracy": len(right) / len(own) if applies else float("nan"),
                "social_cost": 0.0 if applies else 1.0,
                "utility": (hired - cost * len(selected)) / len(own),
            }
        for z, row in outcome.items():
            for i in pool:
                if row["share"] and group[i] == z and score[i] > THRESHOLD:
                    labelled[i] = number
        played.append(outcome)
    return played


@pytest.mark.parametrize("window", [1, 3, 1000])
@pytest.mark.parametrize("seed", range(4))
def test_rounds_equal_a_slow_reference(seed, window):
    X, y, group = people = some_people(seed=seed)
    start = Holdout(0.3).splits(X, y == 1, encode_groups(group)).evaluated
    history = simulate(people, firm(), rounds=5, retrain=Window(window))
    frame = history.to_frame().set_index(["round", "group"])
    for number, outcome in enumerate(slow_rounds(people, start.tolist(), len(history), COST, window), start=1):
        for z, row in outcome.items():
            for name, value in row.items():
                assert frame.loc[(number, z), name] == pytest.approx(value, nan_ok=True), (number, z, name)


def test_totals_follow_from_the_groups():
    history = simulate(some_people(), firm(), rounds=3)
    frame, totals = history.to_frame(), history.totals()
    for number, own in frame.groupby("round"):
        weights = own["applicants"]
        assert totals.loc[number, "induced_accuracy"] == pytest.approx(
            np.nansum(own["accuracy"] * weights) / weights.sum()
        )
        assert totals.loc[number, "application_rate"] == pytest.approx(weights.sum() / own["pool"].sum())
        assert totals.loc[number, "applying_groups"] == (own["share"] >= 0.5).sum()
    assert "A" in repr(history)


def test_a_fixed_point_equals_the_static_audit():
    X, y, group = people = some_people(n=2000)
    history = simulate(people, LogisticRegression(), cost=COST, rounds=30, publish=CrossFit(5, LowerBound(0.9)))
    totals = history.totals()
    assert (totals.iloc[-1] == totals.iloc[-2]).all()  # nothing changes any more
    pool = history.in_pool
    found = history.model.audit(X[pool], y[pool], group[pool])
    assert found.shares.to_dict() == history.shares.iloc[-1].to_dict()
    assert totals["induced_accuracy"].iloc[-1] == pytest.approx(found.induced_accuracy)
    assert totals["social_cost"].iloc[-1] == pytest.approx(found.social_cost)


@pytest.mark.parametrize("cost", [0.5, 0.65, 0.7])
def test_one_round_on_adult_equals_the_audit_of_the_papers_naive_model(adult_splits, cost):
    model, X, y, z, X_test, y_test, z_test = adult_splits[0]
    naive = NaiveClassifier(LogisticRegression(C=np.inf, max_iter=1000), cost=cost, publish="train")
    history = simulate((X_test, y_test, z_test), naive, rounds=1, initial=(X, y, z))
    audit = naive.fit(X, y, sensitive_features=z).audit(X_test, y_test, z_test)
    assert history.shares.loc[1].to_dict() == audit.shares.to_dict()
    first = history.totals().loc[1]
    for name in ("induced_accuracy", "social_cost", "application_rate"):
        assert first[name] == pytest.approx(getattr(audit, name), nan_ok=True)
    own = history.to_frame().set_index("group")
    assert own["published"].to_dict() == pytest.approx(audit.published.precision.to_dict())
    # the same numbers from rows, without this package
    predicted = model.predict(X_test)
    for race in own.index[own["share"] > 0]:
        mask = (z_test == race).to_numpy()
        assert own.loc[race, "accuracy"] == pytest.approx((predicted[mask] == y_test[mask]).mean())
        assert own.loc[race, "delivered"] == pytest.approx(y_test[mask][predicted[mask] == 1].mean())


# ---------------------------------------------------------------------- what must not matter, and repeats


def test_seeds_repeat_to_the_bit_and_other_seeds_differ():
    given = {"rounds": 5, "exploration": 0.1, "behaviour": LogitResponse(0.1)}
    one, same, other = (simulate(some_people(), firm(), random_state=seed, **given).to_frame() for seed in (1, 1, 2))
    pd.testing.assert_frame_equal(one, same, check_exact=True)
    assert not one.equals(other)


def test_a_firm_without_a_seed_repeats_too():
    given = {"cost": COST, "rounds": 3, "exploration": 0.1, "publish": "train"}
    one, same, other = (
        simulate(some_people(), RandomForestClassifier(5), random_state=seed, **given).to_frame() for seed in (1, 1, 2)
    )
    pd.testing.assert_frame_equal(one, same, check_exact=True)
    assert not one.equals(other)


@pytest.mark.parametrize("beliefs", [LastPublished(), Discounted(0.3), BetaMemory(20)])
def test_a_resumed_run_equals_one_at_once_and_leaves_the_history_as_it_was(beliefs):
    given = {"exploration": 0.1, "beliefs": beliefs, "behaviour": LogitResponse(0.1), "entry": Growth(0.05)}
    whole = simulate(some_people(), firm(), rounds=6, **given)
    part = simulate(some_people(), firm(), rounds=2, **given)
    pd.testing.assert_frame_equal(part.resume(4).to_frame(), whole.to_frame(), check_exact=True)
    pd.testing.assert_frame_equal(part.resume(1).resume(3).to_frame(), whole.to_frame(), check_exact=True)
    assert len(part) == 2


def test_a_sampler_is_resumed_with_its_people():
    def draw(rng):
        return some_people(n=200, seed=int(rng.integers(1000)))

    whole = simulate(draw, firm(), rounds=5, exploration=0.1)
    pd.testing.assert_frame_equal(
        simulate(draw, firm(), rounds=2, exploration=0.1).resume(3).to_frame(), whole.to_frame()
    )
    assert whole.to_frame().groupby("round")["pool"].sum().tolist() == [200.0] * 5


@pytest.mark.parametrize("seed", range(3))
def test_names_of_groups_do_not_matter(seed):
    X, y, group = some_people(seed=seed)
    names = {"A": "z", "B": "m", "C": "a"}
    given = {"rounds": 4, "exploration": 0.1, "retrain": "weighted"}
    one = simulate((X, y, group), firm(), **given).to_frame()
    other = simulate((X, y, pd.Series(group).map(names)), firm(), **given).to_frame()
    one["group"] = one["group"].map(names)
    sort = ["round", "group"]
    pd.testing.assert_frame_equal(
        one.sort_values(sort).reset_index(drop=True), other.sort_values(sort).reset_index(drop=True)
    )


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_rows_does_not_matter_without_chance(seed):
    X, y, group = some_people(seed=seed)
    order = np.random.default_rng(seed).permutation(len(y))
    moved = X.iloc[order].reset_index(drop=True), y[order], group[order]
    one, other = (simulate(people, firm(), rounds=4, retrain="window") for people in ((X, y, group), moved))
    pd.testing.assert_frame_equal(one.to_frame(), other.to_frame())


def test_the_kind_of_table_does_not_matter():
    X, y, group = some_people()
    plain = simulate((X, y, group), LogisticRegression(), cost=COST, rounds=3, publish="train").totals()
    for table in (X.to_numpy(), sparse.csr_matrix(X)):
        other = simulate((table, y, group), LogisticRegression(), cost=COST, rounds=3, publish="train").totals()
        np.testing.assert_allclose(plain, other)
    words = np.where(y == 1, "yes", "no")
    named = simulate((X, words, group), firm(pos_label="yes"), rounds=3)
    np.testing.assert_allclose(named.totals(), simulate((X, y, group), firm(), rounds=3).totals())


# ---------------------------------------------------------------------- labels, exploration, subsidies


def test_a_group_without_a_published_value_stays_away_for_good_and_exploration_ends_that():
    X, y, group = some_people(n=1500)
    known = group != "B"
    given = {"rounds": 4, "initial": (X[known], y[known], group[known])}
    alone = simulate((X, y, group), firm(), **given)
    assert alone.shares["B"].eq(0).all()
    assert alone.to_frame().query("group == 'B'")["published"].isna().all()
    assert simulate((X, y, group), firm(), exploration=0.1, **given).shares["B"].iloc[-1] == 1
    # of a group that stays away, nobody is found among applicants
    among = simulate((X, y, group), firm(), exploration=Exploration(0.1, among="applicants"), **given)
    assert among.shares["B"].eq(0).all()
    assert among.to_frame().query("group == 'B'")["explored"].eq(0).all()


def test_labels_of_everybody_or_of_all_applicants_can_be_found():
    people = some_people(n=1500)
    found = {}
    for labels in ("selected", "applicants", "all"):
        world = simulate(people, firm(), rounds=2, labels=labels).run.world
        found[labels] = int((world.newest[world.in_pool] >= 0).sum())
    assert found["selected"] < found["applicants"] < found["all"] == 1050


def test_weights_make_labelled_people_represent_everybody():
    X, y, group = some_people(n=20_000)
    history = simulate((X, y, group), firm(), rounds=3, initial=0.01, exploration=0.1, retrain="weighted")
    world = history.run.world
    known = world.newest >= 0
    weights = world.retraining.weights(0, 1 - world.missed)[known]
    assert np.average(world.y[known], weights=weights) == pytest.approx(world.y.mean(), abs=0.02)
    assert world.y[known].mean() > world.y.mean() + 0.1  # people who pass are better


def test_subsidies_bring_groups_in_and_are_counted():
    people = some_people(n=1500)
    paid = simulate(people, firm(), rounds=4, subsidies=lambda number: {"C": 0.3} if number <= 2 else None)
    own = paid.to_frame().query("group == 'C'").set_index("round")
    assert own["share"].tolist() == [1, 1, 0, 0]
    assert own["subsidies"].tolist() == pytest.approx([0.3 * n for n in own["selected"]])
    assert own["cost"].tolist() == pytest.approx([0.3, 0.3, 0.6, 0.6])
    half = simulate(people, firm(), rounds=1, subsidies=0.5, subsidy_kind="proportional").to_frame()
    assert half["cost"].tolist() == pytest.approx([0.3] * 3)
    explored = simulate(people, firm(), rounds=1, exploration=0.1, price=0.1).to_frame()
    assert explored["subsidies"].tolist() == pytest.approx((COST * explored["explored"]).tolist())
    tested = explored["selected"] + explored["explored"]
    worth = explored["hired"] - 0.1 * tested - explored["subsidies"]
    assert explored["firm_utility"].tolist() == pytest.approx(worth.tolist())


def test_subsidies_and_their_kind_are_those_of_the_firm_unless_others_are_given():
    paying = firm(subsidies={"C": 0.5}, subsidy_kind="proportional")
    frames = [simulate(some_people(n=900), paying, rounds=1, **given).to_frame() for given in ({}, {"subsidies": 0.1})]
    assert [frame["cost"].tolist() for frame in frames] == [
        pytest.approx([0.6, 0.6, 0.3]), pytest.approx([0.54] * 3)
    ]  # fmt: skip


def test_groups_grow_by_their_success():
    history = simulate(some_people(n=900), firm(), rounds=4, entry=Growth(0.5, by="hired"))
    pool = history.to_frame().pivot_table("pool", "round", "group")
    assert pool["A"].is_monotonic_increasing
    assert pool["A"].iloc[-1] > pool["A"].iloc[0]
    assert pool["C"].eq(pool["C"].iloc[0]).all()  # stays away


def test_own_classes_work_for_beliefs_retraining_and_entry():
    class Doubtful:
        def believe(self, published, delivered, memory):
            return published.value - 0.5, None

    class Newest:
        def weights(self, age, chance):
            return (np.asarray(age) == 0) * 1.0

    class Nobody:
        def enter(self, outcome, pool, rng):
            assert {"share", "hired"} <= set(outcome)

    people = some_people()
    with pytest.warns(ApplicationWarning, match="ends after round 1.*no label is left"):
        doubted = simulate(people, firm(), rounds=3, beliefs=Doubtful(), retrain=Newest(), entry=Nobody())
    assert doubted.shares.to_numpy().tolist() == [[0.0, 0.0, 0.0]]


@pytest.mark.parametrize("make", [GroupThresholdClassifier, StrategicClassifier])
def test_classifiers_of_this_package_are_firms(make):
    people = make_base_rate_groups((0.6, 0.5, 0.3), n_per_group=300, random_state=0)
    history = simulate(people, make(cost=0.6, publish="train"), rounds=3, retrain=Window(1), exploration=0.02)
    assert len(history) == 3
    assert history.shares.to_numpy().any()


# ---------------------------------------------------------------------- errors


def test_if_everybody_is_gone_in_round_1_the_history_says_so():
    with pytest.warns(ApplicationWarning, match="Nobody applies in round 1"):
        history = simulate(some_people(), firm(cost=1.0), rounds=20)
    assert len(history) == 1
    assert "let the firm explore" in history.stopped
    with pytest.warns(ApplicationWarning, match="Nobody applies in round 1"):
        assert history.resume(5) is history  # as if they had been simulated at once
    assert np.isnan(history.totals()["induced_accuracy"].iloc[0])
    assert "nobody applies" in history.verdict()


def test_a_model_that_can_no_longer_be_fitted_ends_the_history():
    X, y, group = some_people()
    y = np.where(X["score"] > THRESHOLD, 1, y)  # everybody who passes is qualified
    with pytest.warns(ApplicationWarning, match="ends after round 1.*one class only"):
        history = simulate((X, y, group), firm(), rounds=5, retrain=Window(1))
    assert len(history) == 1


@pytest.mark.parametrize(
    ("changed", "error", "words"),
    [
        ({"rounds": 0}, ValueError, "rounds must be a whole number of at least 1, got 0"),
        ({"exploration": 1.5}, ValueError, "exploration must lie in"),
        ({"labels": "some"}, ValueError, "labels must be one of"),
        ({"retrain": "never"}, ValueError, "retrain must be one of"),
        ({"retrain": Window}, TypeError, "weights(age, chance)"),
        ({"beliefs": Discounted}, TypeError, "believe(published, delivered, memory)"),
        ({"entry": 3}, TypeError, "enter(outcome, pool, rng)"),
        ({"initial": 0.0}, ValueError, "initial must lie in (0, 1)"),
        ({"initial": 0.001}, ValueError, "too few people to begin"),
        ({"cost": 1.2}, ValueError, "cost must lie in"),
        ({"cost": {"A": 0.5}}, ValueError, "has no value for group(s) 'B'"),
        ({"firm": 0.5, "cost": 0.5}, TypeError, "for a CountedPopulation"),
        ({"firm": Above(), "cost": None}, TypeError, "cost is missing"),
        ({"population": (1, 2)}, TypeError, "a data set (X, y, group)"),
        ({"price": -1}, ValueError, "price"),
        ({"firm": make_pipeline(StandardScaler(), firm())}, TypeError, "a pipeline around NaiveClassifier"),
        ({"population": lambda rng: some_people(), "entry": Growth(0.1)}, TypeError, "a sampler draws all people anew"),
    ],
)
def test_wrong_arguments_are_named(changed, error, words):
    given = {"population": some_people(n=90), "firm": firm(), **changed}
    with pytest.raises(error) as caught:
        simulate(given.pop("population"), given.pop("firm"), **given)
    assert words in str(caught.value)


def test_new_people_must_be_of_known_groups_and_labels():
    X, y, group = some_people(n=200)

    class Strangers:
        def __init__(self, **changed):
            self.changed = changed

        def enter(self, outcome, pool, rng):
            return X[:3], self.changed.get("y", y[:3]), self.changed.get("group", group[:3])

    for changed, words in (({"group": ["Q"] * 3}, "'Q'"), ({"y": np.array([7, 0, 1])}, "label 7")):
        with pytest.warns(ApplicationWarning, match=f"ends after round 1.*{words}"):
            history = simulate((X, y, group), firm(), rounds=3, entry=Strangers(**changed))
        assert len(history) == 1  # nothing is lost


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"retrain": "weighted", "firm": KNeighborsClassifier(), "cost": COST}, "TypeError.*sample_weight"),
        ({"entry": SimpleNamespace(enter=lambda *given: 5)}, "TypeError: What entry returns must be a data set"),
        ({"entry": SimpleNamespace(enter=lambda *given: {}["a"])}, "KeyError: 'a'"),
        ({"subsidies": lambda number: {"Q": 0.1} if number == 2 else None}, "does not know: 'Q'"),
        ({"retrain": SimpleNamespace(weights=lambda age, chance: 1.0 - age)}, "one weight of at least 0"),
        ({"beliefs": SimpleNamespace(believe=lambda q, d, m: (q.value[: 3 - bool(m)], True))}, "one belief for each"),
    ],
)  # fmt: skip
def test_whatever_goes_wrong_after_the_first_round_the_history_is_kept(changed, words):
    given = {"firm": firm(), "rounds": 3, "exploration": 0.1, **changed}
    with pytest.warns(ApplicationWarning, match=f"ends after round [12].*{words}"):
        history = simulate(some_people(), given.pop("firm"), **given)
    assert len(history) in (1, 2)


def test_new_people_of_a_sampler_have_the_same_columns():
    def draw(rng, names=iter(["score", "score", "grade"])):  # noqa: B008
        X, y, group = some_people(n=200)
        return X.rename(columns={"score": next(names)}), y, group

    with pytest.warns(ApplicationWarning, match="columns 'score', 'noise', others 'grade', 'noise'"):
        assert len(simulate(draw, firm(), rounds=5)) == 1


def test_a_history_that_was_not_simulated_cannot_be_resumed():
    made = simulate(some_people(), firm(), rounds=1)
    with pytest.raises(ValueError, match="cannot be resumed"):
        History(made.groups, made.rounds).resume(1)


def test_20_rounds_of_adult_fit_a_model_at_most_20_times():
    X, y, z = fetch_adult(return_X_y_group=True)
    X, _, y, _, z, _ = train_test_split(X, y, z, train_size=2000, random_state=0)
    fits = []

    class Counting(LogisticRegression):
        def fit(self, X, y, sample_weight=None):
            fits.append(len(y))
            return super().fit(X, y, sample_weight)

    simulate((X, y, z), Counting(max_iter=1000), cost=0.6, rounds=20, publish="train", exploration=0.02)
    assert len(fits) <= 20
    assert max(fits) <= 2000
