"""What engines need of the process they run in, and leave as they found it."""

from __future__ import annotations

import logging
import os
import random
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress

from ..._errors import InputError

try:
    import resource
except ImportError:  # Windows has no such limit
    resource = None  # type: ignore[assignment]

#: Libraries whose words are kept back: what went wrong is said in ours. Dask's loops speak through asyncio's, too.
LIBRARIES = ("distributed", "tornado", "bokeh", "asyncio")
#: What Dask puts into the environment, besides what its configuration asks for; the last in 2024.5.
DASK_VARIABLES = ("PYTHONHASHSEED", "__DASK_PARENT_PID", "DASK_PARENT")


def check_open_files(needed: int, whose: str) -> None:
    """Refuse to start what this process may not open enough files for: libraries do not survive that.

    Parameters
    ----------
    needed : int
        Files, pipes and connections that will be opened.
    whose : str
        What opens them.
    """
    if resource is None:
        return
    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    taken = _open_files()
    if allowed != resource.RLIM_INFINITY and taken + needed > allowed:
        raise InputError(
            f"{whose} would need about {needed} open files, and this process, which has {taken}, may have {allowed}: "
            "use fewer workers, or raise the limit (ulimit -n)."
        )


def _open_files() -> int:
    for folder in ("/proc/self/fd", "/dev/fd"):
        with suppress(OSError):
            return len(os.listdir(folder))
    return 0


class _Surroundings:
    """Silences Dask while anybody is inside, and then restores logging, the environment and the state of ``random``.

    Clusters may overlap in several threads: the first to come in takes the picture, and the last to go restores it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._restore: list[Callable[[], None]] = []

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._restore = [_silence(), _keep_environment(), _keep_random()]
            self._inside += 1

    def __exit__(self, *exception: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                for restore in self._restore:
                    restore()


def _silence() -> Callable[[], None]:
    """Let the libraries speak to nobody, whoever listens; gives what lets them speak again."""
    before = {logger: (logger.level, logger.propagate, [*logger.handlers]) for logger in _loggers()}
    for logger in before:
        logger.handlers[:] = [logging.NullHandler()]
        logger.propagate = False

    def restore() -> None:
        for logger in _loggers():
            level, propagate, handlers = before.get(logger, (logging.NOTSET, True, []))
            logger.setLevel(level)
            logger.propagate = propagate
            logger.handlers[:] = handlers

    return restore


def _loggers() -> list[logging.Logger]:
    """Those of the libraries, and all below them."""
    below = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] in LIBRARIES]
    return [logging.getLogger(name) for name in {*LIBRARIES, *below}]


def _keep_environment() -> Callable[[], None]:
    """Gives what takes back the variables that Dask sets for its workers, and leaves to all processes after them."""
    import dask

    asked_for = dask.config.get("distributed.nanny.pre-spawn-environ", None) or {}
    before = {name: os.environ.get(name) for name in (*DASK_VARIABLES, *asked_for)}

    def restore() -> None:
        for name, value in before.items():
            if value is not None:
                os.environ[name] = value
            else:
                os.environ.pop(name, None)

    return restore


def _keep_random() -> Callable[[], None]:
    """Gives what brings back the state of ``random``, which Dask draws from without being asked to."""
    state = random.getstate()
    return lambda: random.setstate(state)


_SURROUNDINGS = _Surroundings()


def surroundings_kept() -> AbstractContextManager[None]:
    """Context for working with Dask, which must be imported: without a word of its own, and leaving nothing behind."""
    return _SURROUNDINGS
