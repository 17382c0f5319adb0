"""A classifier from a table of text: its audit, its file, and its predictions."""

import io
import zipfile
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

from applicants import applicants, text_columns
from selfselect import GroupThresholdClassifier, NaiveClassifier, SemiStrategicClassifier, audit, constraints
from selfselect.cli.commands import METHODS as METHODS_OF_THE_COMMAND
from selfselect.costs import Terms
from selfselect.counting import encode_groups
from selfselect.estimators.io import model_bytes
from selfselect.metrics import induced_accuracy, social_cost
from selfselect.tabular.columns import GroupRules
from selfselect.tabular.loading import TrainingTable
from selfselect.tabular.train import METHODS, hold_out, load_table_model, make_classifier, shut_out, train_on_table


@pytest.fixture(scope="module")
def people():
    return applicants()


def table_of(people, groups=None, missing="error"):
    columns = text_columns(people.drop(columns="hired"))
    return TrainingTable(
        columns, people["hired"].to_numpy(), encode_groups(people["z"] if groups is None else groups, missing=missing)
    )


def test_the_same_share_of_every_stratum_is_held_out_and_none_is_emptied():
    strata = np.repeat([0, 1, 2], [1, 10, 100])
    test = hold_out(strata, 0.3, seed=1)
    assert np.bincount(strata[test], minlength=3).tolist() == [0, 3, 30]
    assert (hold_out(strata, 0.3, seed=1) == test).all()
    assert (hold_out(strata, 0.3, seed=2) != test).any()
    assert not hold_out(strata, 0.0, seed=1).any()


@pytest.mark.parametrize("method", METHODS)
def test_settings_that_are_not_given_are_the_defaults_of_the_classifier(method):
    made, plain = make_classifier(method, Terms(0.8, {"a": 0.1}, "proportional")), METHODS[method]()
    given = {"cost": 0.8, "subsidies": {"a": 0.1}, "subsidy_kind": "proportional"}
    assert type(made) is type(plain)
    assert made.get_params() == plain.get_params() | given


def test_settings_reach_the_classifiers_that_have_them_and_are_refused_by_others():
    assert make_classifier("semi", Terms(0.8), margin=0.1, random_state=3).margin == 0.1
    given = {"require": ["a"], "max_social_cost": 0.5, "min_selection_rate": 0.1, "parity": 0.8, "tpr_parity": 0.7}
    made = make_classifier("strategic", Terms(0.8), margin=0.0, random_state=3, **given)
    assert (made.margin, made.random_state) == (0.0, 3)
    assert made.constraints == (
        constraints.RequiredGroups("a"),
        constraints.MaxSocialCost(0.5),
        constraints.MinSelectionRate(0.1),
        constraints.DemographicParity(ratio_bound=0.8),
        constraints.TruePositiveRateParity(ratio_bound=0.7),
    )
    with pytest.raises(
        ValueError, match="parity is a setting of the method semi or thresholds or strategic, not of naive"
    ):
        make_classifier("naive", Terms(0.8), parity=1.0)
    with pytest.raises(ValueError, match="margin is a setting of the method semi or strategic, not of naive"):
        make_classifier("naive", Terms(0.8), margin=0.1)


def test_the_command_offers_every_method():
    assert tuple(METHODS) == METHODS_OF_THE_COMMAND


def test_the_evaluation_is_on_people_the_model_has_not_seen(people):
    z, y = people["z"], people["hired"]
    done = train_on_table(table_of(people), NaiveClassifier(cost=0.7))
    test = hold_out(pd.factorize(z, sort=True)[0] * 2 + y.to_numpy(), 0.3, 0)
    assert (done.trained_on, done.held_out) == ((~test).sum(), test.sum())
    score = done.model.score(done.model.frame(text_columns(people)))
    applies = done.model.classifier.applies_to(z[test])
    assert done.audit.social_cost == pytest.approx(social_cost(y[test], applies=applies))
    assert done.audit.induced_accuracy == pytest.approx(induced_accuracy(y[test], score[test] > 0, applies=applies))
    assert done.audit.published == done.model.classifier.published_
    assert any("'id'" in note for note in done.notes)


