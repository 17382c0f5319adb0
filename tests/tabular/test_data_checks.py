"""What looks wrong with a table is reported, and nothing is reported about a good one."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from selfselect._notices import captured_warnings
from selfselect.auditing import ScreeningResult
from selfselect.publishing import PublishedStatistics
from selfselect.tabular import data_checks

PEOPLE = 400


@pytest.fixture(scope="module")
def people():
    """Labels, scores that know something of them, and groups."""
    rng = np.random.default_rng(1)
    y = rng.random(PEOPLE) < 0.5
    score = np.clip(0.5 + 0.2 * (y - 0.5) + rng.normal(0, 0.2, PEOPLE), 0, 1)
    return y, score, rng.choice(["A", "B"], PEOPLE)


def keys(findings):
    return [finding.key for finding in findings]


def table_of(y, z):
    with captured_warnings():
        return PublishedStatistics.from_predictions(y, np.zeros(len(y), bool), sensitive_features=z)


def texts(values):
    return np.array([str(value) for value in values], dtype=object)


# ---------------------------------------------------------------------- scores and decisions


def test_a_reversed_score_is_reported_with_its_auc_within_groups(people):
    y, score, z = people
    assert keys(data_checks.check_scores(ScreeningResult.from_scores(y, score, sensitive_features=z), "s")) == []
    (finding,) = data_checks.check_scores(ScreeningResult.from_scores(y, 1 - score, sensitive_features=z), "s")
    assert (finding.key, finding.severity) == ("lower_passes", "warning")
    parts = [(z == name) for name in "AB"]
    pairs = [y[part].sum() * (~y[part]).sum() for part in parts]
    area = np.average([roc_auc_score(y[part], score[part]) for part in parts], weights=pairs)
    assert f"AUC {1 - area:.2f}" in finding.text


def test_a_random_score_is_not_reported_as_reversed():
    rng = np.random.default_rng(0)
    for _ in range(50):
        people = ScreeningResult.from_scores(rng.random(200) < 0.5, rng.random(200))
        assert "lower_passes" not in keys(data_checks.check_scores(people, "s"))


@pytest.mark.parametrize(("threshold", "who"), [(50, "nobody"), (-1, "everybody")])
def test_a_threshold_outside_the_scores_is_reported(people, threshold, who):
    y, score, _ = people
    (finding,) = data_checks.check_scores(ScreeningResult.from_scores(y, score, threshold=threshold), "s")
    assert finding.key == "threshold_outside"
    assert f"{who} passes" in finding.text


def test_decisions_that_are_reversed_repeat_the_label_or_pass_everybody_are_reported(people):
    y, score, _ = people
    for decisions, expected in (
        (score > 0.5, []),
        (score < 0.5, ["decisions_reversed"]),
        (y, ["label_again"]),
        (np.ones(PEOPLE, bool), ["all_or_none"]),
        (np.zeros(PEOPLE, bool), ["all_or_none"]),
    ):
        assert keys(data_checks.check_decisions(ScreeningResult.from_predictions(y, decisions), "p")) == expected
    assert keys(data_checks.check_scores(ScreeningResult.from_scores(y, y * 0.9), "s")) == ["label_again"]


# ---------------------------------------------------------------------- labels and groups


def test_the_label_as_group_is_an_error_and_as_model_a_warning():
    assert keys(data_checks.check_column_roles("y", ["z"], "s")) == []
    findings = data_checks.check_column_roles("y", ["z", "y"], "y")
    assert [(each.key, each.severity) for each in findings] == [
        ("label_is_group", "error"),
        ("label_is_model", "warning"),
    ]


def test_labels_of_more_than_two_values_are_listed_with_what_they_count_as():
    assert keys(data_checks.check_label_values("end", ["yes"], ["no"])) == []
    (finding,) = data_checks.check_label_values("end", ["yes", "promoted"], ["no"])
    assert "'yes', 'promoted' count as qualified, 'no' as not" in finding.text


@pytest.mark.parametrize(
    ("groups", "key", "words"),
    [
        (["A"] * 200 + ["B"] * 200, None, ""),
        (["North"] * 300 + ["north"] * 50 + ["South"] * 50, "case_of_groups", "write 'North' in every row"),
        (["Not Available"] * 40 + ["A"] * 360, "unknown_group", "'Not Available' (40 people) seems to mean"),
        ([("N/A", "x")] * 40 + [("A", "x")] * 360, "unknown_group", "seems to mean that the group is unknown"),
        (list(map(str, range(400))), "groups_of_one", "400 groups for 400 people"),
        (["tiny"] * 4 + ["A"] * 396, "small_groups", "tiny (4)"),
    ],
)
def test_groups_that_are_not_useful_are_reported(people, groups, key, words):
    y, _, _ = people
    findings = list(data_checks.check_labels_and_groups(table_of(y, pd.DataFrame(groups).squeeze()), "y"))
    assert keys(findings) == ([] if key is None else [key])
    assert words in " ".join(map(str, findings))


def test_groups_that_repeat_the_label_and_labels_that_are_all_the_same_are_reported(people):
    y, _, z = people
    assert keys(data_checks.check_labels_and_groups(table_of(y, np.where(y, "hired", "rejected")), "y")) == [
        "group_is_label"
    ]
    assert keys(data_checks.check_labels_and_groups(table_of(np.ones(PEOPLE, bool), z), "y")) == ["one_label"]


# ---------------------------------------------------------------------- features


def test_nothing_is_reported_about_ordinary_columns(people):
    y, score, z = people
    rng = np.random.default_rng(2)
    columns = {
        "score": texts(score),
        "age": texts(rng.integers(18, 80, PEOPLE)),
        "income": texts(rng.permutation(np.arange(1000, 1000 + PEOPLE) * 7)),
        "group": texts(z),
        "town": texts(rng.choice(["a", "b", "", "d"], PEOPLE)),
    }
    assert keys(data_checks.check_features(columns, y)) == []


@pytest.mark.parametrize("kind", ["a number", "negated", "a word", "one error", "several words", "being empty"])
def test_a_column_that_repeats_the_label_is_reported(people, kind):
    y, _, _ = people
    columns = {
        "a number": y.astype(int),
        "negated": 1 - y.astype(int),
        "a word": np.where(y, "good", "bad"),
        "one error": np.where(np.arange(PEOPLE) == 7, ~y, y).astype(int),
        "several words": np.where(y, np.where(np.arange(PEOPLE) % 2, "a", "b"), "c"),
        "being empty": np.where(y, "2024-05-05", ""),
    }
    (finding,) = data_checks.check_features({"leak": texts(columns[kind])}, y)
    assert (finding.key, finding.details["names"]) == ("leaks", ["leak"])


def test_a_rare_label_does_not_make_columns_look_like_leaks():
    rng = np.random.default_rng(0)
    y = np.arange(2000) < 10  # a constant guess is right for 99.5%
    assert keys(data_checks.check_features({"town": texts(rng.choice(list("abc"), 2000))}, y)) == []


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("person", [f"Name {i % 300}" for i in range(PEOPLE)]),
        ("born", [f"{1950 + i % 50}-0{1 + i % 2}-11" for i in range(PEOPLE)]),
        ("since", [f"{1 + i % 28}.{1 + i % 4}.{2000 + i % 2}" for i in range(PEOPLE)]),
        ("month", [f"2019-{1 + i % 12:02}" for i in range(PEOPLE)]),
        ("day", [f"202301{1 + i % 28:02}" for i in range(PEOPLE)]),
        ("person_id", np.random.default_rng(0).permutation(PEOPLE)),
        ("sorted", [1, 0, *range(2, PEOPLE)]),
    ],
)
def test_names_dates_and_identifiers_are_reported(people, name, cells):
    y, _, _ = people
    assert keys(data_checks.check_features({name: texts(cells)}, y)) == ["names_people"]


def test_columns_that_training_leaves_out_are_a_hint(people):
    y, _, _ = people
    (finding,) = data_checks.check_features({"row": texts(range(PEOPLE)), "same": texts([1] * PEOPLE)}, y)
    assert (finding.key, finding.severity, finding.details["names"]) == ("left_out", "hint", ["row", "same"])


def test_many_columns_of_one_kind_are_one_finding(people):
    y, _, _ = people
    dates = [f"{1950 + i % 50}-0{1 + i % 2}-11" for i in range(PEOPLE)]
    (finding,) = data_checks.check_features({f"date {i}": texts(dates) for i in range(22)}, y)
    assert len(finding.details["names"]) == 22
    assert finding.text.startswith("22 columns, 'date 0' (holds dates ('1950-01-11')), ")
    assert "and 17 more, identify people or dates." in finding.text


def test_findings_do_not_depend_on_the_scale_of_weights():
    rng = np.random.default_rng(1)
    y = (rng.random(300) < 0.5).astype(int)
    score = rng.random(300) - 0.2 * y
    z = ["few"] * 4 + ["many"] * 296
    for scale in (0.001, 1.0, 1000.0):
        given = {"threshold": 0.4, "sensitive_features": z, "sample_weight": np.full(300, scale)}
        people = ScreeningResult.from_scores(y, score, **given)
        assert keys(data_checks.check_labels_and_groups(people.table, "y")) == ["small_groups"]
        assert keys(data_checks.check_scores(people, "s")) == ["lower_passes"]


# ---------------------------------------------------------------------- copies of rows


def copies(frame, y):
    columns = [pd.factorize(frame[name])[0] for name in frame if name != "z"]
    return keys(data_checks.check_copies(y, pd.factorize(frame["z"])[0], columns))


@pytest.mark.parametrize("values", [2, 3, 10, 1000], ids="{} values a column".format)
@pytest.mark.parametrize("base_rate", [0.1, 0.5])
def test_people_who_are_there_twice_are_found_and_people_who_only_agree_are_not(values, base_rate):
    rng = np.random.default_rng(0)
    found = {"once": 0, "some twice": 0}
    for _ in range(20):
        frame = pd.DataFrame(rng.integers(0, values, (600, 4)), columns=list("abcd")).assign(
            z=rng.choice(["f", "m"], 600)
        )
        y = rng.random(600) < base_rate
        twice = np.append(np.arange(600), np.arange(300))
        found["once"] += copies(frame, y) == ["copies"]
        found["some twice"] += copies(frame.iloc[twice].reset_index(drop=True), y[twice]) == ["copies"]
    assert found["once"] <= 1
    if values >= 10:  # of fewer cells, everybody looks like a copy
        assert found["some twice"] == 20
