"""``selfselect audit``: what it finds, what it refuses and what it writes."""

import json

import numpy as np
import pandas as pd
import pytest

import reference
from applicants import run
from selfselect import audit as library_audit
from selfselect import threshold_frontier


@pytest.fixture
def scored(tmp_path):
    """A small table with a score and the decisions it makes, on disk and in memory."""
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


PEOPLE = ("--label", "y", "--group", "z")
SCORED = (*PEOPLE, "--score", "s")


def as_json(*arguments):
    """JSON that a command prints."""
    result = run(*arguments, "--json", "-")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_the_value_that_means_qualified_is_never_taken_for_the_one_that_passes(tmp_path):
    path, report = tmp_path / "loans.csv", tmp_path / "loans.html"
    rows = ["no,yes,A", "no,yes,A", "yes,no,A", "no,no,A"] * 10  # defaulted, approved, group
    path.write_text("\n".join(["defaulted,approved,group", *rows]))
    options = ("--label", "defaulted", "--positive", "no", "--group", "group", "--cost", "0.5")
    shown = run("audit", path, *options, "--prediction", "approved", "--report", report)
    assert "(Qualified: defaulted = no. A person passes screening when approved = yes.)" in shown.output
    assert "defaulted = no" in report.read_text()
    assert "approved = yes" in report.read_text()
    written = as_json("audit", path, *options, "--prediction", "approved")
    assert written["provenance"] == {"qualified": "defaulted = no", "passes": "approved = yes"}
    assert written["groups"][0]["selected"] == 20
    path.write_text(path.read_text().replace("no,yes,A", "no,ok,A"))
    unclear = run("audit", path, *options, "--prediction", "approved")
    assert unclear.exit_code == 2
    assert "'ok', 'no'" in unclear.output
    assert "--prediction-positive VALUE" in unclear.output
    named = ("--prediction", "approved", "--prediction-positive")
    assert as_json("audit", path, *options, *named, "ok")["groups"][0]["selected"] == 20
    assert run("audit", path, *options, *named, "Yes").exit_code == 2


def test_json_holds_what_the_interface_promises_and_equals_a_count_by_hand(scored):
    path, frame = scored
    found = as_json("audit", path, *SCORED, "--cost", "0.7")
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
        n, positives, selected, hits = counts[row["group"]]
        assert (row["n"], row["selected"], row["applies"]) == (n, selected, decided[row["group"]])
        assert row["base_rate"] == pytest.approx(positives / n)
        assert row["precision"] == pytest.approx(hits / selected)
        assert row["subsidy_needed"] == pytest.approx(max(0, 0.7 - hits / selected))


def test_a_subsidy_larger_than_a_cost_is_refused(scored):
    path, _ = scored
    command = ("audit", path, *SCORED, "--cost", "0.7", "--cost", "0.3")
    result = run(*command, "--subsidy", "B=0.5")
    assert result.exit_code == 2
    assert "'B' would be paid 0.5 towards a cost of 0.3" in result.output
    assert "--proportional" in result.output
    assert run(*command, "--subsidy", "B=0.5", "--proportional").exit_code == 0


def test_several_costs_are_all_answered_and_decimal_steps_are_exact(scored):
    path, _ = scored
    command = ("audit", path, *SCORED)
    found = as_json(*command, "--cost", "0.7", "--cost", "0.5:0.9:0.05")
    assert found["cost"] == 0.7
    assert [each["cost"] for each in found["by_cost"]] == [0.7, 0.5, 0.55, 0.6, 0.65, 0.75, 0.8, 0.85, 0.9]
    for each in found["by_cost"]:
        alone = as_json(*command, "--cost", each["cost"])
        del alone["impact_ratios"], alone["precision_gaps"]  # they know no cost
        assert alone == each
    assert "At every cost" in run(*command, "--cost", "0.5:0.9:0.1").output


def test_exit_code_one_means_that_a_condition_does_not_hold(scored):
    path, _ = scored
    command = ("audit", path, *SCORED, "--cost", "0.7")
    assert run(*command).exit_code == 0
    assert run(*command, "--require", "A").exit_code == 0
    failed = run(*command, "--require", "B")
    assert failed.exit_code == 1
    assert "B does not apply" in failed.output
    assert run(*command, "--require", "B", "--subsidy", "B=0.6").exit_code == 0
    assert run(*command, "--max-social-cost", "0.9").exit_code == 0
    assert run(*command, "--max-social-cost", "0.01").exit_code == 1
    misspelt = run(*command, "--require", "b")
    assert misspelt.exit_code == 2
    assert "there is no group 'b'" in misspelt.output