@pytest.mark.parametrize("method", ["naive", "semi", "strategic"])
def test_the_audit_of_a_trained_model_holds_the_published_statistics_at_every_threshold(people, method):
    done = train_on_table(table_of(people), make_classifier(method, Terms(0.6)))
    published, classifier = done.audit.published_by, done.model.classifier
    assert done.unseen
    assert published.curves is not None
    assert published.threshold == 0.0
    assert published.table == classifier.published_
    assert done.audit.terms.confidence == 0.9
    assert done.audit.applies.tolist() == classifier.applies().tolist()


# ---------------------------------------------------------------------- the file


@pytest.mark.parametrize("inner", [None, RandomForestClassifier(5, random_state=0)], ids=["logistic", "forest"])
@pytest.mark.parametrize("cls", [SemiStrategicClassifier, GroupThresholdClassifier])
def test_a_model_read_back_predicts_bit_for_bit_the_same(cls, inner, people, tmp_path):
    model = train_on_table(table_of(people), cls(inner, cost=0.7), holdout=0).model
    path = tmp_path / "model.skops"
    path.write_bytes(model_bytes(model))
    again = load_table_model(path)
    frame = model.frame(text_columns(people))
    assert np.array_equal(model.score(frame, people[["z"]]), again.score(frame, people[["z"]]))
    assert (again.groups, again.missing, again.columns) == (("z",), "error", ("z", "age", "job", "pay"))
    assert again.classifier.applies().equals(model.classifier.applies())


def test_a_file_holds_no_names_of_rare_categories(people):
    jobs = people["job"].astype(object)
    jobs.iloc[:3] = "lighthouse keeper"
    model = train_on_table(table_of(people.assign(job=jobs)), NaiveClassifier(cost=0.7), holdout=0).model
    with zipfile.ZipFile(io.BytesIO(model_bytes(model))) as file:
        content = b"".join(map(file.read, file.namelist()))
    assert b"lighthouse" not in content
    assert jobs.mode()[0].encode() in content


def test_the_pipeline_takes_an_ordinary_frame(people):
    model = train_on_table(table_of(people), NaiveClassifier(cost=0.7), holdout=0).model
    plain = people.assign(job=people["job"].fillna("(missing)"))
    expected = model.score(model.frame(text_columns(people)))
    assert np.array_equal(model.pipeline.decision_function(plain), expected)


def test_a_file_without_columns_is_refused_by_name(people, tmp_path):
    path = tmp_path / "bare.skops"
    features = people[["age"]]
    NaiveClassifier(cost=0.7).fit(features, people["hired"], sensitive_features=people["z"]).save(path)
    with pytest.raises(
        ValueError, match=r"bare\.skops holds a NaiveClassifier, not a model that selfselect train wrote"
    ):
        load_table_model(path)


def test_groups_that_were_not_there_in_training_are_unknown(people):
    z = people["z"].where(people.index % 5 > 0)
    table = table_of(people, z, "own_group")
    model = train_on_table(
        replace(table, rules=GroupRules(missing="own_group")), NaiveClassifier(cost=0.7), holdout=0
    ).model
    expected = model.classifier.applies().to_dict()
    applies, known = model.applies_to(pd.DataFrame({"z": ["Q", None, "C", "A"]}))
    assert known.tolist() == [False, True, True, True]
    assert applies.tolist() == [False, expected["(missing)"], expected["C"], expected["A"]]


def test_a_group_of_which_less_than_a_hundredth_passes_is_shut_out():
    y, z = [1, 0] * 200, ["A"] * 200 + ["B"] * 200
    one, two = (audit(y, y_pred=[1] * (200 + n) + [0] * (200 - n), sensitive_features=z, cost=0.5) for n in (1, 2))
    assert shut_out(one) == ["The model passes 1 (0.5%) of the 200 people of 'B', 100 of whom are qualified."]
    assert shut_out(two) == []
