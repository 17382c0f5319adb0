"""A line on the terminal that says that the command is still working, and for how long."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

#: Seconds before the line appears, and between two of them.
PATIENCE, STEP = 2.0, 1.0
CLEAR = "\r\x1b[K"


class _ClearFirst:
    """A stream that clears the line of progress before anything else is written."""

    def __init__(self, stream: TextIO, line: _Line) -> None:
        self._stream, self._line = stream, line

    def write(self, text: str) -> int:
        self._line.clear()
        return self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class _Line:
    def __init__(self, stream: TextIO) -> None:
        self._stream, self._shown, self._lock = stream, False, threading.Lock()

    def show(self, text: str) -> None:
        with self._lock:
            self._stream.write(CLEAR + text)
            self._stream.flush()
            self._shown = True

    def clear(self) -> None:
        with self._lock:
            if self._shown:
                self._stream.write(CLEAR)
                self._stream.flush()
                self._shown = False


@contextmanager
def still_working(what: str) -> Iterator[None]:
    """Say every second how long a command has worked, after the first two; on a terminal only."""
    if not sys.stderr.isatty():
        yield
        return
    line, ended, start = _Line(sys.stderr), threading.Event(), time.monotonic()

    def tick() -> None:
        pause = PATIENCE
        while not ended.wait(pause):
            line.show(f"selfselect {what}: working, {time.monotonic() - start:.0f} s (Ctrl+C ends it)")
            pause = STEP

    ticker = threading.Thread(target=tick, daemon=True)
    streams = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (_ClearFirst(stream, line) for stream in streams)
    ticker.start()
    try:
        yield
    finally:
        ended.set()
        ticker.join()
        line.clear()
        sys.stdout, sys.stderr = streams
