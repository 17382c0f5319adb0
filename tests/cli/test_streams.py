"""Files come before words: a reader that has read enough, and a terminal without emoji, lose nothing."""

import json
import os
import subprocess
import sys

import pytest

from applicants import run, trained
from selfselect.cli.streams import print_json
from selfselect.tabular.train import load_table_model


def command(*arguments, first_line=False, **environment):
    """The real command; with ``first_line``, its output goes to a reader that leaves after one line."""
    process = subprocess.Popen(
        [sys.executable, "-c", "from selfselect.cli import main; main()", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": "1", **environment},
    )
    if first_line:
        said = process.stdout.readline()
        process.stdout.close()
        errors = process.stderr.read()
        process.stderr.close()
        process.wait()
    else:
        said, errors = process.communicate()
    return process.returncode, said, errors.decode()


full_only = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device that is always full")


@full_only
def test_errors_that_cannot_be_written_change_no_exit_code():
    words = [sys.executable, "-m", "selfselect", "audit", "nofile.csv", "--label", "y", "--group", "z"]
    for more in (["--score", "s", "--cost", "0.5"], ["--nonsense"]):
        for unbuffered in ("", "1"):
            environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
            with open("/dev/full", "w") as full:
                done = subprocess.run(
                    [*words, *more], env=environment, stdout=subprocess.PIPE, stderr=full, check=False
                )
            assert (done.returncode, done.stdout) == (2, b"")


@full_only
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", [["--help"], ["--version"], ["audit", "--help"]])
def test_words_that_cannot_be_written_are_an_error_told_once(words, unbuffered):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "selfselect", *words],
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr == "Error: Cannot write the output: No space left on device.\n"


@pytest.fixture
def audited(tmp_path):
    """More groups than a pipe holds lines for, one of them with an emoji."""
    path = tmp_path / "people.csv"
    rows = "".join(f"{i % 2},{'team 😀' if i % 3 else 'team B'},0.{i % 9 + 1}\n" for i in range(60))
    path.write_text("y,z,s\n" + rows, encoding="utf-8")
    costs = [part for i in range(200) for part in ("--cost", f"0.{500 + i}")]
    return ["audit", path, "--label", "y", "--group", "z", "--score", "s", *costs]


def test_a_reader_that_leaves_early_gets_its_line_and_the_files_are_there(audited, tmp_path):
    files = [tmp_path / name for name in ("out.html", "out.json", "out.csv")]
    outputs = ("--report", files[0], "--json", files[1], "--csv", files[2])
    code, said, errors = command(*audited, *outputs, first_line=True)
    assert (code, errors) == (0, "")
    assert said.count(b"\n") == 1
    assert all(file.stat().st_size for file in files)


def test_a_closed_pipe_does_not_hide_that_a_condition_failed(audited):
    code, _, errors = command(*audited, "--max-social-cost", "0", first_line=True)
    assert code == 1
    assert "Condition failed" in errors
    assert "Traceback" not in errors


def test_a_model_is_written_before_it_is_shown(table, tmp_path):
    options = ("--label", "hired", "--group", "z", "--cost", "0.7", "--method", "naive")
    model = tmp_path / "model.skops"
    code, _, errors = command("train", table, *options, "--model", model, first_line=True)
    assert code == 0, errors
    assert load_table_model(model).groups == ("z",)


@full_only
def test_a_model_is_there_even_if_no_word_about_it_can_be_written(table, tmp_path):
    options = ("--label", "hired", "--group", "z", "--cost", "0.7", "--method", "naive")
    model = tmp_path / "model.skops"
    words = [sys.executable, "-m", "selfselect", "train", table, *options, "--model", model]
    with open("/dev/full", "w") as full:
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert "Cannot write the output: No space left on device." in done.stderr
    assert load_table_model(model).groups == ("z",)


def test_what_a_terminal_cannot_show_is_replaced(audited, tmp_path):
    report = tmp_path / "out.html"
    code, said, errors = command(*audited, "--report", report, PYTHONIOENCODING="cp1252")
    assert (code, errors) == (0, "")
    assert "team \\U0001f600" in said.decode("cp1252")
    assert "😀" in report.read_text(encoding="utf-8")
    code, said, _ = command(*audited, "--json", "-", PYTHONIOENCODING="cp1252")
    assert code == 0
    assert {row["group"] for row in json.loads(said.decode("cp1252"))["groups"]} == {"team 😀", "team B"}


def test_json_is_left_alone_where_the_terminal_can_show_it(capsys):
    print_json('{"ä": 1}')
    assert capsys.readouterr().out == '{"ä": 1}'


def test_a_table_on_its_way_to_a_file_is_the_table_that_would_be_written(table, tmp_path):
    model, new, out = tmp_path / "model.skops", tmp_path / "new.csv", tmp_path / "out.csv"
    trained(table, model, "--method", "naive", "--ignore", "same")
    new.write_bytes("id,z,age,job,pay,same\n\x1b[31mred 😀,A,30,clerk,20,1\n".encode())
    assert run("predict", model, new, "--output", out).exit_code == 0
    code, said, _ = command("predict", model, new, PYTHONIOENCODING="cp1252")
    assert code == 0
    assert said == out.read_bytes()
    assert b"\x1b[31mred" in said


def test_a_terminal_that_is_closed_costs_no_file(people_csv, tmp_path):
    code = "import sys; sys.stdout = sys.__stdout__ = None; from selfselect.cli import main; main()"
    columns = ["--label", "outcome", "--positive", "hired", "--group", "team", "--score", "s", "--cost", "0.5"]
    written = tmp_path / "a.json"
    done = subprocess.run(
        [sys.executable, "-c", code, "audit", people_csv, *columns, "--json", written],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr
    assert done.returncode == 0
    assert written.exists()


def with_closed_output(*words):
    """The real command, its output closed before it starts."""
    done = subprocess.run(
        ["/bin/sh", "-c", '"$@" >&-', "sh", sys.executable, "-m", "selfselect", *map(str, words)],
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    return done.returncode, done.stderr


CLOSED = (2, "Error: Cannot write the output: standard output is closed.\n")
shell_only = pytest.mark.skipif(sys.platform == "win32", reason="a shell of POSIX")


@shell_only
def test_json_that_was_to_go_to_a_closed_output_is_an_error(audited):
    assert with_closed_output(*audited, "--json", "-") == CLOSED


@shell_only
def test_a_table_that_was_to_go_to_a_closed_output_is_an_error(table, tmp_path):
    model, new = tmp_path / "model.skops", tmp_path / "new.csv"
    trained(table, model, "--method", "naive", "--ignore", "same")
    new.write_text("id,z,age,job,pay,same\n1,A,30,clerk,20,1\n")
    assert with_closed_output("predict", model, new) == CLOSED
