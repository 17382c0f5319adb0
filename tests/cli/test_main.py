"""The entry: which commands there are, that they start at once, and how errors are shown."""

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

import selfselect
from applicants import run
from selfselect.cli import main
from selfselect.cli.main import COMMANDS

#: Nothing of this is needed to show help or to find a mistake in what was typed.
HEAVY = {"numpy", "pandas", "scipy", "sklearn", "tqdm", "matplotlib", "distributed", "narwhals", "pyarrow", "jinja2"}
AUDIT = ("audit", "x.csv", "--label", "y", "--group", "g", "--cost", "0.7")
PLAN = ("plan", *AUDIT[1:], "--score", "s")
PRINT_MODULES = """
import json, sys
from selfselect.cli import main
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


@pytest.mark.parametrize("arguments", [("--help",), ("--version",), *((name, "--help") for name in COMMANDS)])
def test_help_imports_nothing_heavy(arguments):
    code, packages = packages_imported_by(*arguments)
    assert code == 0
    assert not packages & HEAVY


@pytest.mark.parametrize(
    "arguments",
    [
        ("frobnicate",),
        (*AUDIT, "--score", "s", "--threshold", "nan"),
        (*PLAN, "--cost", "0.5:0.7:0.1"),
        (*PLAN, "--drop-group"),
        ("frontier", *AUDIT[1:], "--prediction", "p"),
        ("compare", "x.csv", *AUDIT[2:], "--score", "s"),
        ("train", "x.csv", "--cost", "2"),
    ],
)
def test_a_usage_error_imports_nothing_heavy(arguments):
    code, packages = packages_imported_by(*arguments)
    assert code == 2
    assert not packages & HEAVY


def test_help_lists_every_command_in_its_section_and_version_is_the_packages():
    text = run("--help").output
    assert "Start here:\n  demo " in text
    assert all(f"\n  {name} " in text for name in COMMANDS)
    assert selfselect.__version__ in run("--version").output


def test_an_error_of_the_library_becomes_a_message_and_exit_code_two(monkeypatch):
    def fail():
        raise ValueError("cost must lie in [0, 1]")

    monkeypatch.setattr("selfselect.cli.demo.load_people", fail)
    result = run("demo")
    assert result.exit_code == 2
    assert "cost must lie in [0, 1]" in result.output
    monkeypatch.setenv("SELFSELECT_DEBUG", "1")
    assert isinstance(CliRunner().invoke(main, ["demo"]).exception, ValueError)


def test_an_interrupt_is_not_a_failed_condition(monkeypatch):
    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr("selfselect.cli.demo.load_people", interrupted)
    result = run("demo")
    assert (result.exit_code, result.output) == (130, "Interrupted.\n")
