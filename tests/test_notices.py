"""Warnings go to the user, or to whoever fits on the user's behalf; never to or from another thread."""

import threading
import warnings

import pytest
from sklearn.linear_model import LogisticRegression

from selfselect import ApplicationWarning, SemiStrategicClassifier
from selfselect._notices import notices_kept, warn
from selfselect.datasets import make_base_rate_groups


def test_what_is_kept_is_not_shown_and_what_comes_after_is():
    with notices_kept() as kept:
        warn("first")
    assert [notice.message for notice in kept] == ["first"]
    with pytest.warns(ApplicationWarning, match="second"):
        warn("second")


def test_after_an_error_warnings_are_shown_again():
    with pytest.raises(RuntimeError, match="inside"), notices_kept():
        raise RuntimeError("inside")
    with pytest.warns(ApplicationWarning, match="after"):
        warn("after")


def test_the_inner_of_two_keeps():
    with notices_kept() as outer:
        with notices_kept() as inner:
            warn("in")
        warn("out")
    assert [[notice.message for notice in kept] for kept in (inner, outer)] == [["in"], ["out"]]


def test_while_one_thread_keeps_another_warns():
    inside, warned = threading.Event(), threading.Event()

    def keep():
        with notices_kept() as kept:
            inside.set()
            warned.wait(10)
            warn("theirs")
        assert [notice.message for notice in kept] == ["theirs"]

    other = threading.Thread(target=keep)
    other.start()
    inside.wait(10)
    with pytest.warns(ApplicationWarning, match="ours"):
        warn("ours")
    warned.set()
    other.join()


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
