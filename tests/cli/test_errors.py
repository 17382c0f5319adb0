"""Errors about the input: where, why, and the option that would settle it."""

import re

import pytest

from applicants import run
from selfselect._errors import InputError
from selfselect.cli.errors import ERROR_HINTS, FINDING_HINTS, error_message
from selfselect.cli.main import main
from selfselect.tabular.errors import TableError

GOOD = "label,group,score\n1,A,0.9\n0,A,0.2\n1,B,0.8\n0,B,0.7\n"


def command(name):
    return main.commands[name]


def options_of(name):
    return {option for parameter in command(name).params for option in parameter.opts}


def audit(path, *options, stdin=None):
    common = ("audit", path, "--label", "label", "--group", "group", "--cost", "0.7")
    return run(*common, *(options or ("--score", "score")), stdin=stdin)


def written(tmp_path, content):
    path = tmp_path / "people.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_hints_name_only_options_that_exist_and_that_the_command_has():
    everything = set().union(*map(options_of, main.commands))
    assert {option for option, _ in (*ERROR_HINTS.values(), *FINDING_HINTS.values())} <= everything
    for name in main.commands:
        for key in ERROR_HINTS:
            message = error_message(TableError("it is wrong", key=key, named_by="label"), command(name))
            assert set(re.findall(r"--[a-z][a-z-]*", message)) <= options_of(name)
            assert message.startswith("it is wrong (--label)" if "--label" in options_of(name) else "it is wrong")


def test_a_hint_quotes_names_from_the_table():
    assert error_message(InputError("Bad.", key="score", name="\x1b[31m"), command("audit")).isprintable()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"label,group,score\n1,\xc3\xa4,0.9\n1,K\xf6ln,0.2\n", ["row 3", "--encoding latin-1"]),
        ("label;group,x\n1;A,0\n", ["separated by commas or by semicolons", "--delimiter"]),
        ("label;group;score\n1;A;1,234\n", ["row 2", "'1,234' may hold", "--decimal"]),
        ("label,group,score,score\n1,A,0.9,1\n", ["'score'", "2 columns have this name (--score)"]),
        ("label,group,score\n1,A,0.9\n0,A,1e308\n", ["'score': Scores run from 0.9 to 1e+308", "--threshold"]),
        ("label,group,score\ngood,A,0.9\nbad,A,0.2\n", ["row 2", "'label'", "--positive VALUE"]),
        ("label,group,score\n1,A,0.9\n0,,0.2\n", ["row 3", "'group'", "--missing own-group"]),
        ("label,gruop,score\n1,A,0.9\n", ["no column 'group' (--group)", "Did you mean 'gruop'"]),
    ],
)
def test_a_bad_table_is_refused_with_its_place_its_reason_and_the_option_that_would_settle_it(tmp_path, content, words):
    result = audit(written(tmp_path, content))
    assert result.exit_code == 2, result.output
    assert "people.csv" in result.output
    for word in words:
        assert word in result.output


def test_standard_input_is_read_when_the_file_is_a_dash():
    assert audit("-", stdin=GOOD).exit_code == 0
    assert "standard input, row 2, column 'score'" in audit("-", stdin="label,group,score\n1,A,x\n").output


S, P = ("--score", "score"), ("--prediction", "label")


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("audit", (), "Pass either --score COLUMN"),
        ("audit", (*S, *P), "Pass either --score COLUMN"),
        ("audit", (*P, "--threshold", "1"), "--threshold belongs to --score"),
        ("audit", (*P, "--lower-passes"), "--lower-passes belongs to --score"),
        ("audit", ("--prediction", "score"), "pass it as --score"),
        ("compare", S, "With one FILE, give --score, --prediction or --threshold twice"),
        ("compare", (*S, *P), "Pass either --score COLUMN"),
        ("compare", S * 3, "--score is given once for both, or twice; not 3 times"),
        ("compare", (*S * 2, "--same-people", "group"), "--same-people is for two files"),
        ("compare", (*S, "--score", "nothing"), "there is no column 'nothing' (--score)"),
        ("plan", (*S, "--drop-group"), "--drop-group and --ignore belong to --retrain"),
        ("plan", (*S, "--retrain", "--weight", "score"), "--weight and --retrain do not go together"),
        ("plan", (*S, "--budget", "-1"), "--budget"),
        ("plan", (*S, "--budget", "nan"), "is not a finite number"),
    ],
)
def test_options_that_do_not_go_together_are_refused(tmp_path, name, options, words):
    people = ("--label", "label", "--group", "group", "--cost", "0.7")
    result = run(name, written(tmp_path, GOOD), *people, *options)
    assert result.exit_code == 2
    assert words in result.output
