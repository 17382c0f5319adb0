"""Files that are written whole or not at all."""

import os
import stat
import threading

import pytest

from selfselect._files import write_whole


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


def test_new_files_have_the_permissions_of_new_files_whatever_other_threads_do(tmp_path):
    before = os.umask(0o027)
    try:
        write_whole(tmp_path / "a", "x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


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
