"""Interrupts come when they can be answered."""

import signal
import subprocess
import sys
import threading

import pytest

from selfselect.reproduction.sweep.interrupts import interrupts_held_back

pytestmark = pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="signals of POSIX")


@pytest.fixture(autouse=True)
def answered():
    """Ctrl+C as in a terminal, also where the tests run in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupt_me_and_go_on(done):
    with interrupts_held_back():
        signal.raise_signal(signal.SIGINT)
        done.append("all of it")


def test_what_is_begun_is_finished_before_an_interrupt_is_answered():
    done = []
    with pytest.raises(KeyboardInterrupt):
        interrupt_me_and_go_on(done)
    assert done == ["all of it"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def test_whoever_insists_is_answered_at_once():
    def ask_twice():
        with interrupts_held_back():
            handler = signal.getsignal(signal.SIGINT)  # as if from another thread, which hears of it at once
            handler(signal.SIGINT, None)
            handler(signal.SIGINT, None)
            pytest.fail("not at once")

    with pytest.raises(KeyboardInterrupt):
        ask_twice()


def test_processes_that_begin_meanwhile_do_not_hear_of_it():
    code = "import os, signal; os.kill(os.getpid(), signal.SIGINT); print('lives')"
    with interrupts_held_back():
        child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (child.returncode, child.stdout) == (0, "lives\n")


def test_it_works_in_any_thread():
    done = []

    def work():
        with interrupts_held_back():
            done.append(signal.pthread_sigmask(signal.SIG_BLOCK, []))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert signal.SIGINT in done[0]
