"""``selfselect estimate-cost``, and the files of costs that other commands take."""

import json
import shlex

import pandas as pd
import pytest

from applicants import run
from hostile import WITHOUT_HALVES
from selfselect.estimation import fit_behaviour
from selfselect.tabular.write import csv_lines

COLUMNS = "--group z --period t --published q --applicants a --pool n".split()


def write_log(path, **changes):
    log = pd.DataFrame({"t": [1, 2, 3] * 2, "z": ["A"] * 3 + ["B"] * 3, "q": [0.5, 0.6, 0.7, 0.6, 0.7, 0.8], "n": 1000})
    log["a"] = [270, 500, 730, 120, 270, 500]
    log = log.assign(**changes)
    log.to_csv(path, index=False)
    return log


def write_people(path):
    rows = [(y, z) for z, hired in (("A", 13), ("B", 15)) for y in [1] * hired + [0] * (20 - hired)]
    path.write_text("y,z,p\n" + "".join(f"{y},{z},1\n" for y, z in rows))
    return path


PEOPLE = "--label y --group z --prediction p".split()


def test_it_says_costs_with_intervals_and_the_options_that_other_commands_take(tmp_path):
    log = write_log(tmp_path / "log.csv")
    done = run("estimate-cost", tmp_path / "log.csv", *COLUMNS, "--csv", tmp_path / "c.csv")
    assert done.exit_code == 0, done.output
    found = fit_behaviour(log, group="z", period="t", published="q", applicants="a", pool="n")
    assert found.verdict() in done.output
    table = pd.read_csv(tmp_path / "c.csv")
    assert table["cost"].tolist() == pytest.approx(found.cost.tolist())
    options = shlex.split(done.output.partition("train and simulate: ")[2])
    assert options == ["--cost-of", "A=0.60", "--cost-of", "B=0.80"]
    audited = run("audit", write_people(tmp_path / "p.csv"), *PEOPLE, *options, "--json", "-")
    assert [row["cost"] for row in json.loads(audited.stdout)["groups"]] == [0.6, 0.8]


def test_a_common_cost_an_assumed_scale_and_a_probit_are_options(tmp_path):
    path = tmp_path / "log.csv"
    write_log(path)
    done = run("estimate-cost", path, *COLUMNS, "--common-cost", "--response", "probit")
    assert "the same for all groups" in done.output
    assert "simulate: --cost 0." in done.output
    done = run("estimate-cost", path, *COLUMNS, "--scale", "0.2", "--confidence", "0.8")
    assert "80% interval" in done.output
    assert "The scale was assumed" in done.output


def test_every_command_takes_the_file_of_costs(tmp_path):
    costs, people = tmp_path / "costs.json", write_people(tmp_path / "p.csv")
    write_log(tmp_path / "log.csv")
    assert f"Or: --costs {costs}" in run("estimate-cost", tmp_path / "log.csv", *COLUMNS, "--costs", costs).output
    given = json.loads(costs.read_text())["costs"]
    audited = json.loads(run("audit", people, *PEOPLE, "--costs", costs, "--json", "-").stdout)
    assert audited["cost"] == given
    assert [row["applies"] for row in audited["groups"]] == [True, False]
    other = json.loads(run("audit", people, *PEOPLE, "--costs", costs, "--cost-of", "B=0.7", "--json", "-").stdout)
    assert [row["cost"] for row in other["groups"]] == [given["A"], 0.7]
    planned = json.loads(run("plan", people, *PEOPLE, "--costs", costs, "--json", "-").stdout)
    assert planned["groups"][1]["subsidy"] == pytest.approx(given["B"] - 0.75)
    same = json.loads(run("compare", people, people, *PEOPLE, "--costs", costs, "--json", "-").stdout)
    assert [row["cost_after"] for row in same["groups"]] == [given["A"], given["B"]]
    scored = tmp_path / "s.csv"
    scored.write_text("y,z,s,x\n" + "".join(f"{i % 3 > 0:d},{'AB'[i % 2]},{i % 50 / 50},{i % 7}\n" for i in range(600)))
    done = run("frontier", scored, "--label", "y", "--group", "z", "--score", "s", "--costs", costs, "--json", "-")
    assert done.exit_code == 0, done.output
    model = ("train", scored, "--label", "y", "--group", "z", "--method", "naive", "--model", tmp_path / "m.skops")
    done = run(*model, "--costs", costs, "--holdout", "0", "--allow-shut-out")
    assert "(80% for B)" in done.output


