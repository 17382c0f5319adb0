"""A command that takes long says so on a terminal, and nowhere else."""

import io
import sys
import time

from selfselect.cli import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_line_counts_seconds_and_is_cleared_before_anything_is_written(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(progress, "PATIENCE", 0.05)
    monkeypatch.setattr(progress, "STEP", 60)
    monkeypatch.setattr(sys, "stderr", terminal)
    with progress.still_working("train"):
        while "working" not in terminal.getvalue():
            time.sleep(0.01)
        print("a note", file=sys.stderr)
    assert (
        terminal.getvalue().replace(progress.CLEAR, "|") == "|selfselect train: working, 0 s (Ctrl+C ends it)|a note\n"
    )
    assert sys.stderr is terminal


def test_a_quick_command_and_another_program_see_nothing(monkeypatch):
    for stream in (Terminal(), io.StringIO()):
        monkeypatch.setattr(sys, "stderr", stream)
        with progress.still_working("audit"):
            pass
        assert stream.getvalue() == ""
