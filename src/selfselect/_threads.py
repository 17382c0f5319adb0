"""One BLAS thread inside fits: on data of this size more threads are slower, and parallelism is over fits."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController


@lru_cache(maxsize=1)
def _controller() -> Any:
    return ThreadpoolController()  # looking for the libraries takes longer than a small fit


def one_thread() -> Any:
    """Context in which numpy's linear algebra runs on one thread."""
    return _controller().limit(limits=1)