def test_groups_without_a_cost_are_named_unless_there_is_a_general_one(tmp_path):
    people, costs = write_people(tmp_path / "p.csv"), tmp_path / "c.json"
    costs.write_text('{"costs": {"A": 0.5, "of another file": 1}}')
    done = run("audit", people, *PEOPLE, "--costs", costs)
    assert done.exit_code == 2
    assert "There is no cost for 'B'. Pass --cost" in done.stderr
    found = json.loads(run("audit", people, *PEOPLE, "--costs", costs, "--cost", "0.9", "--json", "-").stdout)
    assert [row["cost"] for row in found["groups"]] == [0.5, 0.9]
    over = run("audit", people, *PEOPLE, "--costs", costs, "--cost", "0.9", "--json", costs, "--force")
    assert "is read by this command" in over.stderr
    missing = run("audit", people, *PEOPLE)
    assert missing.exit_code == 2
    assert "Missing option '--cost'" in missing.stderr


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("not json", "is not a JSON file"),
        ("[]", "has no costs"),
        ('{"costs": null}', "has no costs"),
        ('{"costs": {"A": 70, "B": true, "C": 0.5}}', "the cost of 'A', 'B' is not a number between 0 and 1"),
    ],
)
def test_a_file_of_costs_that_cannot_be_used_is_refused(tmp_path, text, words):
    (tmp_path / "c.json").write_text(text)
    done = run("audit", write_people(tmp_path / "p.csv"), *PEOPLE, "--costs", tmp_path / "c.json")
    assert (done.exit_code, words in done.stderr) == (2, True)
    assert run("audit", tmp_path / "p.csv", *PEOPLE, "--costs", tmp_path / "none.json").exit_code == 2


def test_all_problems_of_a_log_are_named_with_their_rows(tmp_path):
    write_log(tmp_path / "log.csv", q=[0.5, 62, 0.7, "", 0.7, 0.8], a=[270, 5, "x", 120, 2000, 5])
    done = run("estimate-cost", tmp_path / "log.csv", *COLUMNS)
    assert done.exit_code == 2
    for words in (
        "row(s) 3: q must lie",
        "row(s) 5: q is empty",
        "row(s) 4: a is not a number: 'x'",
        "row(s) 6: a is larger",
    ):
        assert words in done.stderr


@pytest.mark.parametrize(
    ("rows", "options", "words"),
    [
        ("t,z,q,n,a\n1,A,0.5,100,20\n1,B,0.7,100,60\n", COLUMNS, "Each group has one row"),
        ("t,z,q,n,a\n1,A,0.5,100,20\n1,B,0.7,100,60\n", COLUMNS, "--common-cost and --scale"),
        ("t,z,q,n,a\n1,A,0.5,100,20\n2,A,0.5,100,60\n", COLUMNS, "the same in all its rows"),
        ("t,z,q,n,a\n1,A,0.5,100,20\n2,A,0.7,100,60\n", COLUMNS[:-2], "Pass the column as --pool"),
        ("t,z,q,n,a\n1,A,0.5,100,20\n2,A,0.7,100,60\n", [*COLUMNS[:-1], "m"], "there is no column 'm' (--pool)"),
        ("t,z,q,n,a\n1,A,0.5,100,20\n2,A,0.7,100,60\n", [*COLUMNS[:-1], "a"], "named twice"),
    ],
)
def test_what_does_not_identify_costs_is_refused_with_what_to_do(tmp_path, rows, options, words):
    (tmp_path / "log.csv").write_text(rows)
    done = run("estimate-cost", tmp_path / "log.csv", *options)
    assert done.exit_code == 2
    assert words in done.stderr


def test_a_negative_slope_ends_with_1_and_says_so(tmp_path):
    write_log(tmp_path / "log.csv", a=[730, 500, 270, 500, 270, 120])
    done = run("estimate-cost", tmp_path / "log.csv", *COLUMNS, "--costs", tmp_path / "c.json")
    assert done.exit_code == 1
    assert "No more people apply where more is published" in done.output
    assert json.loads((tmp_path / "c.json").read_text())["costs"] is None


def test_a_picture_is_drawn_and_json_goes_to_the_terminal(tmp_path):
    write_log(tmp_path / "log.csv")
    done = run("estimate-cost", tmp_path / "log.csv", *COLUMNS, "--costs", "-", "--figure", tmp_path / "f.svg")
    assert json.loads(done.stdout)["identified_by"] == "periods"
    assert "<svg" in (tmp_path / "f.svg").read_text()


def test_decimal_commas_are_read_and_hostile_names_shown_as_text(tmp_path):
    (tmp_path / "log.csv").write_text("t;z;q;n;a\n1;A;0,5;1000;270\n2;A;0,6;1000;500\n3;A;0,75;1000;800\n")
    assert run("estimate-cost", tmp_path / "log.csv", *COLUMNS).exit_code == 0
    # blanks around a name, and a name of nothing, are not part of a group in a file
    names = [name for name in WITHOUT_HALVES if name.strip() == name and name and "\x00" not in name][:25]
    rows = [(t, name, q, 100, a) for name in names for t, q, a in ((1, "0.5", 30), (2, "0.6", 50), (3, "0.7", 65))]
    path = tmp_path / "hostile.csv"
    lines = csv_lines([["t", "z", "q", "n", "a"], *rows])
    path.write_bytes(b"".join(lines))
    done = run("estimate-cost", path, *COLUMNS, "--costs", tmp_path / "c.json", "--figure", tmp_path / "f.svg")
    assert done.exit_code == 0, done.output
    assert all(char.isprintable() or char == "\n" for char in done.output)
    assert len(json.loads((tmp_path / "c.json").read_text())["costs"]) == len(names)


