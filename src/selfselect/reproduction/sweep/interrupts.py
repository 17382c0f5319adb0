"""Ctrl+C is for the process that was started, at a moment when it can be answered; not for its workers."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from types import FrameType
from typing import Any


@contextmanager
def interrupts_held_back() -> Iterator[None]:
    """Finish what is inside before an interrupt or a request to terminate is answered, unless it comes twice.

    Threads and processes that begin inside, and those that they begin, never hear of Ctrl+C, which a terminal sends to
    all processes of a command: they end when their parent ends them.
    """
    heard: list[int] = []
    previous: dict[int, Any] = {}

    def note(number: int, frame: FrameType | None) -> None:
        if number in heard:
            previous[number](number, frame)
        heard.append(number)

    if threading.current_thread() is threading.main_thread():  # only there can it be told what to do about signals
        for number in (signal.SIGINT, signal.SIGTERM):
            if callable(signal.getsignal(number)):
                previous[number] = signal.signal(number, note)
    masked = hasattr(signal, "pthread_sigmask")  # not on Windows
    if masked:
        resource_tracker.ensure_running()  # when it starts, it lets signals through to the thread that starts it
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if masked else set()
    try:
        yield
    finally:
        if masked:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        for kept, handler in previous.items():
            signal.signal(kept, handler)
        for first in heard[:1]:
            previous[first](first, None)
