"""Output files: whole or not at all, and never over anything without --force."""

import json
import os
import stat
import subprocess
import sys

import pytest

from applicants import run

OPTIONS = ("--label", "y", "--group", "team", "--score", "s", "--cost", "0.5")


@pytest.fixture
def people_csv(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("y,team,s\n" + "".join(f"{int(i % 3 > 0)},{'ab'[i % 2]},{i / 100}\n" for i in range(100)))
    return path


@pytest.fixture
def audit(people_csv):
    return lambda *options: run("audit", people_csv, *OPTIONS, *options)


def test_an_existing_file_is_replaced_only_with_force_and_that_is_said_before_reading(people_csv, audit, tmp_path):
    out = tmp_path / "out.json"
    out.write_text("mine")
    assert "exists already" in run("audit", people_csv, *OPTIONS, "--label", "nowhere", "--json", out).output
    assert out.read_text() == "mine"
    assert audit("--json", out, "--force").exit_code == 0
    assert json.loads(out.read_text())["n"] == 100
    assert {path.name for path in tmp_path.iterdir()} == {"people.csv", "out.json"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--json", "people.csv"), "is read by this command"),
        (("--csv", "-"), "is not a file"),
        (("--csv", "x.csv", "--group", "team?", "--separately"), "named for two outputs"),
        (("--json", "good.json", "--csv", "no/x.csv"), "there is no folder"),
        (("--json", "folder.json"), "not an ordinary file"),
        (("--report", "page.pdf"), "must end in .html"),
    ],
)
def test_an_output_that_cannot_be_written_is_refused_before_any_file_is(audit, tmp_path, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.json").mkdir()
    before = (tmp_path / "people.csv").read_text()
    result = audit("--force", *options)
    assert result.exit_code == 2
    assert message in result.output
    assert {path.name for path in tmp_path.iterdir()} == {"people.csv", "folder.json"}
    assert (tmp_path / "people.csv").read_text() == before


def test_a_pipe_gets_the_file_and_stays_a_pipe(audit, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert audit("--csv", pipe).exit_code == 0
        assert os.read(reader, 5) == b"group"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(os.lstat(pipe).st_mode)


def test_files_are_there_even_if_nobody_reads_the_output(people_csv, tmp_path):
    command = [sys.executable, "-m", "selfselect", "audit", people_csv, *OPTIONS, "--report", tmp_path / "page.html"]
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([*map(str, command)], stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert "Traceback" not in done.stderr
    assert (tmp_path / "page.html").exists()


def test_json_on_the_terminal_is_utf_8_whatever_the_encoding_of_the_terminal(people_csv):
    people_csv.write_text(people_csv.read_text().replace(",a,", ",Käse\u4e16,"), encoding="utf-8")
    command = [sys.executable, "-m", "selfselect", "audit", people_csv, *OPTIONS]
    environment = os.environ | {"PYTHONIOENCODING": "latin-1"}
    as_json = subprocess.run(
        [*map(str, command), "--json", "-", "--min-cell", "0"], capture_output=True, check=True, env=environment
    )
    assert "Käse\u4e16" in {row["group"] for row in json.loads(as_json.stdout)["groups"]}
    as_text = subprocess.run([*map(str, command)], capture_output=True, check=True, env=environment)
    assert b"K\xe4se\\u4e16" in as_text.stdout
