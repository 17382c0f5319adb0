import json
import math

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import reference
import selfselect
from selfselect import PublishedStatistics, Screened, Terms, audit
from selfselect.auditing import Audit, group_names, group_warning
from selfselect.auditing.numbers import amount_down, amount_up, percent
from selfselect.cli import main
from selfselect.metrics import outcome

FIELDS = "group n base_rate selected precision precision_low precision_high cost applies subsidy_needed accuracy"


@pytest.fixture
def people(tmp_path):
    """A small table on disk and in memory."""
    rng = np.random.default_rng(3)
    n = 400
    z = rng.choice(["A", "B", "C"], n, p=[0.5, 0.4, 0.1])
    score = np.round(rng.random(n), 2)
    y = (rng.random(n) < score * np.where(z == "B", 0.6, 1.0)).astype(int)
    frame = pd.DataFrame({"id": np.arange(n), "y": y, "z": z, "w": rng.choice(["u", "v"], n), "s": score})
    frame["p"] = (frame["s"] > 0.5).astype(int)
    path = tmp_path / "people.csv"
    frame.to_csv(path, index=False)
    return path, frame


def cli(*arguments):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert "Traceback" not in result.output
    return result


def test_json_holds_what_the_interface_promises_and_equals_a_count_by_hand(people, tmp_path):
    path, frame = people
    out = tmp_path / "out.json"
    result = cli("audit", path, "--label", "y", "--group", "z", "--score", "s", "--cost", "0.7", "--json", out)
    assert result.exit_code == 0, result.output
    found = json.loads(out.read_text())
    counts = reference.counts(frame["y"], frame["s"] > 0.5, frame["z"])
    decided = reference.applies(frame["y"], frame["s"] > 0.5, frame["z"], 0.7)
    assert (found["cost"], found["threshold"], found["n"]) == (0.7, 0.5, 400)
    assert found["induced_accuracy"] == pytest.approx(
        reference.induced_accuracy(frame["y"], frame["s"] > 0.5, frame["z"], decided)
    )
    assert found["social_cost"] == pytest.approx(reference.social_cost(frame["y"], frame["z"], decided))
    assert found["assumed_accuracy"] == pytest.approx((frame["y"] == frame["p"]).mean())
    assert found["application_rate"] == pytest.approx(frame["z"].map(decided).mean())
    assert found["applying_groups"] == sum(decided.values())
    for row in found["groups"]:
        assert set(FIELDS.split()) <= set(row)
        n, positives, selected, hits = counts[row["group"]]
        assert (row["n"], row["selected"], row["applies"]) == (n, selected, decided[row["group"]])
        assert row["base_rate"] == pytest.approx(positives / n)
        assert row["precision"] == pytest.approx(hits / selected)
        assert row["subsidy_needed"] == pytest.approx(max(0, 0.7 - hits / selected))


def test_a_score_with_its_threshold_and_the_predictions_it_makes_say_the_same(people):
    path, _ = people
    common = ("audit", path, "--label", "y", "--group", "z", "--cost", "0.7", "--json", "-")
    by_score = json.loads(cli(*common, "--score", "s", "--threshold", "0.5").output)
    by_prediction = json.loads(cli(*common, "--prediction", "p").output)
    assert by_score.pop("threshold") == 0.5
    assert by_prediction.pop("threshold") is None
    assert by_score == by_prediction


def test_chunks_add_up_to_the_whole(people, monkeypatch):
    path, _ = people
    for model in (("--score", "s"), ("--prediction", "p")):
        command = (
            "audit",
            path,
            "--label",
            "y",
            "--group",
            "z",
            "--group",
            "w",
            *model,
            "--cost",
            "0.7",
            "--json",
            "-",
        )
        whole = cli(*command).output
        monkeypatch.setattr("selfselect.tabular.csv_files.CHUNK_ROWS", 7)
        assert cli(*command).output == whole
        monkeypatch.undo()


def test_several_group_columns_are_combined_and_named_with_a_slash(people):
    path, _ = people
    command = ("audit", path, "--label", "y", "--group", "z", "--group", "w", "--score", "s", "--cost", "0.7")
    found = json.loads(cli(*command, "--json", "-", "--subsidy", "B / u=0.9").output)
    costs = {row["group"]: row["cost"] for row in found["groups"]}
    assert costs["B / u"] == 0
    assert costs["B / v"] == 0.7
    assert len(costs) == 6


def test_names_that_hold_the_separator_stay_apart():
    names = group_names(pd.MultiIndex.from_tuples([("a / b", "c"), ("a", "b / c")]))
    assert len(set(names)) == 2


