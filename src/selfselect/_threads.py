"""One BLAS thread inside fits: on data of this size more threads are slower, and parallelism is over fits."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController

#: The same limit for processes yet to start: libraries read these variables when they are loaded.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"), "1")


@lru_cache(maxsize=1)
def _controller() -> ThreadpoolController:
    return ThreadpoolController()  # searching for the libraries takes longer than a small fit


def one_thread() -> AbstractContextManager[Any]:
    """Context in which linear algebra runs on one thread; as ``threadpoolctl.threadpool_limits(limits=1)``."""
    return _controller().limit(limits=1)  # type: ignore[no-any-return]
