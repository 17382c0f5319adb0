"""Costs, subsidies and budgets in money: shares times what being selected is worth."""

import csv
import json
from pathlib import Path

import pytest

from applicants import run
from selfselect.report.money import Money

EXAMPLES = Path(__file__).parents[2] / "examples"
LOANS = (EXAMPLES / "loans.csv", "--label", "repaid", "--group", "region", "--score", "score", "--cost", "0.7")
WORTH = ("--worth", "30000", "--currency", "EUR")


@pytest.mark.parametrize("command", ["audit", "plan"])
@pytest.mark.parametrize("kind", [(), ("--proportional",)])
def test_every_amount_is_the_share_times_the_worth_in_json_and_csv(command, kind, tmp_path):
    table = tmp_path / "out.csv"
    content = json.loads(run(command, *LOANS, *WORTH, *kind, "--json", "-", "--csv", table).stdout)
    assert (content["worth"], content["currency"]) == (30000, "EUR")
    for group in content["groups"]:
        cost = "cost" if command == "audit" else "cost_before"
        assert group[f"{cost}_money"] == 21000
        name = "subsidy_needed" if command == "audit" else "subsidy"
        if group[name] is not None:
            scale = 21000 if kind else 30000
            assert group[f"{name}_money"] == pytest.approx(group[name] * scale, abs=0.001)
    with table.open() as file:
        rows = list(csv.DictReader(file))
    for row, group in zip(rows, content["groups"], strict=True):
        for name in row:
            if name.endswith("_money") and row[name]:
                assert float(row[name]) == pytest.approx(group[name])


def test_a_budget_in_money_is_a_budget_in_units_of_the_worth():
    shown = [run("plan", *LOANS, *WORTH, "--budget", budget, "--json", "-").stdout for budget in ("5", "150000EUR")]
    assert shown[0] == shown[1]
    assert json.loads(shown[0])["budget_money"] == 150000
    said = run("plan", *LOANS, *WORTH, "--budget", "150000 EUR").output
    assert "in all, if being selected is worth EUR 30,000 to a person." in said
    assert "needs --worth" in run("plan", *LOANS, "--budget", "150000EUR").output
    assert "is not a finite number of at least 0" in run("plan", *LOANS, "--budget", "-3").output


def test_a_subsidy_in_money_is_rounded_up():
    assert Money.amount_up(4558.01) == "4,559"
    assert Money.amount_up(12.341) == "12.35"
    assert Money(30000, "EUR").text(0.7) == "EUR 21,000"


def test_the_terminal_shows_money_beside_shares():
    output = run("audit", *LOANS, *WORTH).output
    assert "cost in EUR  subsidy in EUR" in output
    assert "21,000" in output
    assert "in EUR" not in run("audit", *LOANS).output
