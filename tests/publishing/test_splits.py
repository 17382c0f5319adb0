"""Splits, and the statistics that classifiers publish from people the score has not seen."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.stats import beta
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import ShuffleSplit, StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from selfselect import (
    GroupThresholdClassifier,
    NaiveClassifier,
    PromiseWarning,
    PublishedStatistics,
    SemiStrategicClassifier,
    ShutOutWarning,
    StrategicClassifier,
)
from selfselect.counting import encode_groups
from selfselect.datasets import make_base_rate_groups
from selfselect.publishing import CrossFit, Holdout, LowerBound, PooledLowerBound, Precision, TrainingSet
from selfselect.publishing.splits import as_publishing

ALL = (NaiveClassifier, SemiStrategicClassifier, StrategicClassifier, GroupThresholdClassifier)
quiet = pytest.mark.filterwarnings("ignore::selfselect.ApplicationWarning")


@pytest.fixture(scope="module")
def crowd():
    return make_base_rate_groups((0.6, 0.4, 0.2), n_per_group=300, random_state=0, return_X_y_group=True)


def splits(publishing, crowd):
    X, y, z = crowd
    return as_publishing(publishing).splits(X, y.to_numpy() == 1, encode_groups(z))


# ---------------------------------------------------------------------- splits


def test_sparse_and_dense_features_of_equal_values_get_the_same_folds():
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(200, 6)) * (rng.random((200, 6)) < 0.3)
    y, groups = rng.random(200) < 0.5, encode_groups(rng.choice(["a", "b"], 200))
    for X in (dense, (dense > 0).astype(np.int64)):
        for publishing in (CrossFit(), Holdout(guarantee=True)):
            for make in (sparse.csr_matrix, sparse.coo_array):
                both = [publishing.splits(each, y, groups).parts for each in (X, make(X))]
                assert all((a[1] == b[1]).all() for a, b in zip(*both, strict=True))


def test_every_row_is_evaluated_once_by_a_score_fitted_without_it(crowd):
    folds = splits("cross_fit", crowd)
    assert len(folds.parts) == 5
    for fitted, evaluated in folds.parts:
        assert not set(fitted) & set(evaluated)
        assert len(fitted) + len(evaluated) == len(crowd[1])
    assert folds.evaluated.tolist() == list(range(len(crowd[1])))
    assert folds.final.tolist() == list(range(len(crowd[1])))


def test_folds_are_stratified_by_group_and_label(crowd):
    _, y, z = crowd
    for _, evaluated in splits("cross_fit", crowd).parts:
        for group in z.unique():
            for label in (0, 1):
                everyone = ((z == group) & (y == label)).to_numpy()
                assert abs(everyone[evaluated].sum() - everyone.sum() / 5) <= 1


def test_the_holdout_is_never_fitted(crowd):
    aside = splits(Holdout(0.25), crowd)
    ((fitted, evaluated),) = aside.parts
    assert len(evaluated) == pytest.approx(0.25 * len(crowd[1]), abs=1)
    assert aside.final.tolist() == fitted.tolist()
    assert not set(fitted) & set(evaluated)


@quiet
def test_a_rare_label_gives_fewer_folds_or_none():
    X, z = np.arange(20.0)[:, None], ["A"] * 20
    for positives, folds in ((3, 3), (2, 2), (1, 1)):
        y = pd.Series([1] * positives + [0] * (20 - positives))
        assert len(splits("cross_fit", (X, y, z)).parts) == folds
    assert splits("holdout", (X, pd.Series([1] + [0] * 19), z)).mode == "train"  # nobody could be set aside
    with pytest.warns(PromiseWarning, match="too few people of one label"):
        NaiveClassifier(cost=0.5, publish="cross_fit").fit(X, [1] + [0] * 19, sensitive_features=z)


def test_cv_may_be_a_splitter_that_evaluates_every_row_once(crowd):
    splitter = StratifiedKFold(3, shuffle=True, random_state=0)
    assert len(splits(CrossFit(splitter), crowd).parts) == 3
    with pytest.raises(ValueError, match="evaluate every row once"):
        splits(CrossFit(ShuffleSplit(3, random_state=0)), crowd)
    for wrong in (1, "five", True):
        with pytest.raises(ValueError, match="cv must be"):
            splits(CrossFit(wrong), crowd)


@pytest.mark.parametrize("publish", ["cross_fit", "holdout", Holdout(guarantee=True)])
def test_rows_of_a_person_fall_into_the_same_part_in_any_order_of_rows(publish, crowd):
    X, y, z = crowd
    person = np.random.default_rng(0).integers(0, 300, len(y))

    def parts(rows):
        made = as_publishing(publish).splits(
            X.iloc[rows], y.iloc[rows].to_numpy() == 1, encode_groups(z.iloc[rows]), person=person[rows]
        )
        return [(set(rows[fitted]), set(rows[evaluated])) for fitted, evaluated in made.parts]

    in_order = parts(np.arange(len(y)))
    for fitted, evaluated in in_order:
        assert not set(person[list(fitted)]) & set(person[list(evaluated)])
    assert parts(np.random.default_rng(1).permutation(len(y))) == in_order


@pytest.mark.parametrize("publish", ["cross_fit", "holdout", Holdout(guarantee=True)])
@pytest.mark.parametrize("repeated", [False, True])
def test_names_of_groups_do_not_move_people_from_part_to_part(publish, repeated):
    rng = np.random.default_rng(0)
    X, y, z = rng.integers(0, 3, (200, 2)), rng.random(200) < 0.5, rng.integers(0, 4, 200)
    person = rng.integers(0, 100, 200) if repeated else None
    names = np.array([[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]])
    made = [as_publishing(publish).splits(X, y, encode_groups(each[z]), person=person).parts for each in names]
    plain, *others = [[[rows.tolist() for rows in part] for part in parts] for parts in made]
    assert others == [plain, plain]


def test_a_guarantee_evaluates_one_row_of_each_person_drawn_at_random():
    X = np.tile([[0.0], [1.0]], (2000, 1))  # everybody has a row of each kind
    y, person = np.arange(4000) % 3 == 0, np.arange(4000) // 2
    aside = Holdout(0.5, guarantee=True).splits(X, y, encode_groups(np.zeros(4000)), person=person)
    assert len(np.unique(person[aside.evaluated])) == len(aside.evaluated) == 1000
    assert X[aside.evaluated].mean() == pytest.approx(0.5, abs=3 * 0.5 / np.sqrt(1000))
    assert len(aside.final) == 2000


def test_short_names_stand_for_the_defaults_and_anything_else_is_refused():
    bound = PooledLowerBound(0.9)
    assert as_publishing("cross_fit") == CrossFit(cv=5, statistic=bound)
    assert as_publishing("holdout") == Holdout(size=0.3, statistic=bound, guarantee=False)
    assert as_publishing("train") == TrainingSet(statistic=Precision())
    for wrong in (CrossFit, 5, None):
        with pytest.raises(TypeError, match=r"publish must be 'cross_fit', .* such as CrossFit\(cv=5\), got"):
            as_publishing(wrong)
    with pytest.raises(ValueError, match="publish must be one of 'cross_fit', 'holdout', 'train', got 'all'"):
        as_publishing("all")
    with pytest.raises(ValueError, match=r"size must lie in \(0, 1\)"):
        Holdout(1.0)
    with pytest.raises(ValueError, match="guarantee=True needs statistic=LowerBound"):
        Holdout(statistic=Precision(), guarantee=True)


# ---------------------------------------------------------------------- what is published


def test_naive_publishes_what_cross_fitted_predictions_count(crowd):
    X, y, z = crowd
    model = NaiveClassifier(cost=0.6, publish="cross_fit").fit(X, y, sensitive_features=z)
    predicted = np.empty(len(y))
    for fitted, evaluated in splits("cross_fit", crowd).parts:
        inner = LogisticRegression(C=np.inf, max_iter=1000).fit(X.iloc[fitted], y.iloc[fitted])
        predicted[evaluated] = inner.predict(X.iloc[evaluated])
    assert model.published_ == PublishedStatistics.from_predictions(y, predicted, sensitive_features=z)
    everyone = LogisticRegression(C=np.inf, max_iter=1000).fit(X, y)
    assert (model.predict(X) == everyone.predict(X)).all()
    assert model.published_in_sample_ == PublishedStatistics.from_estimator(everyone, X, y, sensitive_features=z)


def test_a_forest_publishes_what_new_people_get_and_warns_of_overfitting():
    random = np.random.default_rng(0)
    features = random.normal(size=(6000, 5))
    labels = (features[:, 0] + random.normal(0, 1.5, 6000) > 0).astype(int)
    (X, X_new), (y, y_new), (z, z_new) = (
        np.split(part, [2000]) for part in (features, labels, random.integers(0, 2, 6000))
    )
    forest = RandomForestClassifier(30, random_state=0)
    with pytest.warns(PromiseWarning, match="is overfitted"):
        unseen = NaiveClassifier(forest, cost=0.5, publish="cross_fit").fit(X, y, sensitive_features=z)
    paper = NaiveClassifier(forest, cost=0.5, publish="train").fit(X, y, sensitive_features=z)
    delivered = PublishedStatistics.from_estimator(unseen, X_new, y_new, sensitive_features=z_new).precision
    assert (paper.published_.precision > delivered + 0.2).all()
    assert (unseen.published_.precision - delivered).abs().max() < 0.08
    assert unseen.published_in_sample_.precision.min() > 0.95


@quiet
@pytest.mark.parametrize("cls", [SemiStrategicClassifier, StrategicClassifier, GroupThresholdClassifier])
@pytest.mark.parametrize("publish", [CrossFit, Holdout])
def test_groups_apply_if_the_clopper_pearson_bound_reaches_the_cost(cls, publish, crowd):
    X, y, z = crowd
    for cost in (0.6, 0.7, 0.8):
        model = cls(cost=cost, publish=publish(statistic=LowerBound(0.9))).fit(X, y, sensitive_features=z)
        counts = model.published_.counts
        true_positives, selected = counts.true_positives, counts.selected
        low = beta.ppf(0.1, np.maximum(true_positives, 1), selected - true_positives + 1)
        bound = np.where(true_positives > 0, low, 0.0)
        assert model.applies().tolist() == ((bound >= cost) & (selected > 0)).tolist()
        plain = cls(cost=cost, publish=publish(statistic=Precision())).fit(X, y, sensitive_features=z)
        assert plain.applies().equals(plain.published_.applies(cost))


@quiet
def test_selection_rates_of_new_people_are_as_published(crowd):
    X, y, z = crowd
    new = make_base_rate_groups((0.6, 0.4, 0.2), n_per_group=5000, random_state=1, return_X_y_group=True)
    for cls in ALL:
        model = cls(cost=0.7, publish="cross_fit").fit(X, y, sensitive_features=z)
        published = model.published_.to_frame()
        population = model.audit(*new).population.to_frame()
        assert population["selection_rate"].to_numpy() == pytest.approx(
            published["selection_rate"].to_numpy(), abs=0.08
        )


def test_shutting_out_a_group_is_a_warning(crowd):
    X, y, z = crowd
    with pytest.warns(ShutOutWarning, match=r"selects nobody of \d group\(s\)"):
        StrategicClassifier(cost=0.7).fit(X, y, sensitive_features=z)


# ---------------------------------------------------------------------- the scores behind what is published


@quiet
@pytest.mark.parametrize("features", ["with groups", "without groups"])
@pytest.mark.parametrize("cls", ALL)
@pytest.mark.parametrize("publish", ["cross_fit", "holdout"])
def test_published_counts_are_those_of_the_unseen_scores(crowd, cls, publish, features):
    X, y, z = crowd
    X = X if features == "with groups" else X[["x"]]
    for pos_label in (None, 0):
        model = cls(cost=0.6, publish=publish, pos_label=pos_label).fit(X, y, sensitive_features=z)
        score = model.unseen_scores_
        evaluated = ~np.isnan(score)
        assert evaluated.mean() == (1.0 if publish == "cross_fit" else pytest.approx(0.3, abs=0.01))
        sign = -1 if model.positive_ == model.classes_[0] else 1
        again = PublishedStatistics.from_predictions(
            y[evaluated] == model.positive_, sign * score[evaluated] > 0, sensitive_features=z[evaluated]
        )
        for counted, expected in zip(model.published_.counts.columns, again.counts.columns, strict=True):
            assert counted.tolist() == expected.tolist()


@pytest.mark.parametrize("cls", [NaiveClassifier, SemiStrategicClassifier, StrategicClassifier])
def test_unseen_scores_are_close_to_those_of_the_final_classifier(crowd, cls):
    X, y, z = crowd
    model = cls(cost=0.6).fit(X, y, sensitive_features=z)
    kept = model.decision_function(X)
    assert np.corrcoef(kept, model.unseen_scores_)[0, 1] > 0.99
    assert np.abs(kept - model.unseen_scores_).mean() < 0.2 * kept.std()


@pytest.mark.parametrize("publish", ["cross_fit", "holdout"])
def test_rows_with_equal_features_do_not_leak_labels(publish):
    true_positives = n_selected = 0.0
    tree = DecisionTreeClassifier(random_state=0)
    for seed in range(12):  # random labels, and a tree that memorises its training rows
        rng = np.random.default_rng(seed)
        X, y = rng.integers(0, 2000, (2000, 1)).astype(float), rng.random(2000) < 0.5
        for fitted, evaluated in as_publishing(publish).splits(X, y, encode_groups(np.zeros(2000))).parts:
            selected = tree.fit(X[fitted], y[fitted]).predict(X[evaluated])
            true_positives += y[evaluated][selected].sum()
            n_selected += selected.sum()
    assert true_positives / n_selected == pytest.approx(0.5, abs=3 * 0.5 / np.sqrt(n_selected))