def test_of_very_many_groups_the_largest_are_shown_and_the_rest_counted(tmp_path):
    path = tmp_path / "t.csv"
    rows = [f"1,g{i},0.9\n" for i in range(3000)] * 3 + ["0,big,0.8\n"] * 5
    path.write_text("y,z,s\n" + "".join(rows))
    result = run("audit", path, *SCORED, "--cost", "0.7")
    assert result.exit_code == 0
    assert "\nbig " in result.output
    assert "and 2,951 more" in result.output


# ---------------------------------------------------------------- weights


@pytest.mark.parametrize("how", [("--score", "s"), ("--prediction", "p")])
def test_weights_of_a_column_are_those_of_the_library(scored, how):
    path, frame = scored
    weight = frame["weight"] = np.round(np.random.default_rng(0).exponential(2, len(frame)), 2)
    frame.to_csv(path, index=False)
    found = as_json("audit", path, *PEOPLE, *how, "--cost", "0.6", "--weight", "weight")
    given = {"y_pred": frame["p"], "sensitive_features": frame["z"], "sample_weight": weight}
    expected = library_audit(frame["y"], cost=0.6, **given).to_dict()
    assert found["n"] == pytest.approx(weight.sum())
    for a, b in zip(found["groups"], expected["groups"], strict=True):
        assert a == pytest.approx(b)


# ---------------------------------------------------------------- persons


@pytest.mark.parametrize("how", [("--score", "s"), ("--prediction", "p")])
def test_each_row_twice_changes_no_interval_if_persons_are_told(scored, tmp_path, how):
    path, frame = scored
    twice, report = tmp_path / "twice.csv", tmp_path / "twice.html"
    pd.concat([frame, frame]).to_csv(twice, index=False)
    command = (*PEOPLE, *how, "--cost", "0.6")
    once, told = as_json("audit", path, *command), as_json("audit", twice, *command, "--person", "id")
    intervals = ("precision_low", "precision_high", "applies")
    for a, b in zip(once["groups"], told["groups"], strict=True):
        assert b["n"] == 2 * a["n"]
        assert {name: b[name] for name in intervals} == pytest.approx({name: a[name] for name in intervals})
    assert flat(told["uncertainty"]) == pytest.approx(flat(once["uncertainty"]), nan_ok=True)
    said = "800 rows are about 400 people (column 'id'): rows of one person count as one in intervals."
    assert told["provenance"]["persons"] == said
    assert "persons" not in once["provenance"]
    shown = run("audit", twice, *command, "--person", "id", "--report", report)
    assert f"Note: {said}" in shown.stderr
    assert "copies" not in shown.stderr
    assert "800 rows are about 400 people" in report.read_text()
    unsaid = run("audit", twice, *command)
    assert "400 rows are exact copies of another row." in unsaid.stderr
    assert "pass it as --person COLUMN" in unsaid.stderr
    assert "rows are about" not in run("audit", path, *command, "--person", "id").output


def flat(found):
    """All numbers in some JSON."""
    if isinstance(found, dict | list):
        return [number for part in (found.values() if isinstance(found, dict) else found) for number in flat(part)]
    return [float(found)] if isinstance(found, int | float) else []


@pytest.mark.parametrize("command", ["audit", "check", "plan", "frontier", "train", "compare"])
def test_a_row_without_a_person_is_named(scored, tmp_path, command):
    path, frame = scored
    frame.assign(id=frame["id"].where(frame.index != 7)).to_csv(path, index=False)
    model = ("--model", tmp_path / "m.skops") if command == "train" else ("--score", "s")
    cost = () if command == "check" else ("--cost", "0.6")
    files = (path, path) if command == "compare" else (path,)
    result = run(command, *files, *PEOPLE, *model, *cost, "--person", "id")
    assert result.exit_code == 2
    assert "row 9, column" in result.output
    assert "the person is missing" in result.output


def test_a_frontier_keeps_the_rows_of_a_person_together(scored, tmp_path):
    _, frame = scored
    twice = tmp_path / "twice.csv"
    pd.concat([frame, frame]).to_csv(twice, index=False)
    made = as_json("frontier", twice, *SCORED, "--cost", "0.6", "--person", "id")["recommended"]["per_group"]
    y, score, z, person = (np.tile(frame[name], 2) for name in ("y", "s", "z", "id"))
    frontier = threshold_frontier(y, score, sensitive_features=z, cost=0.6, person=person)
    assert made["held_out_accuracy"] == pytest.approx(frontier.recommend(kind="per_group").held_out_accuracy)


