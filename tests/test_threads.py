"""One BLAS thread inside fits, and nothing left changed after them."""

import multiprocessing
import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from selfselect._threads import _ONE_THREAD, one_thread


def blas_threads():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


@pytest.fixture(autouse=True)
def _two_threads():
    np.ones((2, 2)) @ np.ones((2, 2))
    with threadpool_limits(2):
        yield


def test_threads_are_limited_inside_and_restored_outside():
    with one_thread():
        assert set(blas_threads()) == {1}
        with one_thread():
            assert set(blas_threads()) == {1}
        assert set(blas_threads()) == {1}
    assert set(blas_threads()) == {2}


def test_they_are_restored_after_an_error():
    with pytest.raises(RuntimeError, match="inside"), one_thread():
        raise RuntimeError("inside")
    assert set(blas_threads()) == {2}


def test_fits_that_overlap_in_threads_leave_no_limit_behind():
    first_in, second_in, first_out = threading.Event(), threading.Event(), threading.Event()
    seen = []

    def first():
        with one_thread():
            first_in.set()
            second_in.wait(10)
        first_out.set()

    def second():
        first_in.wait(10)
        with one_thread():
            second_in.set()
            first_out.wait(10)
            seen.append(blas_threads())

    workers = [threading.Thread(target=work) for work in (first, second)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert set(seen[0]) == {1}  # still limited for the one that is inside
    assert set(blas_threads()) == {2}


def _enter_in_child(queue):
    with one_thread():
        inside = blas_threads()
    queue.put((inside, blas_threads()))


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*use of fork.*:DeprecationWarning")
def test_a_process_forked_while_others_fit_neither_hangs_nor_keeps_their_limit():
    inside, leave = threading.Event(), threading.Event()

    def fitting():
        with one_thread():
            inside.set()
            leave.wait(30)

    other = threading.Thread(target=fitting)
    other.start()
    inside.wait(10)
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    child = context.Process(target=_enter_in_child, args=(queue,))
    child.start()
    child.join(60)
    leave.set()
    other.join()
    assert child.exitcode == 0
    limited, after = queue.get()
    assert set(limited) == {1}
    assert set(after) == {2}


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*use of fork.*:DeprecationWarning")
def test_a_process_forked_while_another_thread_sets_the_limit_does_not_hang():
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    child = context.Process(target=_enter_in_child, args=(queue,))
    with _ONE_THREAD._lock:  # as a thread has it that is just coming in
        child.start()
    child.join(20)
    hangs = child.is_alive()
    child.kill()
    child.join()
    assert not hangs
    assert set(queue.get()[0]) == {1}
