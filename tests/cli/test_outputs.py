"""Output files: whole or not at all, and never over anything unless asked."""

import pytest

from applicants import run
from selfselect.cli import BadInput
from selfselect.cli.outputs import write_output


@pytest.fixture
def audit(people_csv):
    common = ("audit", people_csv, "--label", "outcome", "--positive", "hired", "--group", "team", "--score", "s")
    return lambda *options: run(*common, "--cost", "0.5", *options)


def test_files_are_written_whole_and_never_over_others_unless_asked(tmp_path):
    path = tmp_path / "out.txt"
    write_output(path, "first", force=False)
    with pytest.raises(BadInput, match=r"exists already.*--force"):
        write_output(path, "second", force=False)
    assert path.read_text() == "first"
    write_output(path, b"third", force=True)
    assert path.read_bytes() == b"third"
    assert [p.name for p in tmp_path.iterdir()] == ["out.txt"]
    with pytest.raises(BadInput, match="Cannot write"):
        write_output(tmp_path / "no" / "folder.txt", "x", force=False)


def test_outputs_never_replace_inputs_devices_or_each_other(audit, people_csv, tmp_path):
    before = people_csv.read_text()
    for options, message in (
        (("--json", people_csv), "is read by this command"),
        (("--json", "/dev/null"), "not an ordinary file"),
        (("--csv", "-"), "only for --json"),
        (("--json", tmp_path / "x", "--csv", tmp_path / "x"), "named for two outputs"),
        (("--json", tmp_path / "good.json", "--csv", tmp_path / "no" / "x.csv"), "there is no folder"),
    ):
        result = audit("--force", *options)
        assert result.exit_code == 2
        assert message in result.output
    assert people_csv.read_text() == before
    assert [p.name for p in tmp_path.iterdir()] == ["people.csv"]
    link = tmp_path / "link.json"
    link.symlink_to(people_csv)
    assert "is read by this command" in audit("--force", "--json", link).output
    (tmp_path / "other.json").write_text("somebody's")
    link.unlink()
    link.symlink_to(tmp_path / "other.json")
    assert audit("--force", "--json", link).exit_code == 0
    assert (tmp_path / "other.json").read_text() == "somebody's"
    assert not link.is_symlink()


def test_a_command_without_json_does_not_speak_of_it(people_csv):
    common = ("train", people_csv, "--label", "outcome", "--positive", "hired", "--group", "team", "--cost", "0.5")
    result = run(*common, "--model", "-")
    assert result.exit_code == 2
    assert "--json" not in result.output