def test_a_column_of_groups_cannot_name_persons(scored):
    result = run("audit", scored[0], *SCORED, "--cost", "0.6", "--person", "z")
    assert result.exit_code == 2
    assert "cannot name persons" in result.output


# ---------------------------------------------------------------- people who were not tested


@pytest.mark.parametrize("how", [("--score", "s"), ("--prediction", "p")])
def test_labels_of_the_untested_may_be_empty_if_that_is_said(tmp_path, how):
    path, out, page = (tmp_path / name for name in ("selective.csv", "out.json", "page.html"))
    rows = [("1", 0.9), ("0", 0.8), ("1", 0.7), ("", 0.3), ("NA", 0.2), ("0", 0.1)] * 20
    path.write_text("y,z,s,p\n" + "".join(f"{y},{'AB'[i % 2]},{s},{int(s > 0.5)}\n" for i, (y, s) in enumerate(rows)))
    options = ("audit", path, *PEOPLE, *how, "--cost", "0.6")
    refused = run(*options)
    assert refused.exit_code == 2
    assert "People who were not tested have none" in refused.output
    assert "--untested" in refused.output
    done = run(*options, "--untested", "--json", out, "--report", page)
    assert done.exit_code == 0, done.output
    found = json.loads(out.read_text())
    assert found["untested"] == 40
    assert found["social_cost"] is None or found["social_cost_low"] == found["social_cost_high"]
    assert [group["base_rate"] for group in found["groups"]] == [None, None]
    assert "40 people were not tested" in done.output
    assert "40 people were not tested" in page.read_text()
    assert " to " in done.output


