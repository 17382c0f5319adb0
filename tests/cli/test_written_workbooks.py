"""Workbooks that are written: all tables of a result, and a template that reads back without options."""

import json
from pathlib import Path

import openpyxl
import pandas as pd
import pytest

from applicants import run
from hostile import WITHOUT_HALVES
from selfselect.tabular.excel import read_settings, workbook_bytes

EXAMPLES = Path(__file__).parents[2] / "examples"
LOANS = (EXAMPLES / "loans.csv", "--label", "repaid", "--positive", "yes", "--group", "region", "--score", "score")
COMMANDS = {
    "audit": (*LOANS, "--cost", "0.7"),
    "impact": (LOANS[0], *LOANS[5:]),
    "plan": (*LOANS, "--cost", "0.7"),
    "compare": (EXAMPLES / "loans_next_year.csv", *LOANS, "--cost", "0.7", "--resamples", "20"),
    "frontier": (*LOANS, "--cost", "0.7"),
    "estimate-cost": (
        EXAMPLES / "applications.csv",
        *("--group", "region", "--period", "year", "--published", "published", "--applicants", "applied"),
        *("--pool", "people"),
    ),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_workbook_holds_the_tables_of_the_csv_file_and_more(command, tmp_path):
    book, table = tmp_path / "out.xlsx", tmp_path / "out.csv"
    done = run(command, *COMMANDS[command], "--xlsx", book, "--csv", table)
    assert done.exit_code in (0, 1), done.output
    sheets = pd.read_excel(book, sheet_name=None, engine="openpyxl")
    assert next(iter(sheets)) == "summary"
    written = pd.read_csv(table)
    same = [sheet for sheet in sheets.values() if set(written.columns) <= {*sheet.columns, "rate"} and len(sheet)]
    assert same
    if command not in ("impact", "frontier"):
        pd.testing.assert_frame_equal(same[0][written.columns], written, check_dtype=False)
    again = run(command, *COMMANDS[command], "--xlsx", book)
    assert again.exit_code == 2
    assert "exists already" in again.output


@pytest.mark.parametrize("decisions", [False, True])
def test_a_template_that_is_filled_in_is_read_without_options(decisions, tmp_path):
    path = tmp_path / "people.xlsx"
    assert run("template", path, *(["--decisions"] if decisions else [])).exit_code == 0
    assert "there is a header but no row" in run("audit", path).output
    book = openpyxl.load_workbook(path)
    for i in range(80):
        passes = i % 3 > 0
        known = ["yes", "no"][i % 5 == 0] if passes else None
        book["people"].append([i, "AB"[i % 2], known, ["no", "yes"][passes] if decisions else 0.3 + 0.4 * passes])
    book.save(path)
    found = json.loads(run("audit", path, "--json", "-", "--min-cell", "0").stdout)
    assert {group["group"]: group["n"] for group in found["groups"]} == {"A": 40, "B": 40}
    assert found["cost"] == 0.7
    assert json.loads(run("audit", path, "--json", "-", "--cost", "0.4").stdout)["cost"] == 0.4
    for command in ("check", "plan", "impact"):
        assert run(command, path).exit_code in (0, 1), run(command, path).output


@pytest.mark.parametrize("name", WITHOUT_HALVES)
def test_no_cell_of_a_workbook_is_a_formula(name, tmp_path):
    path = tmp_path / "out.xlsx"
    path.write_bytes(workbook_bytes({"a/b" * 20: pd.DataFrame({name: [name, "plain"], "n": [float("nan"), 2.5]})}))
    (sheet,) = openpyxl.load_workbook(path)
    assert [cell.data_type for row in sheet.iter_rows() for cell in row if cell.value is not None][:2] == ["s", "s"]
    assert all(cell.data_type != "f" for row in sheet.iter_rows() for cell in row)
    assert sheet["B2"].value is None
    assert sheet["B3"].value == 2.5


def test_settings_of_another_file_are_none(tmp_path):
    path = tmp_path / "damaged.xlsx"
    path.write_bytes(b"PK\x03\x04nothing")
    assert read_settings(str(path)) == {}
    assert "damaged .xlsx file" in run("audit", path, *LOANS[1:], "--cost", "0.7").output
