"""People who did not pass, and so have no label, in all commands: precision is known without them."""

import json

import pytest

from applicants import run


@pytest.fixture
def files(people, tmp_path):
    """Two years: all labels, and only those of people who passed."""
    written = {}
    for year, shift in (("now", 0), ("next", 4)):
        frame = people.assign(score=(people["age"] - 18 + shift) / 60)
        frame.to_csv(tmp_path / f"{year}.csv", index=False)
        frame.assign(hired=frame["hired"].where(frame["score"] > 0.5)).to_csv(
            tmp_path / f"{year}_tested.csv", index=False
        )
        written[year] = (tmp_path / f"{year}.csv", tmp_path / f"{year}_tested.csv")
    return written


COMMON = ("--label", "hired", "--group", "z", "--score", "score")
COST = ("--cost", "0.9")


def test_the_same_groups_are_paid_the_same_without_the_labels_of_rejected_people(files):
    whole, tested = files["now"]
    for budget in ((), ("--budget", "5")):
        known, bounded = (
            json.loads(run("plan", path, *COMMON, *COST, *budget, "--untested", "--json", "-").stdout)
            for path in (whole, tested)
        )
        paid = [[group["subsidy"] for group in one["groups"]] for one in (known, bounded)]
        if not budget:
            assert paid[0] == paid[1]
            assert any(paid[0])
    said = run("plan", tested, *COMMON, *COST, "--untested").output
    assert "none" not in said.split("(Qualified")[0]


def test_two_years_are_compared_without_the_labels_of_rejected_people(files):
    options = (*COMMON, *COST, "--untested", "--resamples", "20")
    known = run("compare", *(whole for whole, _ in files.values()), *options)
    bounded = run("compare", *(tested for _, tested in files.values()), *options)
    assert bounded.exit_code == 0, bounded.output
    first = [one.output.split(".")[0] for one in (known, bounded)]
    assert first[0].split(": ")[1:] == first[1].split(": ")[1:]
    assert "stays at none" not in bounded.output
    refused = run("compare", files["now"][1], *options, "--threshold", "0.5", "--threshold", "0.6")
    assert "--untested is for two sets of people" in refused.output


def test_check_takes_a_file_without_the_labels_of_rejected_people(files):
    _, tested = files["now"]
    assert "--untested" in run("check", tested, *COMMON).output
    found = run("check", tested, *COMMON, "--untested", "--ignore", "id", "--ignore", "same")
    assert "No problem was found" in found.output, found.output


def test_a_frontier_names_the_commands_that_do_without_them(files):
    refused = run("frontier", files["now"][1], *COMMON, *COST)
    assert refused.exit_code == 2
    assert "audit, check, plan and compare can count them apart." in refused.output
