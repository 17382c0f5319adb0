"""Complaints about input in the words of the command: a hint never names an option that the command does not have."""

import gzip
import os
import re
import subprocess
import sys

import click
import pytest

from applicants import run
from selfselect._errors import InputError
from selfselect.cli import inputs
from selfselect.cli.errors import HINTS, worded
from selfselect.cli.main import COMMANDS, main
from selfselect.tabular.errors import TableError

GOOD = "label,group,score\n1,A,0.9\n0,A,0.2\n1,B,0.8\n0,B,0.7\n"
OPTION = re.compile(r"--[a-z][a-z-]*")
WHOLE_COMMAND = re.compile(r"selfselect ([a-z]+)( --[a-z-]+( [a-z.]+)?)*")
NAMES = ("label", "group", "score", "prediction", "ignore", "subsidy", "target", "require", "positive", "delimiter")


def command(name):
    found = main.get_command(click.Context(main), name)
    assert found is not None
    return found


def options_of(name):
    return {option for parameter in command(name).params for option in parameter.opts}


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("key", HINTS)
def test_a_hint_never_names_an_option_that_the_command_does_not_have(name, key):
    for kind in (InputError, TableError):
        error = kind("it is wrong", key=key, name="x", delimiter=";", encoding="latin-1", path="s.sqlite")
        said = worded(error, command(name))
        named = set(OPTION.findall(said))
        assert set(OPTION.findall(WHOLE_COMMAND.sub("", said))) <= options_of(name)
        for whole in WHOLE_COMMAND.finditer(said):  # what to run instead has options of its own
            assert set(OPTION.findall(whole[0])) <= options_of(whole[1])
        assert (HINTS[key].option in named) == (HINTS[key].option in options_of(name))
        assert said.startswith("it is wrong")
        assert "{" not in said


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("named_by", [*NAMES, "prediction_positive", "", "the moon"])
def test_an_option_is_blamed_only_if_the_command_has_it(name, named_by):
    said = worded(TableError("it is wrong", advice="Mend it.", named_by=named_by), command(name))
    option = f"--{named_by.replace('_', '-')}"
    expected = f" ({option})" if option in options_of(name) else ""
    assert said == f"it is wrong{expected}. Mend it."


def test_every_hint_is_of_use_to_some_command():
    everything = set().union(*map(options_of, COMMANDS))
    assert {hint.option for hint in HINTS.values()} <= everything


def test_a_hint_without_its_details_is_still_a_sentence_and_quotes_what_strangers_wrote():
    assert worded(InputError("Bad.", key="encoding"), command("audit")) == "Bad. Or pass --encoding ENCODING."
    evil = worded(InputError("Bad.", key="score", name="\x1b[31m"), command("audit"))
    assert evil.isprintable()


def test_what_names_its_option_already_gets_no_second_hint():
    assert worded(InputError("Bad; see --threshold.", key="threshold"), command("audit")) == "Bad; see --threshold."


# ---------------------------------------------------------------------- as people meet them


def audit(path, *options, stdin=None):
    common = ("audit", path, "--label", "label", "--group", "group", "--cost", "0.7")
    return run(*common, *(options or ("--score", "score")), stdin=stdin)


def written(tmp_path, content):
    path = tmp_path / "people.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", ["empty"]),
        ("\n\n", ["empty"]),
        ("label,group,score\n", ["no row"]),
        (b"label,group,score\n1,A,0.9\n0,A\x00,0.2\n", ["row 3", "NUL"]),
        (b"label,group,score\n1,\xc3\xa4,0.9\n1,K\xf6ln,0.2\n", ["row 3", "--encoding latin-1"]),
        ("label;group,x\n1;A,0\n", ["separated by commas or by semicolons; say which with --delimiter"]),
        ("label;group;score\n1;A;1,234\n", ["row 2", "'1,234' may hold", "say which sign is decimal with --decimal"]),
        (
            "label;group;score\n1;A;0,9\n0;A;1.234\n",
            ["row 3", "'1.234' is not a number in a table with decimal commas"],
        ),
        ("label,group,score\n1,A,0.9\n0,A\n", ["row 3", "2 cell(s)", "3 column(s)"]),
        ("label,group,score\n1,A,0.9\n0,A,0.2,9\n", ["row 3", "4 cell(s)"]),
        ("label,group,score,score\n1,A,0.9,1\n", ["row 1", "'score'", "2 columns have this name (--score)"]),
        ('label,group,score\n1,"A,0.9\n0,A,0.2\n', ["row 2", "never closes"]),
        ('label,group,score\n1,"A"x,0.9\n', ["row 2", "closing quote"]),
        ("label,group,score\n1,A,0.9\n0,A,high\n", ["row 3", "'score'", "'high' is not a number"]),
        ("label,group,score\n1,A,0.9\n0,A,\n", ["row 3", "'score'", "empty"]),
        ("label,group,score\n1,A,0.9\n0,A,1e309\n", ["row 3", "'score'", "finite"]),
        ("label,group,score\n1,A,0.9\n0,A,nan\n", ["row 3", "'score'", "finite"]),
        ("label,group,score\n1,A,0.9\n0,A,1_000\n", ["row 3", "'score'", "not a number"]),
        ('label,group,score\n1,A,0.9\n0,A,"0,5"\n', ["row 3", "decimals with a point"]),
        ("label,group,score\n1,A,0.9\n0,A,1e308\n", ["'score'", "--threshold"]),
        ("label,group,score\n1,A,0.9\n0,A,0.2\n2,A,0.3\n", ["row 4", "'label'", "third value '2'"]),
        ("label,group,score\n1,A,0.9\n,A,0.2\n", ["row 3", "'label'", "empty"]),
        (
            "label,group,score\nyes,A,0.9\nno,A,0.2\n",
            ["row 2", "'label'", "say which value means qualified with --positive"],
        ),
        ("label,group,score\n1,A,0.9\n0,,0.2\n", ["row 3", "'group'", "--missing own-group"]),
        ("label,gruop,score\n1,A,0.9\n", ["no column 'group' (--group)", "Did you mean 'gruop'"]),
        ("LABEL,group,score\n1,A,0.9\n", ["no column 'label' (--label)", "Did you mean 'LABEL'"]),
        (b"\x1f\x8b\x08\x00rubbish", ["gzip"]),
        (gzip.compress(GOOD.encode() * 100, mtime=0)[:-20], ["gzip"]),
        (b"PAR1rubbish", ["Parquet"]),
    ],
)
def test_a_bad_table_is_refused_with_its_place_its_reason_and_the_option_that_would_settle_it(tmp_path, content, words):
    result = audit(written(tmp_path, content))
    assert result.exit_code == 2, result.output
    assert "people.csv" in result.output
    for word in words:
        assert word in result.output


