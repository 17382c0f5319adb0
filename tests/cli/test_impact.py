"""``selfselect impact``: selection and scoring rates without labels and costs."""

import json
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from applicants import run
from browsing import watched_page
from selfselect.auditing import ImpactAudit
from selfselect.counting import encode_groups

#: JSON with exact counts.
EXACT = ("--min-cell", "0", "--json", "-")


@pytest.fixture
def candidates(tmp_path):
    """Candidates by sex and race, some unknown, one category under 2%; a score and a decision."""
    rng = np.random.default_rng(3)
    n = 1000
    sex = rng.choice(["f", "m", "", "prefer not to say"], n, p=[0.5, 0.44, 0.04, 0.02])
    race = np.where(np.arange(n) < 10, "rare", rng.choice(["a", "b"], n))
    score = np.round(rng.normal(50, 10, n) + 4 * (sex == "m"), 1)
    invited = np.where(score > 60, "yes", "no")
    path = tmp_path / "candidates.csv"
    pd.DataFrame({"sex": sex, "race": race, "score": score, "invited": invited}).to_csv(path, index=False)
    return path


def tables_of(result, rate):
    assert result.exit_code == 0, result.output
    tables = json.loads(result.stdout)["rates"][rate]["tables"]
    return {table["by"]: {row["category"]: row for row in table["categories"]} for table in tables}


def test_the_scoring_rate_is_the_share_above_the_median_of_everybody(candidates):
    result = run("impact", candidates, "--group", "sex", "--group", "race", "--score", "score", *EXACT)
    frame = pd.read_csv(candidates, keep_default_na=False)
    assert json.loads(result.stdout)["median"] == frame["score"].median()
    above = frame["score"] > frame["score"].median()
    found = tables_of(result, "scoring rate")
    assert set(found) == {"sex", "race", "sex / race"}
    for name in ("f", "m"):
        assert found["sex"][name]["selected"] == above[frame["sex"] == name].sum()
        assert found["sex / race"][f"{name} / a"]["n"] == ((frame["sex"] == name) & (frame["race"] == "a")).sum()
    assert {name for name, row in found["sex"].items() if row["unknown"]} == {"(missing)", "prefer not to say"}
    assert found["sex"]["(missing)"]["impact_ratio"] is None
    assert found["race"]["rare"]["set_apart"]


def test_half_of_an_even_number_of_people_scores_above_the_median_even_between_neighbouring_floats():
    one = np.nextafter(1.0, 2)
    found = ImpactAudit.from_scores(np.array([1.0, 1.0, one, one]), encode_groups(["a", "b", "a", "b"]))
    assert found.to_frame()["selected"].tolist() == [1, 1]
    turned = ImpactAudit.from_scores(np.array([1.0, 2, 3]), encode_groups(["a", "b", "a"]), lower_passes=True)
    assert turned.median == 2
    assert turned.to_frame().set_index("category")["selected"].to_dict() == {"a": 1, "b": 0}


def test_decisions_and_thresholds_give_the_same_selection_rates_and_those_of_an_audit(candidates):
    common = ("--group", "sex", *EXACT)
    scored = run("impact", candidates, *common, "--score", "score", "--threshold", "60")
    decided = run("impact", candidates, *common, "--prediction", "invited")
    assert tables_of(scored, "selection rate") == tables_of(decided, "selection rate")
    options = ("--label", "invited", "--missing", "own-group", "--prediction", "invited", "--cost", "0.5")
    audited = json.loads(run("audit", candidates, *common, *options).stdout)["impact_ratios"]["tables"]
    theirs = {table["by"]: {row["category"]: row for row in table["categories"]} for table in audited}
    assert tables_of(decided, "selection rate") == theirs


def test_no_number_in_a_file_is_about_fewer_than_ten_people(candidates):
    given = ("--group", "sex", "--group", "race", "--score", "score", "--json", "-")
    assert tables_of(run("impact", candidates, *given), "scoring rate")["sex / race"]["unknown / unknown"]["unknown"]
    result = run("impact", candidates, *given, "--threshold", "60")
    above, passing = tables_of(result, "scoring rate")["sex / race"], tables_of(result, "selection rate")["sex / race"]
    for name, row in above.items():
        low, high = sorted((row["selected"], passing[name]["selected"]))
        cells = [low, high - low, row["n"] - high]
        assert all(cell == 0 or cell >= 10 for cell in cells), (name, cells)
    assert "No number in this file is about fewer than 10 people: small groups are merged" in result.stderr


def test_four_fifths_are_compared_as_counts(tmp_path):
    path = tmp_path / "exact.csv"
    rows = [("a", i < 35) for i in range(49)] + [("b", i < 28) for i in range(49)] + [("c", i < 27) for i in range(49)]
    path.write_text("g,p\n" + "".join(f"{g},{int(p)}\n" for g, p in rows))
    assert Fraction(28, 49) == Fraction(4, 5) * Fraction(35, 49)
    found = tables_of(run("impact", path, "--group", "g", "--prediction", "p", *EXACT), "selection rate")["g"]
    assert [found[name]["under_four_fifths"] for name in "abc"] == [False, False, True]


def test_small_categories_are_never_the_highest_unless_asked_for(tmp_path):
    path = tmp_path / "small.csv"
    path.write_text("g,p\n" + "x,1\n" + "".join(f"{'ab'[i % 2]},{int(i % 4 < 2)}\n" for i in range(99)))
    command = ("impact", path, "--group", "g", "--prediction", "p")
    plain = run(*command)
    assert "x (1.0%): under 2.0% of the people, so never the highest." in plain.output
    assert "no category is under four fifths" in plain.output
    everybody = run(*command, "--all-categories")
    assert "x has the highest (100.0%)" in everybody.output


def test_words_of_the_user_mean_unknown_and_bands_are_categories(tmp_path):
    path = tmp_path / "ages.csv"
    ages = ["24", "25", "34.5", "35", "n.k.", ""] * 20
    path.write_text("age,p\n" + "".join(f"{age},{i % 2}\n" for i, age in enumerate(ages)))
    command = ("impact", path, "--group", "age", "--prediction", "p", "--bands", "age=25,35")
    refused = run(*command)
    assert refused.exit_code == 2
    assert "row 6, column 'age': 'n.k.' is not a number" in refused.output
    found = tables_of(run(*command, "--unknown", "N.K.", *EXACT), "selection rate")["age"]
    sizes = {name: row["n"] for name, row in found.items()}
    assert sizes == {"under 25": 20, "25 to under 35": 40, "35 or more": 20, "(missing)": 40}
    left = tables_of(run(*command, "--unknown", "N.K.", "--missing", "drop", *EXACT), "selection rate")["age"]
    assert "(missing)" not in left


def test_the_page_says_what_the_terminal_says_and_fits_a_phone(candidates, tmp_path, browser):
    page = tmp_path / "impact.html"
    said = run(
        "impact",
        candidates,
        "--group",
        "sex",
        "--group",
        "race",
        "--score",
        "score",
        "--report",
        page,
        "--min-cell",
        "0",
    )
    first = said.stdout.splitlines()[0]
    wrong = []
    shown = watched_page(browser, wrong, width=390)
    shown.goto(page.as_uri())
    assert first in shown.inner_text("#verdict")
    assert shown.evaluate("document.documentElement.scrollWidth") <= 390
    assert shown.locator("section table").count() == 3
    assert wrong == []