def test_several_costs_are_all_answered_and_decimal_steps_are_exact(people):
    path, _ = people
    command = ("audit", path, "--label", "y", "--group", "z", "--score", "s")
    found = json.loads(cli(*command, "--cost", "0.7", "--cost", "0.5:0.9:0.05", "--json", "-").output)
    assert found["cost"] == 0.7
    assert [each["cost"] for each in found["by_cost"]] == [0.7, 0.5, 0.55, 0.6, 0.65, 0.75, 0.8, 0.85, 0.9]
    for each in found["by_cost"]:
        alone = json.loads(cli(*command, "--cost", each["cost"], "--json", "-").output)
        assert alone == each
    assert "At every cost" in cli(*command, "--cost", "0.5:0.9:0.1").output


@pytest.mark.parametrize("cost", ["1.5", "-0.1", "x", "0.5:0.4:0.1", "0:1:0", "0:1:0.0000001", "1:2", "nan", "inf"])
def test_a_wrong_cost_is_bad_usage(people, cost):
    path, _ = people
    result = cli("audit", path, "--label", "y", "--group", "z", "--score", "s", "--cost", cost)
    assert result.exit_code == 2


def test_exit_code_one_means_that_a_condition_does_not_hold(people):
    path, _ = people
    command = ("audit", path, "--label", "y", "--group", "z", "--score", "s", "--cost", "0.7")
    assert cli(*command).exit_code == 0
    assert cli(*command, "--require", "A").exit_code == 0
    failed = cli(*command, "--require", "B")
    assert failed.exit_code == 1
    assert "B does not apply at a cost of 0.70" in failed.output
    assert cli(*command, "--require", "B", "--subsidy", "B=0.6").exit_code == 0
    assert cli(*command, "--max-social-cost", "0.9").exit_code == 0
    assert cli(*command, "--max-social-cost", "0.01").exit_code == 1
    misspelt = cli(*command, "--require", "b")
    assert misspelt.exit_code == 2
    assert "there is no group 'b'" in misspelt.output


