"""Files that are written whole or not at all."""

import os
import stat
import sys
import threading

import pytest

from selfselect import _files
from selfselect._files import is_stream, read_json, write_whole


def test_a_file_is_written_as_text_or_bytes_and_nothing_else_is_left(tmp_path):
    write_whole(tmp_path / "a", "ä")
    write_whole(str(tmp_path / "b"), b"\x00")
    assert (tmp_path / "a").read_bytes() == b"\xc3\xa4"
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]


def test_a_planted_link_is_replaced_and_what_it_leads_to_is_left_alone(tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("mine")
    planted = tmp_path / "model.json"
    planted.symlink_to(victim)
    write_whole(planted, "new")
    assert victim.read_text() == "mine"
    assert planted.read_text() == "new"
    assert not planted.is_symlink()


def test_a_link_planted_under_the_name_of_the_new_file_is_not_followed(tmp_path, monkeypatch):
    victim, taken = tmp_path / "victim", tmp_path / ".model.json.guessed"
    victim.write_text("mine")
    taken.symlink_to(victim)
    names = iter(["guessed", "free"])
    monkeypatch.setattr(_files.secrets, "token_hex", lambda length: next(names))
    write_whole(tmp_path / "model.json", "new")
    assert victim.read_text() == "mine"
    assert taken.is_symlink()
    assert (tmp_path / "model.json").read_text() == "new"


def test_where_every_name_is_taken_nothing_is_written(tmp_path, monkeypatch):
    (tmp_path / ".a.guessed").write_text("mine")
    monkeypatch.setattr(_files.secrets, "token_hex", lambda length: "guessed")
    with pytest.raises(FileExistsError, match="no new name beside"):
        write_whole(tmp_path / "a", "new")
    assert (tmp_path / ".a.guessed").read_text() == "mine"
    assert os.listdir(tmp_path) == [".a.guessed"]


@pytest.mark.parametrize("name", ["x" * 255, "漢" * 85, "😀" * 63])
def test_a_file_may_have_the_longest_of_names(name, tmp_path):
    write_whole(tmp_path / name, "new")
    assert os.listdir(tmp_path) == [name]


def test_a_file_and_its_name_are_on_disk_when_it_is_said_to_be_written(tmp_path, monkeypatch):
    kept = []

    def sync(handle):
        kept.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")

    def move(source, target):
        kept.append("moved")

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(os, "replace", move)
    write_whole(tmp_path / "a", "new")
    assert kept == ["file", "moved", "folder"]


def test_new_files_have_the_permissions_of_new_files_whatever_other_threads_do(tmp_path):
    before = os.umask(0o027)
    try:
        write_whole(tmp_path / "a", "x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")
@pytest.mark.parametrize(("before", "after"), [(0o600, 0o600), (0o640, 0o640), (0o666, 0o644), (0o444, 0o444)])
def test_a_file_that_is_replaced_is_open_to_nobody_that_it_was_closed_to(tmp_path, before, after):
    write_whole(tmp_path / "a", "old")
    os.chmod(tmp_path / "a", before)
    mask = os.umask(0o022)
    try:
        write_whole(tmp_path / "a", "new")
    finally:
        os.umask(mask)
    assert (tmp_path / "a").read_text() == "new"
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == after


def test_trouble_is_told_of_the_file_that_was_asked_for(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError) as missing:
        write_whole(tmp_path / "none" / "a", "x")
    assert missing.value.filename == str(tmp_path / "none" / "a")
    with pytest.raises(IsADirectoryError) as folder:
        write_whole(tmp_path, "x")
    assert folder.value.filename == str(tmp_path)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(IsADirectoryError):
        write_whole("", "x")
    assert os.listdir(tmp_path) == []


def test_of_several_writers_at_once_one_wins_whole_and_none_fails(tmp_path):
    contents = [str(i) * 100_000 for i in range(4)]
    failed = []

    def write(content):
        try:
            for _ in range(20):
                write_whole(tmp_path / "a", content)
                assert (tmp_path / "a").read_text() in contents
        except BaseException as error:
            failed.append(error)

    writers = [threading.Thread(target=write, args=(content,)) for content in contents]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert not failed
    assert os.listdir(tmp_path) == ["a"]


def test_a_write_that_fails_leaves_the_old_file_and_no_other(tmp_path, monkeypatch):
    write_whole(tmp_path / "a", "old")
    monkeypatch.setattr(os, "replace", lambda *paths: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(OSError, match="full"):
        write_whole(tmp_path / "a", "new")
    assert os.listdir(tmp_path) == ["a"]
    assert (tmp_path / "a").read_text() == "old"


posix_only = pytest.mark.skipif(sys.platform == "win32", reason="pipes of POSIX")
linux_only = pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="open files by name, as Linux has them")


@posix_only
@pytest.mark.parametrize("linked", [False, True])
def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path, linked):
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_whole(link if linked else pipe, "for you")
        assert os.read(reader, 100) == b"for you"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(os.lstat(pipe).st_mode)
    assert link.is_symlink()
    assert sorted(os.listdir(tmp_path)) == ["link", "pipe"]


