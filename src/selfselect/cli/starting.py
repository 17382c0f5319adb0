"""Ctrl+C while a command starts."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn

#: What the shell expects of a command that was interrupted: 128 and the number of the signal.
INTERRUPTED = 130


@contextmanager
def ends_at_once() -> Iterator[None]:
    """End the process on Ctrl+C: while libraries are loaded, nothing has begun that would have to be finished.

    Python's own answer, an exception wherever the program happens to be, is lost in callbacks, from which none can come
    out; loading libraries passes through many. Whoever has an answer of their own keeps it.
    """
    ours = threading.current_thread() is threading.main_thread()
    if not ours or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return

    def end(number: int, frame: FrameType | None) -> NoReturn:
        with suppress(OSError):  # nowhere to say it
            os.write(2, b"Interrupted.\n")
        os._exit(INTERRUPTED)

    signal.signal(signal.SIGINT, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
