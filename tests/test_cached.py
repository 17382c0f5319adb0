"""Properties that are computed once: by anybody, in any thread, and in processes forked meanwhile."""

import copy
import os
import pickle
import subprocess
import sys
import threading

import pytest

from selfselect import ThresholdCurves
from selfselect._cached import cached


class Counted:
    """Says how often it computed."""

    def __init__(self):
        self.times = 0

    @cached
    def value(self):
        """What it is."""
        self.times += 1
        return object()


def test_it_is_computed_once_and_stays_the_same():
    one = Counted()
    assert one.value is one.value
    assert one.times == 1
    assert Counted().value is not one.value
    assert Counted.value.__doc__ == "What it is."


def test_an_error_is_not_kept():
    class Failing:
        tries = 0

        @cached
        def value(self):
            self.tries += 1
            if self.tries == 1:
                raise RuntimeError("first")
            return 7

    one = Failing()
    with pytest.raises(RuntimeError, match="first"):
        _ = one.value
    assert one.value == 7


def test_threads_at_once_all_get_the_first():
    both = threading.Barrier(2)

    class Slow:
        @cached
        def value(self):
            both.wait(30)  # neither waits for the other's lock, so both arrive
            return object()

    one, seen = Slow(), []
    workers = [threading.Thread(target=lambda: seen.append(one.value)) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(30)
    assert len(seen) == 2
    assert seen[0] is seen[1] is one.value


def test_curves_with_what_they_computed_can_be_copied_and_pickled():
    curves = ThresholdCurves.from_scores([0, 1, 1, 0], [0.1, 0.7, 0.9, 0.4], sensitive_features=list("AABB"))
    expected = curves.group.tolist()
    for other in (copy.deepcopy(curves), pickle.loads(pickle.dumps(curves))):
        assert other.group.tolist() == expected


#: Forks again and again while two threads fit and read curves; children read curves too. Ends with how many hung.
#: Children do not fit: scipy's linear algebra has a lock of its own, which they may inherit held (in 1 of some 250).
FORKS = """
import os, signal, sys, threading, time
from selfselect import SemiStrategicClassifier, ThresholdCurves
from selfselect.datasets import make_base_rate_groups

X, y, z = make_base_rate_groups((0.5, 0.3, 0.7), n_per_group=60, random_state=0, return_X_y_group=True)

def fit():
    SemiStrategicClassifier(cost=0.6, publish="train").fit(X, y, sensitive_features=z)

def read():
    ThresholdCurves.from_scores(y, X["x"], sensitive_features=z).outcomes(0.6)

def again_and_again(work):
    while True:
        work()

fit()
for work in (fit, read):
    threading.Thread(target=again_and_again, args=(work,), daemon=True).start()
hung = 0
for number in range(FORKED):
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # ends a child that hangs
        read()
        os._exit(0)
    hung += os.waitpid(child, 0)[1] != 0
    time.sleep(0.003)
os._exit(hung)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_no_child_hangs_that_was_forked_while_threads_fit():
    program = FORKS.replace("FORKED", "40")
    assert subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=False, timeout=300).returncode == 0
