"""Ctrl+C while a command starts."""

import signal
import subprocess
import sys

import pytest

from selfselect.cli.starting import ends_at_once

IN_A_CALLBACK = """
import signal
from selfselect.cli.starting import ends_at_once

class Late:
    def __del__(self):  # no exception comes out of here
        signal.raise_signal(signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)
{with_it}:
    late = Late()
    del late
print("went on")
"""


def started(with_it):
    code = IN_A_CALLBACK.format(with_it=with_it)
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    return ended.returncode, ended.stdout, ended.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_ctrl_c_is_heard_even_where_an_exception_would_be_lost():
    assert started("with ends_at_once()") == (130, "", "Interrupted.\n")
    code, printed, errors = started("if True")  # what Python does by itself
    assert (code, printed) == (0, "went on\n")
    assert "KeyboardInterrupt" in errors


def test_other_answers_to_ctrl_c_stay():
    before = signal.getsignal(signal.SIGINT)
    try:
        for handler in (signal.SIG_IGN, print, signal.default_int_handler):
            signal.signal(signal.SIGINT, handler)
            with ends_at_once():
                assert (signal.getsignal(signal.SIGINT) is handler) == (handler is not signal.default_int_handler)
            assert signal.getsignal(signal.SIGINT) is handler
    finally:
        signal.signal(signal.SIGINT, before)
