"""Interrupts come when they can be answered."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from selfselect.reproduction.sweep.interrupts import uninterrupted

pytestmark = pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="signals of POSIX")


@pytest.fixture(autouse=True)
def answered():
    """Ctrl+C as in a terminal, also where the tests run in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_what_is_begun_is_finished_before_an_interrupt_is_answered():
    done = []

    def interrupt_me_and_go_on():
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.2)
        done.append("all of it")

    with pytest.raises(KeyboardInterrupt):
        uninterrupted(interrupt_me_and_go_on)
    assert done == ["all of it"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_whoever_insists_is_answered_at_once(number):
    ended, done = threading.Event(), []

    def insist():
        for _ in range(2):
            os.kill(os.getpid(), number)
            time.sleep(0.2)  # two at the same moment are one
        if not ended.wait(20):
            done.append("not at once")

    before = signal.signal(number, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            uninterrupted(insist)
        assert done == []
        assert signal.getsignal(number) is signal.default_int_handler
    finally:
        ended.set()
        signal.signal(number, before)


def test_whoever_insists_is_answered_once():
    answered = []

    def insist():
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(0.2)

    before = signal.signal(signal.SIGTERM, lambda number, frame: answered.append(number))
    try:
        uninterrupted(insist)
        assert answered == [signal.SIGTERM]
    finally:
        signal.signal(signal.SIGTERM, before)


def test_what_takes_too_long_is_left():
    ended = threading.Event()
    try:
        with pytest.raises(TimeoutError):
            uninterrupted(lambda: ended.wait(20), seconds=0.1)
    finally:
        ended.set()


def test_what_goes_wrong_is_told():
    def fail():
        raise LookupError("as it was")

    with pytest.raises(LookupError, match="as it was"):
        uninterrupted(fail)


def test_processes_that_begin_meanwhile_do_not_hear_of_it():
    code = "import os, signal; os.kill(os.getpid(), signal.SIGINT); print('lives')"
    child = uninterrupted(
        lambda: subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    )
    assert (child.returncode, child.stdout) == (0, "lives\n")


def test_it_works_in_any_thread():
    done = []

    def work():
        done.append(signal.pthread_sigmask(signal.SIG_BLOCK, []))

    thread = threading.Thread(target=lambda: uninterrupted(work))
    thread.start()
    thread.join()
    assert signal.SIGINT in done[0]
