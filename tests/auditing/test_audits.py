import pytest

from selfselect import PublishedStatistics, ScreeningResult, Terms, audit
from selfselect.auditing import Audit
from selfselect.metrics import outcome


def test_scores_that_are_no_probabilities_need_a_threshold():
    with pytest.raises(ValueError, match="Pass a threshold"):
        audit([0, 1], score=[-2.0, 3.0], cost=0.5)
    assert audit([0, 1], score=[-2.0, 3.0], threshold=0, cost=0.5).outcome.assumed_accuracy == 1


def test_either_scores_or_predictions():
    with pytest.raises(TypeError, match="either"):
        audit([0, 1], cost=0.5)
    with pytest.raises(TypeError, match="threshold belongs to score"):
        audit([0, 1], y_pred=[0, 1], threshold=0.5, cost=0.5)
    with pytest.raises(ValueError, match="cost is empty"):
        audit([0, 1], y_pred=[0, 1], cost=[])


def test_people_decide_by_what_was_published_and_others_are_counted():
    train = PublishedStatistics.from_predictions([1, 0, 1, 0], [1, 0, 1, 1], sensitive_features=list("AABB"))
    test = PublishedStatistics.from_predictions([0, 0, 1, 1], [1, 0, 1, 1], sensitive_features=list("AABB"))
    result = Audit(ScreeningResult(train), ScreeningResult(test), Terms(0.7))
    assert result.outcome == outcome(test, train.applies(0.7))
    assert result.outcome.induced_accuracy == 0.5
