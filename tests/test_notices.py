"""Warnings reach the user, or the block that captures them in the same thread."""

import threading

import pytest

from selfselect import ApplicationWarning
from selfselect._notices import captured_warnings, warn


def test_captured_warnings_are_not_shown_and_later_ones_are_also_after_an_error():
    with captured_warnings() as outer:
        with captured_warnings() as inner:
            warn("in")
        warn("out")
    assert [list(map(str, captured)) for captured in (inner, outer)] == [["in"], ["out"]]
    with pytest.warns(ApplicationWarning, match="second"):
        warn("second")
    with pytest.raises(RuntimeError, match="inside"), captured_warnings():
        raise RuntimeError("inside")
    with pytest.warns(ApplicationWarning, match="third"):
        warn("third")


def test_while_one_thread_captures_another_warns():
    inside, warned = threading.Event(), threading.Event()
    captured = []

    def capture():
        with captured_warnings() as warnings_of_thread:
            inside.set()
            warned.wait(10)
            warn("theirs")
        captured.extend(map(str, warnings_of_thread))

    other = threading.Thread(target=capture)
    other.start()
    inside.wait(10)
    with pytest.warns(ApplicationWarning, match="ours"):
        warn("ours")
    warned.set()
    other.join()
    assert captured == ["theirs"]