def test_a_limit_on_social_cost_must_hold_whatever_the_unknown_labels(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("y,z,s\n" + "1,A,0.9\n" * 10 + "0,B,0.9\n" * 10 + "1,B,0.8\n" + ",B,0.1\n" * 10)
    options = ("audit", path, *SCORED, "--cost", "0.6", "--untested")
    assert run(*options, "--max-social-cost", "0.6").exit_code == 0
    failed = run(*options, "--max-social-cost", "0.2")
    assert failed.exit_code == 1
    assert "up to 52.4% of qualified people" in failed.output


# ---------------------------------------------------------------- costs, impact, columns on their own


def test_a_range_of_costs_says_what_holds_over_all_of_it(scored, tmp_path):
    path, frame = scored
    options, page = ("audit", path, *SCORED), tmp_path / "page.html"
    found = as_json(*options, "--cost", "0.6:0.8", "--report", page)
    over = library_audit(frame["y"], score=frame["s"], sensitive_features=frame["z"], cost=0.6).over_costs(0.6, 0.8)
    assert found["over_costs"] == json.loads(json.dumps(over.to_dict()))
    assert found["cost"] == 0.6
    assert over.sentence() in run(*options, "--cost", "0.6:0.8").output
    assert over.sentence() in page.read_text()
    assert run(*options, "--cost", "0.8:0.6").exit_code == 2
    assert run(*options, "--cost", "0.8:1.6").exit_code == 2


def test_impact_ratios_are_shown_when_asked_for_and_always_written(scored, tmp_path):
    path, _ = scored
    out = tmp_path / "out.json"
    options = ("audit", path, *PEOPLE, "--group", "w", "--score", "s", "--cost", "0.6")
    done = run(*options, "--impact", "--json", out)
    assert "Impact ratios by z (simultaneous intervals)" in done.output
    assert "Impact ratios by z / w" in done.output
    assert [table["by"] for table in json.loads(out.read_text())["impact_ratios"]["tables"]] == ["z", "w", "z / w"]
    assert "Impact ratios" not in run(*options).output


def test_columns_on_their_own_are_audits_of_each_from_one_reading(scored, tmp_path):
    path, _ = scored
    out = tmp_path / "all.json"
    common = ("audit", path, "--label", "y", "--score", "s", "--cost", "0.6", "--subsidy", "B=0.05")
    done = run(
        *common, "--group", "z", "--group", "w", "--separately", "--json", out,
        "--report", tmp_path / "page.html", "--csv", tmp_path / "table.csv",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    together = json.loads(out.read_text())
    assert [found.pop("by") for found in together] == ["z", "w"]
    assert together == [as_json(*common, "--group", "z"), as_json(*common[:-2], "--group", "w")]
    assert {name.name for name in tmp_path.iterdir()} >= {"page-z.html", "page-w.html", "table-z.csv", "table-w.csv"}
    assert "== By z ==" in done.output
    assert "== By w ==" in done.output
    assert as_json(*common, "--group", "z", "--group", "w", "--separately")[1]["by"] == "w"


def test_what_looks_wrong_with_a_table_is_in_the_report_and_the_json_too(scored, tmp_path):
    path, frame = scored
    frame["s"] = -frame["s"]
    frame.to_csv(path, index=False)
    done = run(
        "audit", path, *SCORED, "--threshold", "-0.5", "--cost", "0.6",
        "--json", tmp_path / "a.json", "--report", tmp_path / "a.html",
    )  # fmt: skip
    assert done.exit_code == 0
    assert done.output.startswith("Warning: The score 's' tends to be higher for people who are not qualified")
    assert "Warning" not in done.stdout
    found = json.loads((tmp_path / "a.json").read_text())
    assert any("higher for people who are not qualified" in warning for warning in found["warnings"])
    assert "higher for people who are not qualified" in (tmp_path / "a.html").read_text()


def near_their_cost(tmp_path):
    """A applies for sure; B applies by 72 of 100, which chance could turn."""
    path = tmp_path / "near.csv"
    rows = ["1,A,1"] * 95 + ["0,A,1"] * 5 + ["1,B,1"] * 72 + ["0,B,1"] * 28 + ["0,A,0", "1,A,0", "0,B,0", "1,B,0"] * 20
    path.write_text("y,z,p\n" + "\n".join(rows) + "\n")
    return "audit", path, *PEOPLE, "--prediction", "p", "--cost", "0.7"


def test_a_condition_that_holds_by_chance_does_not_hold_surely(tmp_path):
    command = near_their_cost(tmp_path)
    for condition in (("--require", "B"), ("--max-social-cost", "0.1")):
        plain = run(*command, *condition)
        assert plain.exit_code == 0
        assert "chance may move" in plain.stderr
        surely = run(*command, *condition, "--surely")
        assert surely.exit_code == 1
        assert "--surely" in surely.stderr
    assert run(*command, "--require", "A", "--surely").exit_code == 0


def test_stated_conditions_stand_on_the_page_and_in_json(tmp_path):
    report, out = tmp_path / "r.html", tmp_path / "r.json"
    command = near_their_cost(tmp_path)
    run(*command, "--require", "B", "--surely", "--max-social-cost", "1", "--report", report, "--json", out)
    held = {each["condition"]: each["holds"] for each in json.loads(out.read_text())["conditions"]}
    assert list(held.values()) == [False, True]
    page = report.read_text()
    assert all(text.split(" (")[0] in page for text in held)
    assert "<strong>fail</strong>" in page


def test_one_vocabulary_in_headline_table_and_json(tmp_path):
    command = near_their_cost(tmp_path)
    result = run(*command)
    headline = result.output.splitlines()[0]
    assert "B could go either way; the other group applies." in headline
    assert "Depending on this group, 140 to 280 of 280 people apply" in headline
    (row,) = [line for line in result.output.splitlines() if line.startswith("B ")]
    assert "could go either way" in row
    assert [row["status"] for row in as_json(*command)["groups"]] == ["applies", "could go either way"]


def test_files_hold_no_small_cells_unless_asked_for_and_the_terminal_is_exact(tmp_path):
    path, out, table = tmp_path / "t.csv", tmp_path / "o.json", tmp_path / "o.csv"
    rows = ["1,A,1", "0,A,1", "1,A,0", "0,A,0"] * 20 + ["1,B,1", "0,B,1", "1,B,0", "0,B,0"] * 20 + ["1,C,1", "0,C,0"]
    path.write_text("y,z,p\n" + "\n".join(rows) + "\n")
    command = ("audit", path, *PEOPLE, "--prediction", "p", "--cost", "0.5", "--json", out, "--csv", table, "--force")
    result = run(*command, defaults={})
    assert "\nC " in result.stdout
    assert "small groups are merged (the rest is A and C)" in result.stderr
    assert [row["group"] for row in json.loads(out.read_text())["groups"]] == ["the rest", "B"]
    assert table.read_text().splitlines()[1].startswith("the rest,82,")
    exact = run(*command, "--min-cell", "0", defaults={})
    assert "may single out people" in exact.stderr
    assert "C" in table.read_text()


def test_a_group_without_qualified_members_is_no_success_of_the_screen(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("y,z,p\n" + "1,A,1\n0,A,0\n" * 40 + "0,B,1\n0,B,0\n" * 20)
    output = run("audit", path, *PEOPLE, "--prediction", "p", "--cost", "0.5").output
    assert "Nobody in B counts as qualified: check whether the label is fair to them." in output
