"""``selfselect plan``: what it pays, and that groups are matched by their names when the firm re-trains."""

import json

import pytest

from applicants import run

DECIDED = ("--label", "y", "--group", "z", "--prediction", "p", "--cost", "0.7")


@pytest.fixture
def small(tmp_path):
    """A applies at a cost of 0.7, B would for a subsidy of 0.1, and of C nobody passes."""
    path = tmp_path / "t.csv"
    path.write_text("y,z,p\n" + "1,A,1\n" * 8 + "0,A,1\n" * 2 + "1,B,1\n" * 6 + "0,B,1\n" * 4 + "1,C,0\n" * 3)
    return path


def test_a_plan_under_retraining_shows_its_path_and_what_it_found_holds(people, tmp_path):
    scored = people.assign(p=(people["age"] > 40).astype(int))
    path = tmp_path / "scored.csv"
    scored.to_csv(path, index=False)
    command = ("plan", path, "--label", "hired", "--group", "z", "--prediction", "p", "--cost", "0.8", "--target", "B")
    result = run(*command, "--retrain", "--drop-group", "--json", tmp_path / "plan.json")
    made = json.loads((tmp_path / "plan.json").read_text())
    assert result.exit_code == (0 if made["works"] else 1)
    assert "one re-trained model per line" in result.output
    assert made["path"]
    works = [step for step in made["path"] if step["works"]]
    if made["works"]:
        paid = {row["group"]: row["subsidy"] for row in made["groups"]}
        assert paid["B"] == min(step["subsidy of B"] for step in works)
        assert {row["group"]: row["applies_after"] for row in made["groups"]}["B"]
    assert run("plan", "-", *command[2:], "--retrain", stdin="").exit_code == 2


def test_the_command_pays_the_least_writes_it_and_says_when_nothing_helps(small, tmp_path):
    command = ("plan", small, *DECIDED)
    files = ("--json", tmp_path / "p.json", "--csv", tmp_path / "p.csv", "--report", tmp_path / "p.html")
    good = run(*command, "--target", "B", *files)
    assert good.exit_code == 0, good.output
    made = json.loads((tmp_path / "p.json").read_text())
    assert (made["works"], made["total"], made["recipients"]) == (True, pytest.approx(1), 10)
    assert [row["subsidy"] for row in made["groups"][:2]] == [0, pytest.approx(0.1)]
    assert made["after"]["social_cost"] < made["before"]["social_cost"]
    assert (tmp_path / "p.csv").read_text().startswith("group,")
    assert (tmp_path / "p.html").exists()
    share = json.loads(run(*command, "--target", "B", "--proportional", "--json", "-").stdout)
    assert share["groups"][1]["subsidy"] == pytest.approx(1 / 7)
    hopeless = run(*command)
    assert hopeless.exit_code == 1
    assert "none helps" in hopeless.output
    assert run(*command, "--target", "D").exit_code == 2
    assert run(*command, "--target", "B", "--target", "B").exit_code == 2


def test_a_budget_goes_where_it_brings_most_qualified_people_in(small, tmp_path):
    command = ("plan", small, *DECIDED)
    spent = run(*command, "--budget", "1", "--json", tmp_path / "p.json")
    assert spent.exit_code == 0, spent.output
    made = json.loads((tmp_path / "p.json").read_text())
    assert (made["budget"], made["exact"], made["total"]) == (1, True, pytest.approx(1))
    little = run(*command, "--budget", "0.9")
    assert little.exit_code == 0
    assert "B" in little.output.splitlines()[0]
    assert "1.00" in little.output.splitlines()[0]  # what B would take