def test_a_file_that_is_not_there_or_is_a_folder_is_named(tmp_path):
    assert "No such file" in audit(tmp_path / "nowhere.csv").output
    result = audit(tmp_path)
    assert result.exit_code == 2
    assert "Cannot read" in result.output


def test_rows_are_counted_as_a_spreadsheet_does_also_with_blank_lines_and_line_breaks_in_cells(tmp_path):
    said = audit(written(tmp_path, 'label,group,score\n1,"A\nB",0.9\n\n0,A,oops\n')).output
    assert "row 4" in said


@pytest.mark.parametrize(
    ("content", "options"),
    [
        (GOOD.encode(), ()),
        (b"\xef\xbb\xbf" + GOOD.encode(), ()),
        (GOOD.replace("\n", "\r\n").encode(), ()),
        (GOOD.replace("\n", "\r").encode(), ()),
        (GOOD.replace("\n", "\n\n").encode(), ()),
        (GOOD.replace(",", ";").replace(".", ",").encode(), ("--delimiter", ";", "--decimal", ",")),
        (GOOD.replace(",", ";").encode(), ("--delimiter", ";")),
        (GOOD.replace(",", "\t").encode(), ("--delimiter", "tab")),
        (GOOD.encode("utf-16"), ("--encoding", "utf-16")),
        (gzip.compress(GOOD.encode(), mtime=0), ()),
        (GOOD.replace("label", "x,x,label").replace("\n1", "\n,,1").replace("\n0", "\n,,0").encode(), ()),
        (GOOD.replace("\n1", "\n 1.0").replace("\n0", "\nfalse").replace(" 1.0", "true").encode(), ()),
    ],
)
def test_the_same_table_written_differently_gives_the_same_answer(tmp_path, content, options):
    plain = tmp_path / "plain.csv"
    plain.write_text(GOOD)
    result = audit(written(tmp_path, content), "--score", "score", *options)
    assert result.exit_code == 0, result.output
    assert result.output == audit(plain).output


def test_parquet_gives_the_same_answer_as_csv(tmp_path):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    plain = written(tmp_path, GOOD)
    pd.read_csv(plain).to_parquet(tmp_path / "plain.parquet")
    assert audit(tmp_path / "plain.parquet").output == audit(plain).output


def test_standard_input_is_read_when_the_file_is_a_dash():
    result = audit("-", stdin=GOOD)
    assert result.exit_code == 0, result.output
    assert "standard input, row 2, column 'score'" in audit("-", stdin="label,group,score\n1,A,x\n").output


def test_predictions_that_are_scores_are_told_apart(tmp_path):
    result = audit(written(tmp_path, GOOD), "--prediction", "score")
    assert result.exit_code == 2
    assert "pass it as --score" in result.output


def test_score_and_prediction_exclude_each_other(tmp_path):
    path = written(tmp_path, GOOD)
    common = ("audit", path, "--label", "label", "--group", "group", "--cost", "0.7")
    for options in [(), ("--score", "score", "--prediction", "label"), ("--prediction", "label", "--threshold", "1")]:
        result = run(*common, *options)
        assert result.exit_code == 2
        assert "--score" in result.output


def test_too_little_memory_and_a_closed_input_end_in_plain_words(tmp_path, monkeypatch):
    path = written(tmp_path, GOOD)

    def too_much(*_, **__):
        raise MemoryError

    monkeypatch.setattr(inputs, "read_screening_result", too_much)
    result = audit(path)
    assert result.exit_code == 2
    assert result.output.startswith("Error: There is not enough memory for this.")
    command = [sys.executable, "-m", "selfselect", "check", "-", "--label", "label", "--group", "group"]
    closed = subprocess.run(
        ["sh", "-c", 'exec "$@" <&-', "sh", *command], capture_output=True, text=True, check=False, env=os.environ
    )
    assert (closed.returncode, closed.stderr) == (2, "Error: Cannot read standard input: it is closed.\n")