@linux_only
def test_a_link_to_our_own_output_sends_it_there_and_stays_a_link(tmp_path):
    reader, writer = os.pipe()
    first, second = tmp_path / "first", tmp_path / "second"
    first.symlink_to(f"/proc/self/fd/{writer}")
    second.symlink_to("first")
    try:
        assert is_stream(second)
        write_whole(second, "for you")
        assert os.read(reader, 100) == b"for you"
    finally:
        os.close(reader)
        os.close(writer)
    assert first.is_symlink()
    assert second.is_symlink()
    assert not is_stream(second)  # it is closed by now


@linux_only
def test_output_that_goes_to_a_file_goes_on_in_it(tmp_path, monkeypatch):
    link = tmp_path / "link"
    with open(tmp_path / "out", "wb", buffering=0) as file:
        monkeypatch.setattr(_files, "OUTPUTS", (file.fileno(),))
        link.symlink_to(f"/dev/fd/{file.fileno()}")
        file.write(b"before, ")
        write_whole(link, "in between, ")
        file.write(b"after")
    assert (tmp_path / "out").read_text() == "before, in between, after"
    assert link.is_symlink()


@linux_only
def test_a_planted_link_to_another_file_that_is_open_is_replaced(tmp_path):
    link = tmp_path / "link"
    with open(tmp_path / "log", "wb", buffering=0) as file:
        link.symlink_to(f"/proc/self/fd/{file.fileno()}")
        write_whole(link, "new")
    assert (tmp_path / "log").read_text() == ""
    assert link.read_text() == "new"
    assert not link.is_symlink()


@posix_only
def test_links_that_lead_in_a_circle_or_nowhere_are_no_streams(tmp_path):
    circle, nowhere = tmp_path / "circle", tmp_path / "nowhere"
    circle.symlink_to(circle)
    nowhere.symlink_to(tmp_path / "victim")
    for link in (circle, nowhere):
        assert not is_stream(link)
        write_whole(link, "mine")
        assert link.read_text() == "mine"
    assert sorted(os.listdir(tmp_path)) == ["circle", "nowhere"]


@pytest.mark.parametrize("part", ["{}", "[]", "1", '""'])
def test_a_file_of_many_tiny_parts_is_refused_before_they_are_made(tmp_path, monkeypatch, part):
    file = tmp_path / "a.json"
    file.write_text(f"[{','.join([part] * 100)}]")
    assert len(read_json(file)) == 100
    monkeypatch.setattr("selfselect._files.MOST_PARTS", 99)
    with pytest.raises(ValueError, match=r"a\.json is no model: it has more than 99 parts"):
        read_json(file)
