"""Ctrl+C is for the process that was started, at a moment when it can be answered; not for its workers."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from multiprocessing import resource_tracker
from types import FrameType
from typing import Any, TypeVar

Answer = TypeVar("Answer")


def uninterrupted(work: Callable[[], Answer], seconds: float | None = None) -> Answer:
    """Finish some work before an interrupt or a request to terminate is answered, unless it comes twice.

    The work is done in a thread of its own, so that this one can hear of a second request. Threads and processes that
    begin there, and those that they begin, never hear of Ctrl+C, which a terminal sends to all processes of a command:
    they end when their parent ends them.

    Parameters
    ----------
    work : callable
        What is done, and gives the answer.
    seconds : float, optional
        How long it may take.

    Raises
    ------
    TimeoutError
        If it takes longer. It goes on all the same, as it does when somebody insists: nothing can stop a thread.

    Examples
    --------
    >>> uninterrupted(lambda: 6 * 7)
    42
    """
    answer: Future[Answer] = Future()

    def do() -> None:
        try:
            _leave_interrupts_to_others()
            answer.set_result(work())
        except BaseException as error:
            answer.set_exception(error)

    with _requests_noted():
        threading.Thread(target=do, daemon=True, name="selfselect-uninterrupted").start()
        return answer.result(timeout=seconds)


def _leave_interrupts_to_others() -> None:
    """Let no Ctrl+C through to this thread, nor to whatever it begins."""
    if hasattr(signal, "pthread_sigmask"):  # not on Windows
        resource_tracker.ensure_running()  # when it starts, it lets signals through to the thread that starts it
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


@contextmanager
def _requests_noted() -> Iterator[None]:
    """Answer the first interrupt or request to terminate at the end, and a second of its kind at once."""
    heard: list[int] = []
    previous: dict[int, Any] = {}

    def note(number: int, frame: FrameType | None) -> None:
        if number not in heard:
            heard.append(number)
            return
        heard.clear()  # all are answered by this
        previous[number](number, frame)

    if threading.current_thread() is threading.main_thread():  # only there can it be told what to do about signals
        for number in (signal.SIGINT, signal.SIGTERM):
            if callable(signal.getsignal(number)):
                previous[number] = signal.signal(number, note)
    try:
        yield
    finally:
        for kept, handler in previous.items():
            signal.signal(kept, handler)
        for first in heard[:1]:
            previous[first](first, None)
