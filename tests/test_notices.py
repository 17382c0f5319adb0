"""Warnings reach the user, or the block that captures them in the same thread."""

import threading
import warnings

import pytest
from sklearn.linear_model import LogisticRegression

from selfselect import ApplicationWarning, SemiStrategicClassifier
from selfselect._notices import captured_warnings, warn
from selfselect.datasets import make_base_rate_groups


def test_captured_warnings_are_not_shown_and_later_ones_are_also_after_an_error():
    with captured_warnings() as outer:
        with captured_warnings() as inner:
            warn("in")
        warn("out")
    assert [list(map(str, captured)) for captured in (inner, outer)] == [["in"], ["out"]]
    with pytest.warns(ApplicationWarning, match="second"):
        warn("second")
    with pytest.raises(RuntimeError, match="inside"), captured_warnings():
        raise RuntimeError("inside")
    with pytest.warns(ApplicationWarning, match="third"):
        warn("third")


def test_while_one_thread_captures_another_warns():
    inside, warned = threading.Event(), threading.Event()
    captured = []

    def capture():
        with captured_warnings() as warnings_of_thread:
            inside.set()
            warned.wait(10)
            warn("theirs")
        captured.extend(map(str, warnings_of_thread))

    other = threading.Thread(target=capture)
    other.start()
    inside.wait(10)
    with pytest.warns(ApplicationWarning, match="ours"):
        warn("ours")
    warned.set()
    other.join()
    assert captured == ["theirs"]


class Meeting(LogisticRegression):
    """Fits only when others do, so that they are inside at the same time."""

    here = threading.Barrier(2)

    def fit(self, X, y, sample_weight=None):
        self.here.wait(10)
        return super().fit(X, y, sample_weight)


def test_fits_with_a_guarantee_that_overlap_leave_the_filters_of_warnings_as_they_were():
    X, y, z = make_base_rate_groups((0.5, 0.3, 0.7), n_per_group=60, random_state=0, return_X_y_group=True)
    failed = []

    def fit():
        try:
            model = SemiStrategicClassifier(Meeting(), cost=0.6, confidence=0.9, guarantee=True, publish="holdout")
            model.fit(X, y, sensitive_features=z)
        except Exception as error:
            failed.append(error)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        before = ours()
        for _ in range(5):  # what is left depends on who is out first
            threads = [threading.Thread(target=fit) for _ in range(2)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert ours() == before
    assert not failed


def ours():
    """Filters of this package's warnings; those of others may be left by others."""
    return [each for each in warnings.filters if issubclass(each[2], ApplicationWarning)]
