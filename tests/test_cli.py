import pytest
from click.testing import CliRunner

import selfselect
from selfselect.cli import BadInput, main
from selfselect.cli._files import write_whole


def test_demo_shows_what_self_selection_does_to_a_naive_model_and_ends_with_a_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(main, ["demo"])
    assert result.exit_code == 0, result.output
    assert "Asian-Pac-Islander" in (tmp_path / "selfselect-demo.html").read_text()
    assert "Open it in any browser" in result.output
    assert "selfselect-demo-2.html" in CliRunner().invoke(main, ["demo"]).output
    assert CliRunner().invoke(main, ["demo", "--report", "selfselect-demo.html"]).exit_code == 2
    for words in ("Asian-Pac-Islander", "precision", "induced accuracy", "social cost", "nobody"):
        assert words in result.output


def test_help_lists_every_command_and_version_is_the_packages():
    assert "demo" in CliRunner().invoke(main, ["--help"]).output
    assert selfselect.__version__ in CliRunner().invoke(main, ["--version"]).output


def test_an_unknown_command_is_bad_usage():
    assert CliRunner().invoke(main, ["frobnicate"]).exit_code == 2


def test_the_librarys_complaints_become_a_message_and_exit_code_two(monkeypatch):
    def complain(echo):
        raise ValueError("cost must lie in [0, 1]")

    monkeypatch.setattr("selfselect.demo.run", complain)
    result = CliRunner().invoke(main, ["demo"])
    assert result.exit_code == 2
    assert "cost must lie in [0, 1]" in result.output
    monkeypatch.setenv("SELFSELECT_DEBUG", "1")
    assert isinstance(CliRunner().invoke(main, ["demo"]).exception, ValueError)


def test_files_are_written_whole_and_never_over_others_unless_asked(tmp_path):
    path = tmp_path / "out.txt"
    write_whole(path, "first", force=False)
    with pytest.raises(BadInput, match=r"exists already.*--force"):
        write_whole(path, "second", force=False)
    assert path.read_text() == "first"
    write_whole(path, b"third", force=True)
    assert path.read_bytes() == b"third"
    assert [p.name for p in tmp_path.iterdir()] == ["out.txt"]
    with pytest.raises(BadInput, match="Cannot write"):
        write_whole(tmp_path / "no" / "folder.txt", "x", force=False)


@pytest.mark.parametrize("command", ["audit", "plan", "train", "predict"])
def test_help_shows_an_example_on_a_line_of_its_own(command):
    lines = CliRunner().invoke(main, [command, "--help"]).output.splitlines()
    assert any(line.startswith(f"    selfselect {command} ") for line in lines)
