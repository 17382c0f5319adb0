"""The entry: which commands there are, that they start at once, and how errors are shown."""

import json
import re
import subprocess
import sys
from unittest.mock import Mock

import pytest
from click.testing import CliRunner

import selfselect
from applicants import run
from selfselect.cli import main
from selfselect.cli.command import SECTIONS as HELP_SECTIONS

COMMANDS = tuple(main.commands)
#: Nothing of this is needed to show help or to find a mistake in what was typed.
HEAVY = {"numpy", "pandas", "scipy", "sklearn", "tqdm", "matplotlib", "distributed", "narwhals", "pyarrow", "jinja2"}
AUDIT = ("audit", "x.csv", "--label", "y", "--group", "g", "--cost", "0.7")
PLAN = ("plan", *AUDIT[1:], "--score", "s")
PRINT_MODULES = """
import json, sys
from selfselect.cli import main
from selfselect.cli.command import SECTIONS as HELP_SECTIONS
try:
    main()
except SystemExit as end:
    print(json.dumps([end.code, sorted({name.partition(".")[0] for name in sys.modules})]), file=sys.stderr)
"""


def packages_imported_by(*arguments):
    """Exit code of a command in a process of its own, and the packages that it imported."""
    command = [sys.executable, "-c", PRINT_MODULES, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    code, packages = json.loads(done.stderr.splitlines()[-1])
    return code, set(packages)


HELP = [("--help",), ("--version",), *((name, "--help") for name in COMMANDS)]
WRONG = [
    ("frobnicate",),
    (*AUDIT, "--score", "s", "--threshold", "nan"),
    (*PLAN, "--cost", "0.5:0.7:0.1"),
    (*PLAN, "--drop-group"),
    ("frontier", *AUDIT[1:], "--prediction", "p"),
    ("compare", "x.csv", *AUDIT[2:], "--score", "s"),
    ("train", "x.csv", "--cost", "2"),
]


@pytest.mark.parametrize("arguments", [*HELP, *WRONG])
def test_help_and_usage_errors_import_nothing_heavy(arguments):
    code, packages = packages_imported_by(*arguments)
    assert code == (0 if arguments in HELP else 2)
    assert not packages & HEAVY


def test_help_lists_every_command_in_its_section_and_version_is_the_packages():
    text = run("--help").output
    assert "Start here:\n  demo " in text
    assert all(f"\n  {name} " in text for name in COMMANDS)
    assert selfselect.__version__ in run("--version").output


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (ValueError("cost must lie in [0, 1]"), 2, "Error: cost must lie in [0, 1]\n"),
        (MemoryError(), 2, "Error: There is not enough memory for this. Leave out rows or columns.\n"),
        (KeyboardInterrupt(), 130, "Interrupted.\n"),
    ],
)
def test_an_error_becomes_a_message_and_an_exit_code_that_is_not_one_of_a_condition(monkeypatch, error, code, words):
    monkeypatch.setattr("selfselect.cli.demo.load_people", Mock(side_effect=error))
    result = run("demo")
    assert (result.exit_code, result.output) == (code, words)
    monkeypatch.setenv("SELFSELECT_DEBUG", "1")
    assert code == 130 or CliRunner().invoke(main, ["demo"]).exception is error


def test_the_help_of_audit_begins_with_what_people_need_first():
    sections = re.split(r"\n\n(?=[A-Z][\w, ]*:\n)", run("audit", "--help").output)
    first = next(part for part in sections if part.startswith("Needed, or used first:"))
    options = re.findall(r"^  (--[\w-]+)", first, re.M)
    assert options == ["--label", "--positive", "--group", "--score", "--prediction", "--cost", "--report"]
    titles = [part.partition(":")[0] for part in sections[sections.index(first) :]]
    assert titles[:3] == ["Needed, or used first", "Columns and groups", "Cost, subsidies and money"]
    assert titles[-2:] == ["File format", "Further options"]


def test_sections_of_the_help_name_options_that_exist():
    known = {name.lstrip("-") for each in main.commands.values() for param in each.params for name in param.opts}
    named = {name for names in HELP_SECTIONS.values() for name in names.split()}
    assert named - known <= {"surely", "min-cell"}
