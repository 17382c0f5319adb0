from click.testing import CliRunner

import selfselect
from selfselect.cli import main


def test_demo_shows_what_self_selection_does_to_a_naive_model():
    result = CliRunner().invoke(main, ["demo"])
    assert result.exit_code == 0, result.output
    for words in ("Asian-Pac-Islander", "precision", "induced accuracy", "social cost", "nobody"):
        assert words in result.output


def test_version_is_the_packages():
    result = CliRunner().invoke(main, ["--version"])
    assert selfselect.__version__ in result.output


def test_an_unknown_command_is_bad_usage():
    assert CliRunner().invoke(main, ["frobnicate"]).exit_code == 2
