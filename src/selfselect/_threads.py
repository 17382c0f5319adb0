"""One BLAS thread inside fits: on data of this size more threads are slower, and parallelism is over fits."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any

from threadpoolctl import OpenBLASController, ThreadpoolController

#: What does the same for processes yet to come: libraries read it once, when they are loaded.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"), "1")


class _OneThread:
    """Limits the libraries of linear algebra to one thread while anybody is inside, and then restores what was.

    Fits may overlap in several threads: the first to come in sets the limit and the last to go lifts it. No lock is
    held in between, nor by a process that was forked meanwhile.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._mine = threading.local()
        self._inside = 0
        self._limit: Any = None
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._leave_others_behind)

    def _leave_others_behind(self) -> None:
        """In a forked process only the thread that forked goes on; a limit that others had set ends with its own."""
        self._lock = threading.Lock()
        self._inside = self._depth

    @property
    def _depth(self) -> int:
        """How often this thread is inside."""
        return getattr(self._mine, "depth", 0)

    def __enter__(self) -> None:
        with self._lock:
            if self._limit is None:
                self._limit = _as_anybody(lambda: _controller().limit(limits=1))
            self._inside += 1
            self._mine.depth = self._depth + 1

    def __exit__(self, *exception: object) -> None:
        with self._lock:
            self._inside -= 1
            self._mine.depth = self._depth - 1
            if self._inside == 0:
                _as_anybody(self._limit.restore_original_limits)
                self._limit = None


@lru_cache(maxsize=1)
def _controller() -> Any:
    return ThreadpoolController()  # looking for the libraries takes longer than a small fit


def _as_anybody(change: Callable[[], Any]) -> Any:
    """Change limits from any thread: threadpoolctl 3.8 listens to the first that ever did, until that one is done."""
    forget = getattr(OpenBLASController, "clear_controlling_thread", lambda force: None)
    forget(force=True)
    try:
        return change()
    finally:
        forget(force=True)


_ONE_THREAD = _OneThread()


def one_thread() -> AbstractContextManager[None]:
    """Context in which numpy's linear algebra runs on one thread."""
    return _ONE_THREAD
