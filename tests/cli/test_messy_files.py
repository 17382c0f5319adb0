"""Ten files as people have them: each is answered by ``check`` and ``audit``, or refused with the one thing to do."""

import datetime
import json
import re
import shlex

import numpy as np
import openpyxl
import pandas as pd
import pytest

from applicants import run

N = 400


def people():
    rng = np.random.default_rng(5)
    region = rng.choice(["North", "South"], N)
    score = np.round(rng.random(N), 2)
    repaid = np.where(rng.random(N) < score, "yes", "no")
    return pd.DataFrame({"region": region, "score": score, "repaid": repaid})


def workbook(path, rows):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(path)


def title_rows(folder):
    path = folder / "titles.csv"
    path.write_text("Loans of the year 2025\nCONFIDENTIAL\n\n" + people().to_csv(index=False))
    return path


def merged_headers(folder):
    path, frame = folder / "merged.xlsx", people()
    workbook(path, [["Person", None, "Outcome"], list(frame.columns), *frame.values.tolist()])
    return path


def two_header_rows(folder):
    path, frame = folder / "two.csv", people().assign(age=30)
    names = ",".join(frame.columns)
    path.write_text(f"{names}\nwhere,points from 0 to 1,yes or no,years\n" + frame.to_csv(index=False, header=False))
    return path


def decimal_commas(folder):
    path = folder / "commas.csv"
    people().to_csv(path, index=False, sep=";", decimal=",")
    return path


def missing_labels(folder):
    path, frame = folder / "rejected.csv", people()
    frame.assign(repaid=frame["repaid"].where(frame["score"] > 0.5)).to_csv(path, index=False)
    return path


def prefer_not_to_say(folder):
    path, frame = folder / "unsaid.csv", people()
    frame.loc[::10, "region"] = "prefer not to say"
    frame.loc[::15, "region"] = ""
    frame.to_csv(path, index=False)
    return path


def duplicate_columns(folder):
    path, frame = folder / "twice.csv", people()
    pd.concat([frame, 1 - frame[["score"]]], axis=1).to_csv(path, index=False)
    return path


def excel_dates(folder):
    path, frame = folder / "dates.xlsx", people()
    first = datetime.datetime(2024, 1, 1)
    dates = [first + datetime.timedelta(days=int(i)) for i in range(N)]
    rows = [[date, *row] for date, row in zip(dates, frame.values.tolist(), strict=True)]
    workbook(path, [["applied on", *frame.columns], *rows])
    return path


def western_encoding(folder):
    path = folder / "western.csv"
    frame = people().replace({"North": "Île-de-France", "South": "Provence, Côte"})
    path.write_bytes(frame.to_csv(index=False).encode("cp1252"))
    return path


def many_groups(folder):
    path = folder / "many.csv"
    people().assign(region=[f"district {i % 150}" for i in range(N)]).to_csv(path, index=False)
    return path


#: The file, what audit says at first (empty: it answers), and what settles it.
FILES = {
    title_rows: ("there is no column 'region'", ["--header-row", "4"]),
    merged_headers: ("there is no column 'region'", ["--header-row", "2"]),
    two_header_rows: ("'points from 0 to 1' is not a number", ["--header-row", "2"]),
    decimal_commas: ("", []),
    missing_labels: ("the label is empty", ["--untested"]),
    prefer_not_to_say: ("the group is empty", ["--missing", "own-group"]),
    duplicate_columns: ("2 columns have this name", []),
    excel_dates: ("", []),
    western_encoding: ("", []),
    many_groups: ("", []),
}
COMMON = {"--label": "repaid", "--group": "region", "--score": "score", "--cost": "0.6"}


@pytest.mark.parametrize("messy", FILES)
def test_audit_answers_or_names_the_one_thing_to_do(messy, tmp_path):
    path, (problem, settling) = messy(tmp_path), FILES[messy]
    command = ["audit", path, *(part for pair in COMMON.items() for part in pair)]
    first = run(*command)
    if not problem:
        assert first.exit_code == 0, first.output
        return
    assert first.exit_code == 2
    assert problem in first.output
    if messy is duplicate_columns:
        assert "Write 'score (column 2)' or 'score (column 4)'." in first.output
        settled = run(*("score (column 2)" if part == "score" else part for part in command))
    else:
        assert " ".join(settling) in first.output
        if messy is two_header_rows:
            names = {"region": "where", "score": "points from 0 to 1", "repaid": "yes or no"}
            command = [names.get(part, part) for part in command]
        settled = run(*command, *settling)
    assert settled.exit_code == 0, settled.output


@pytest.mark.parametrize("messy", FILES)
def test_check_alone_finds_the_columns_and_a_command_that_runs(messy, tmp_path):
    result = run("check", messy(tmp_path))
    line = re.search(r"^  (selfselect (?:audit|impact) .*)$", result.output, re.M)
    if messy is many_groups:  # 150 texts are no groups that could be guessed
        assert "No column has few values, as groups do." in result.output
        return
    assert line is not None, result.output
    answer = run(*shlex.split(line[1])[1:], "--json", "-")
    assert answer.exit_code == 0, answer.output
    assert json.loads(answer.stdout)["n"] == N


def test_all_problems_of_a_file_come_at_once(tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text("who,score,repaid\n,high,perhaps\nA,0.2,no\nB,0.7,yes\n")
    result = run("audit", path, "--label", "repaid", "--group", "who", "--score", "score", "--cost", "0.6")
    assert result.exit_code == 2
    for words in ("a third value 'yes'", "the group is empty", "'high' is not a number"):
        assert words in result.output
    missing = run("audit", path, "--cost", "much", "--seed", "3")
    assert "No such option" in missing.output
    usage = run("audit", path, "--cost", "much")
    for words in ("'much' is not a number", "Missing option '--label'", "Missing option '--group'"):
        assert words in usage.output
