"""``selfselect compare``: two sets of people, two models on the same people, and what cannot be matched."""

import json

import numpy as np
import pytest

from applicants import run


def write(path, seed, precision=(0.85, 0.6), header="id,y,z,s,t,p,w"):
    """Four hundred people with two scores and a decision; A and B are qualified at these rates if they pass."""
    rng = np.random.default_rng(seed)
    n = 400
    z, score = rng.integers(0, 2, n), rng.random(n).round(3)
    y = rng.random(n) < np.array(precision)[z] * np.where(score > 0.5, 1, 0.4)
    other = np.clip(score - 0.05 * rng.random(n), 0, 1).round(3)
    rows = [
        f"{i},{int(y[i])},{'AB'[z[i]]},{score[i]},{other[i]},{'in' if score[i] > 0.5 else 'out'},{1 + i % 2}"
        for i in range(n)
    ]
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


@pytest.fixture
def years(tmp_path):
    """B comes from one year to the next."""
    return write(tmp_path / "2023.csv", 0), write(tmp_path / "2024.csv", 1, (0.85, 0.95))


def made_of(result):
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


COMMON = ("--label", "y", "--group", "z", "--cost", "0.7")


def test_two_files_are_two_sets_of_people(years, tmp_path):
    result = run("compare", *years, *COMMON, "--score", "s", "--json", tmp_path / "c.json", "--csv", tmp_path / "c.csv")
    assert result.exit_code == 0, result.output
    assert "2023.csv" in result.output
    made = json.loads((tmp_path / "c.json").read_text())
    assert made["paired"] is False
    assert [(row["applies_before"], row["applies_after"]) for row in made["groups"]] == [(True, True), (False, True)]
    for file, when in zip(years, ("before", "after"), strict=True):
        found = json.loads(run("audit", file, *COMMON, "--score", "s", "--json", "-").stdout)
        for name in ("induced_accuracy", "social_cost", "assumed_accuracy"):
            assert made[name][when] == found[name]
    assert made["social_cost"]["low"] <= made["social_cost"]["difference"] <= made["social_cost"]["high"]
    assert (tmp_path / "c.csv").read_text().startswith("group,change,")


def test_two_scores_in_one_file_are_two_models_on_the_same_people(years, tmp_path):
    page = tmp_path / "c.html"
    one_file = made_of(
        run("compare", years[0], *COMMON, "--score", "s", "--score", "t", "--json", "-", "--report", page)
    )
    assert one_file["paired"] is True
    assert one_file["names"] == ["s", "t"]
    assert page.exists()
    matched = made_of(
        run(
            "compare", years[0], years[0], *COMMON, "--score", "s", "--score", "t", "--same-people", "id", "--json", "-"
        )
    )
    for name in ("induced_accuracy", "social_cost", "assumed_accuracy", "groups"):
        assert matched[name] == one_file[name]
    apart = made_of(run("compare", years[0], years[0], *COMMON, "--score", "s", "--score", "t", "--json", "-"))
    width = {key: made["assumed_accuracy"]["high"] - made["assumed_accuracy"]["low"] for key, made in
             (("paired", one_file), ("apart", apart))}  # fmt: skip
    assert width["paired"] < width["apart"]


def test_two_thresholds_and_two_costs_can_be_compared(years):
    made = made_of(run("compare", years[0], *COMMON, "--score", "s", "--threshold", "0.5", "--threshold", "0.8",
                       "--json", "-"))  # fmt: skip
    assert made["names"] == ["s > 0.5", "s > 0.8"]
    dearer = made_of(run("compare", *years, *COMMON, "--cost", "0.99", "--score", "s", "--json", "-"))
    assert [row["cost_after"] for row in dearer["groups"]] == [0.99, 0.99]
    assert dearer["induced_accuracy"]["after"] is None


def test_decisions_are_compared_too_with_weights(years):
    options = (*COMMON, "--prediction", "p", "--prediction-positive", "in", "--weight", "w", "--json", "-")
    apart = made_of(run("compare", *years, *options))
    paired = made_of(run("compare", years[0], years[0], *options, "--same-people", "id"))
    assert paired["induced_accuracy"]["before"] == pytest.approx(apart["induced_accuracy"]["before"])
    assert paired["induced_accuracy"]["difference"] == 0
    unclear = run("compare", years[0], years[0], *COMMON, "--prediction", "p", "--same-people", "id")
    assert unclear.exit_code == 2
    assert "which value means passing screening" in unclear.output


def test_people_are_matched_by_id_whatever_their_order_and_the_others_are_counted(years, tmp_path):
    header, *rows = years[0].read_text().splitlines()
    other = tmp_path / "shuffled.csv"
    other.write_text("\n".join([header, *rows[10:][::-1]]) + "\n")
    result = run("compare", years[0], other, *COMMON, "--score", "s", "--same-people", "id", "--json", "-")
    made = made_of(result)
    assert "10 people are in one of the two files only" in result.stderr
    assert made["assumed_accuracy"]["difference"] == made["assumed_accuracy"]["high"] == 0


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda row: row.replace(",A,", ",C,"), "is in another group in each table"),
        (lambda row: row.replace(",1,A", ",9,A").replace(",0,", ",1,").replace(",9,A", ",0,A"), "is qualified in one"),
        (lambda row: "0," + row.split(",", 1)[1], "appears 400 times"),
        (lambda row: "x" + row, "Are they the same people?"),
        (lambda row: row[:-1] + str(int(row[-1]) + 1), "has another weight in each table"),
    ],
)  # fmt: skip
def test_people_who_are_not_the_same_are_refused(years, tmp_path, change, said):
    header, *rows = years[0].read_text().splitlines()
    other = tmp_path / "other.csv"
    other.write_text("\n".join([header, *map(change, rows)]) + "\n")
    command = ("compare", years[0], other, *COMMON, "--score", "s", "--weight", "w", "--same-people")
    result = run(*command, "id")
    assert result.exit_code == 2
    assert said in result.output
    assert "(--same-people)" in run(*command, "z").output  # nobody is matched by the group


@pytest.mark.parametrize("second", [("--score", "t"), ()])
def test_each_row_twice_changes_no_interval_of_a_difference_if_persons_are_told(years, tmp_path, second):
    twice = []
    for path in years:
        header, *rows = path.read_text().splitlines()
        twice.append(tmp_path / f"twice-{path.name}")
        twice[-1].write_text("\n".join([header, *rows, *rows]) + "\n")
    command = (*COMMON, "--score", "s", *second, "--json", "-")
    files, doubled = (years[:1], twice[:1]) if second else (years, twice)
    once, told, untold = (
        made_of(run("compare", *each, *command, *person))
        for each, person in ((files, ()), (doubled, ("--person", "id")), (doubled, ()))
    )
    for name in ("induced_accuracy", "social_cost", "assumed_accuracy"):
        assert told[name] == pytest.approx(once[name], abs=1e-9)
    assert untold["assumed_accuracy"] != pytest.approx(once["assumed_accuracy"], abs=1e-4)
    assert "persons" in told["provenance"][0]
