"""One BLAS thread inside fits, and no limit left behind after them."""

import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from selfselect._threads import one_thread


def blas_threads():
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def _two_threads():
    np.ones((2, 2)) @ np.ones((2, 2))
    with threadpool_limits(2):
        yield


def test_threads_are_limited_inside_and_restored_outside_also_after_an_error():
    with one_thread():
        with one_thread():
            assert blas_threads() == {1}
        assert blas_threads() == {1}
    assert blas_threads() == {2}
    with pytest.raises(RuntimeError, match="inside"), one_thread():
        raise RuntimeError("inside")
    assert blas_threads() == {2}


def test_fits_that_overlap_in_threads_leave_no_limit_behind():
    first_in, second_in = threading.Event(), threading.Event()

    def first():
        with one_thread():
            first_in.set()
            second_in.wait(10)

    def second():
        first_in.wait(10)
        with one_thread():
            second_in.set()
            workers[0].join(10)

    workers = [threading.Thread(target=work) for work in (first, second)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert blas_threads() == {2}
