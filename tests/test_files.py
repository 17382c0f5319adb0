"""Files that are written whole or not at all."""

import os
import stat
import subprocess
import sys
import threading

import pytest

from selfselect._files import is_stream, write_atomically


def test_a_file_is_written_as_text_or_bytes_and_nothing_else_is_left(tmp_path):
    write_atomically(tmp_path / "a", "ä")
    write_atomically(str(tmp_path / "b"), b"\x00")
    assert (tmp_path / "a").read_bytes() == b"\xc3\xa4"
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]


@pytest.mark.parametrize("name", ["x" * 255, "漢" * 85, "😀" * 63])
def test_a_file_may_have_the_longest_possible_name(name, tmp_path):
    write_atomically(tmp_path / name, "new")
    assert os.listdir(tmp_path) == [name]


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")
def test_a_new_file_has_the_usual_permissions_and_a_replaced_one_keeps_its_own(tmp_path):
    path = tmp_path / "a"
    before = os.umask(0o027)
    try:
        write_atomically(path, "old")
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        path.chmod(0o600)
        write_atomically(path, "new")
    finally:
        os.umask(before)
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_an_error_names_the_requested_file_and_leaves_nothing(tmp_path):
    with pytest.raises(FileNotFoundError) as missing:
        write_atomically(tmp_path / "none" / "a", "x")
    assert missing.value.filename == str(tmp_path / "none" / "a")
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError):
        write_atomically(tmp_path / "folder", "x")
    assert os.listdir(tmp_path) == ["folder"]


def test_an_interrupted_write_leaves_the_old_file(tmp_path):
    def chunks():
        yield b"half"
        raise KeyboardInterrupt

    write_atomically(tmp_path / "a", "old")
    with pytest.raises(KeyboardInterrupt):
        write_atomically(tmp_path / "a", chunks())
    assert (tmp_path / "a").read_text() == "old"
    assert os.listdir(tmp_path) == ["a"]


def test_with_several_writers_the_file_is_always_one_of_theirs(tmp_path):
    contents = [str(i) * 100_000 for i in range(4)]
    failed = []

    def write(content):
        try:
            for _ in range(20):
                write_atomically(tmp_path / "a", content)
                assert (tmp_path / "a").read_text() in contents
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=write, args=(content,)) for content in contents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="streams by name")
def test_standard_output_by_name_is_written_in_its_turn(tmp_path):
    code = "from selfselect._files import write_atomically; write_atomically('/dev/stdout', 'first '); print('second')"
    with open(tmp_path / "out", "wb") as out:
        subprocess.run([sys.executable, "-c", code], stdout=out, check=True)
    assert (tmp_path / "out").read_text() == "first second\n"
    assert is_stream(os.devnull)
    assert not is_stream(tmp_path / "out")
    assert not is_stream(tmp_path / "none")