# ---------------------------------------------------------------------- the pool


def pool_file(path, text="z,pool\nA,40\nB,80\n"):
    path.write_text(text)
    return path


def test_a_pool_gives_application_rates_and_impact_ratios_per_potential_applicant(tmp_path):
    people = tmp_path / "p.csv"
    people.write_text("y,z,p\n" + "1,A,1\n" * 10 + "0,A,0\n" * 10 + "1,B,1\n" * 12 + "0,B,0\n" * 8)
    files = {kind: tmp_path / f"o.{kind}" for kind in ("json", "csv", "html")}
    outputs = ["--json", files["json"], "--csv", files["csv"], "--report", files["html"]]
    done = run("audit", people, *PEOPLE, "--cost", "0.5", "--pool", pool_file(tmp_path / "n.csv"), *outputs)
    assert done.exit_code == 0, done.output
    assert "rates per screened person leave out those who stayed away" in done.output
    (table,) = json.loads(files["json"].read_text())["impact_ratios"]["tables"]
    a, b = table["categories"]
    assert (a["impact_ratio"], b["impact_ratio"]) == (pytest.approx(10 / 12), 1)
    assert (a["pool_impact_ratio"], b["pool_impact_ratio"]) == (1, pytest.approx(12 / 80 / (10 / 40)))
    assert (a["application_rate"], b["application_rate"]) == (0.5, 0.25)
    assert b["pool_under_four_fifths"]
    assert not a["under_four_fifths"]
    assert "under four fifths of the pool" in done.output
    assert pd.read_csv(files["csv"])["pool_selection_rate"].tolist() == [0.25, 0.15]
    assert "Impact ratio of pool" in files["html"].read_text()
    plain = run("audit", people, *PEOPLE, "--cost", "0.5", "--json", "-", "--report", tmp_path / "plain.html")
    assert "pool" not in plain.stdout
    assert "potential" not in (tmp_path / "plain.html").read_text().partition("<script")[0]


@pytest.mark.parametrize(
    ("text", "more", "words"),
    [
        ("z,pool\nA,10\nB,80\n", [], "smaller than the number of screened people in group(s) 'A': 10 against 20"),
        ("z,pool\nA,40\n", [], "has no row for group 'B'"),
        ("z,pool\nA,-1\nB,80\n", [], "row 2, column 'pool': a count of people is negative"),
        ("z,pool\nA,many\nB,80\n", [], "row 2, column 'pool': 'many' is not a number"),
        ("z,men,women\nA,1,2\nB,1,2\n", [], "which column holds the counts of people?"),
        ("group,pool\nA,40\n", [], "there is no column 'z' (--group)"),
        ("z,pool\nA,40\nB,80\n", ["--weight", "p"], "does not go with --weight or --person"),
    ],
)
def test_a_pool_that_cannot_be_used_is_refused(tmp_path, text, more, words):
    pool = pool_file(tmp_path / "n.csv", text)
    done = run("audit", write_people(tmp_path / "p.csv"), *PEOPLE, "--cost", "0.5", "--pool", pool, *more)
    assert done.exit_code == 2
    assert words in done.stderr


def test_a_pool_by_several_columns_adds_up_over_those_left_out(tmp_path):
    people = tmp_path / "p.csv"
    people.write_text("y,z,w,p\n" + "1,A,f,1\n0,A,m,0\n1,B,f,1\n0,B,m,1\n" * 10)
    pool = pool_file(tmp_path / "n.csv", "z,w,note,pool\nA,f,x,20\nA,m,x,30\nB,f,x,40\nB,m,x,50\n")
    columns = ["--label", "y", "--group", "z", "--group", "w", "--prediction", "p", "--cost", "0.5", "--pool", pool]
    both = json.loads(run("audit", people, *columns, "--json", "-").stdout)
    assert [row["pool"] for row in both["groups"]] == [20, 30, 40, 50]
    assert [[row["pool"] for row in table["categories"]] for table in both["impact_ratios"]["tables"]][:2] == [
        [50, 90],
        [60, 80],
    ]
    each = json.loads(run("audit", people, *columns, "--separately", "--json", "-").stdout)
    assert [[row["pool"] for row in audit["groups"]] for audit in each] == [[50, 90], [60, 80]]