def test_a_nearly_right_group_name_gets_a_suggestion(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("y,z,s\n1,North,0.9\n0,South,0.4\n")
    result = cli("audit", path, "--label", "y", "--group", "z", "--score", "s", "--cost", "0.7", "--require", "Nroth")
    assert "Did you mean 'North'" in result.output


def test_labels_of_any_two_kinds_work_once_one_is_called_positive(people, tmp_path):
    path, frame = people
    expected = cli("audit", path, "--label", "y", "--group", "z", "--prediction", "p", "--cost", "0.7", "--json", "-")
    words = frame.assign(y=np.where(frame["y"] == 1, "good", "bad"), p=np.where(frame["p"] == 1, "good", "bad"))
    other = tmp_path / "words.csv"
    words.to_csv(other, index=False)
    command = ("audit", other, "--label", "y", "--group", "z", "--prediction", "p", "--cost", "0.7", "--json", "-")
    assert cli(*command, "--positive", "good").output == expected.output
    missing = cli(*command, "--positive", "godo")
    assert missing.exit_code == 2
    assert "no row holds 'godo'" in missing.output


def test_rows_without_a_group_can_be_a_group_of_their_own(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("y,z,s\n1,A,0.9\n0,,0.4\n1,,0.8\n")
    command = ("audit", path, "--label", "y", "--group", "z", "--score", "s", "--cost", "0.7", "--json", "-")
    found = json.loads(cli(*command, "--missing", "own-group").output)
    assert [(row["group"], row["n"]) for row in found["groups"]] == [("A", 1), ("(missing)", 2)]


def test_output_files_are_never_overwritten_unless_forced_and_that_is_said_before_reading(people, tmp_path):
    path, _ = people
    out = tmp_path / "there.json"
    out.write_text("mine")
    command = ("audit", path, "--label", "nowhere", "--group", "z", "--score", "s", "--cost", "0.7", "--json", out)
    assert "exists already" in cli(*command).output
    assert out.read_text() == "mine"
    assert cli(*command[:3], "y", *command[4:], "--force").exit_code == 0
    assert json.loads(out.read_text())["n"] == 400


def test_csv_output_neutralises_formulas(tmp_path):
    path, out = tmp_path / "t.csv", tmp_path / "out.csv"
    path.write_text("y,z,s\n1,=cmd()|' /C calc'!A0,0.9\n0,@x,0.4\n")
    result = cli("audit", path, "--label", "y", "--group", "z", "--score", "s", "--cost", "0.7", "--csv", out)
    assert result.exit_code == 0, result.output
    lines = out.read_text().splitlines()
    assert lines[1].startswith("'=cmd()")
    assert lines[2].startswith("'@x")


def test_of_very_many_groups_the_largest_are_shown_and_the_rest_counted(tmp_path):
    path = tmp_path / "t.csv"
    rows = [f"1,g{i},0.9\n" for i in range(3000)] + ["0,big,0.8\n"] * 5
    path.write_text("y,z,s\n" + "".join(rows))
    result = cli("audit", path, "--label", "y", "--group", "z", "--score", "s", "--cost", "0.7")
    assert result.exit_code == 0
    assert "\nbig " in result.output
    assert "and 2,951 more" in result.output


def test_escape_codes_in_names_do_not_reach_the_terminal(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("y,z,s\n1,\x1b[31mred,0.9\n0,B,0.4\n")
    result = cli("audit", path, "--label", "y", "--group", "z", "--score", "s", "--cost", "0.7")
    assert "\x1b" not in result.output
    assert "\\x1b[31mred" in result.output


def test_scores_that_are_no_probabilities_need_a_threshold():
    with pytest.raises(ValueError, match="pass a threshold"):
        audit([0, 1], score=[-2.0, 3.0], cost=0.5)
    assert audit([0, 1], score=[-2.0, 3.0], threshold=0, cost=0.5).outcome.assumed_accuracy == 1


def test_either_scores_or_predictions():
    with pytest.raises(TypeError, match="either"):
        audit([0, 1], cost=0.5)
    with pytest.raises(TypeError, match="threshold belongs to score"):
        audit([0, 1], y_pred=[0, 1], threshold=0.5, cost=0.5)
    with pytest.raises(ValueError, match="cost is empty"):
        audit([0, 1], y_pred=[0, 1], cost=[])


def test_nobody_applying_is_undefined_and_null_never_zero():
    found = audit([0, 1, 0], y_pred=[1, 1, 1], cost=0.9)
    assert math.isnan(found.outcome.induced_accuracy)
    assert json.loads(found.to_json())["induced_accuracy"] is None
    assert "nobody applies" in found.verdict()


def test_many_groups_are_counted_in_the_verdict_and_few_are_named():
    y, z = np.tile([0, 1], 8), np.repeat(list("ABCDEFGH"), 2)
    few = audit(y, y_pred=(z < "D") | (y == 1), sensitive_features=z, cost=0.8)
    assert few.verdict().startswith("At a cost of 0.80, A, B and C stay away")
    many = audit(y, y_pred=(z < "G") | (y == 1), sensitive_features=z, cost=0.8)
    assert many.verdict().startswith("At a cost of 0.80, 6 of 8 groups stay away")


def test_an_audit_shows_itself_in_a_notebook_with_names_as_text():
    found = audit([0, 1], y_pred=[1, 1], sensitive_features=["<b>x</b>", "B"], cost=0.5)
    assert "<b>x</b>" not in found._repr_html_()
    assert "stays away" in repr(found)


def test_people_decide_by_what_was_published_and_others_are_counted():
    train = PublishedStatistics.from_predictions([1, 0, 1, 0], [1, 0, 1, 1], sensitive_features=list("AABB"))
    test = PublishedStatistics.from_predictions([0, 0, 1, 1], [1, 0, 1, 1], sensitive_features=list("AABB"))
    found = Audit(Screened(train), Screened(test), Terms(0.7))
    assert found.outcome == outcome(test, train.applies(0.7))
    assert found.outcome.induced_accuracy == 0.5


def test_costs_and_subsidies_by_group_are_allowed_in_python():
    found = audit(
        [1, 0, 1, 0],
        y_pred=[1, 0, 1, 1],
        sensitive_features=list("AABB"),
        cost={"A": 0.9, "B": 0.6},
        subsidies={"B": 0.1},
    )
    assert found.applies.to_dict() == {"A": True, "B": True}
    assert found.to_dict()["cost"] == {"A": 0.9, "B": 0.6}
    assert found.verdict().startswith("At the costs given")


@given(st.integers(0, 200), st.integers(1, 200), st.integers(0, 1000))
def test_what_a_sentence_promises_is_true_after_rounding(hits, selected, thousandths):
    hits, cost = min(hits, selected), thousandths / 1000
    frame = pd.DataFrame(
        {"n": [400], "positives": [200], "selected": [selected], "true_positives": [hits]}, index=["B"]
    )
    published = PublishedStatistics.from_counts(frame)
    found = Audit(Screened(published), Screened(published), Terms(cost))
    if found.applies["B"] or hits == 0:
        return
    row = found.to_frame().loc["B"]
    assert published.applies(cost, {"B": float(amount_up(row["subsidy_needed"]))})["B"]
    assert published.applies(cost, {"B": row["subsidy_needed"]})["B"]
    assert published.applies(float(amount_down(row["precision"])))["B"]


@given(st.integers(0, 10_000), st.integers(1, 10_000))
def test_percentages_are_within_half_a_tenth_of_a_point(hits, total):
    share = min(hits, total) / total
    assert abs(float(percent(share).rstrip("%")) - 100 * share) <= 0.05 + 1e-9


def test_small_groups_and_groups_near_the_cost_carry_a_warning():
    assert "only 5" in group_warning(5, 0.1, 0.9, 0.95)
    assert "holds the cost" in group_warning(100, 0.6, 0.8, 0.7)
    assert group_warning(100, 0.75, 0.8, 0.7) == ""
    assert group_warning(0, math.nan, math.nan, 0.7) == ""


def test_the_public_names_are_there():
    assert selfselect.audit is audit
    assert callable(selfselect.plan_subsidies)
