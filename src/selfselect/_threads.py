"""One BLAS thread inside fits: on data of this size more threads are slower, and parallelism is over fits."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController

#: What does the same for processes yet to come: libraries read it once, when they are loaded.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"), "1")


@lru_cache(maxsize=1)
def _controller() -> Any:
    return ThreadpoolController()  # looking for the libraries takes longer than a small fit


def one_thread() -> Any:
    """Context in which numpy's linear algebra runs on one thread."""
    return _controller().limit(limits=1)
