"""Output files: whole or not at all, and never over anything unless asked."""

import os
import socket
import stat
import subprocess
import sys

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


def test_outputs_never_replace_inputs_sockets_or_each_other(audit, people_csv, tmp_path, monkeypatch):
    before = people_csv.read_text()
    monkeypatch.chdir(tmp_path)  # names of sockets are short
    with socket.socket(socket.AF_UNIX) as connection:
        connection.bind("socket")
    assert "not an ordinary file" in audit("--force", "--json", "socket").output
    os.unlink("socket")
    for options, message in (
        (("--json", people_csv), "is read by this command"),
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


AUDIT = ("--label", "outcome", "--positive", "hired", "--group", "team", "--score", "s", "--cost", "0.5")


def test_a_pipe_gets_the_file_without_being_forced(audit, people_csv, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert audit("--csv", pipe).exit_code == 0
        assert os.read(reader, 5) == b"group"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(os.lstat(pipe).st_mode)


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="open files by name, as Linux has them")
@pytest.mark.parametrize("to_a_file", [False, True])
def test_a_link_to_the_commands_output_sends_the_file_there_before_the_words(people_csv, tmp_path, to_a_file):
    link, out = tmp_path / "mystdout", tmp_path / "out"
    link.symlink_to("/proc/self/fd/1")
    words = [sys.executable, "-m", "selfselect", "audit", people_csv, *AUDIT, "--csv", link, "--force"]
    with open(out, "wb") as file:
        done = subprocess.run(words, stdout=file if to_a_file else subprocess.PIPE, check=False)
    said = out.read_text() if to_a_file else done.stdout.decode()
    assert done.returncode == 0
    assert link.is_symlink()
    plain = tmp_path / "plain.csv"
    assert run("audit", people_csv, *AUDIT, "--csv", plain).exit_code == 0
    table = plain.read_text()
    assert said.startswith(table)
    assert len(said) > len(table)
