"""Beliefs and retraining."""

import numpy as np
import pytest

from selfselect import GroupCounts
from selfselect.simulation import BetaMemory, Discounted, Growth, InverseProbability, LastPublished, Window
from selfselect.statistics import Published


def published(*values):
    value = np.array(values, dtype=float)
    return Published.of_value(value, np.full(len(value), 10.0))


def delivered(selected, hired):
    return GroupCounts(*(np.array([number], dtype=float) for number in (selected, hired, selected, hired)))


def test_a_discounted_average_is_that_of_all_published_values():
    values, memory = [0.5, 0.9, 0.7, 0.8], None
    for value in values:
        believed, memory = Discounted(0.3).believe(published(value), None, memory)
    expected = 0.7**3 * 0.5 + 0.3 * (0.7**2 * 0.9 + 0.7 * 0.7 + 0.8)
    assert believed.tolist() == pytest.approx([expected])
    assert Discounted(1.0).believe(published(0.9), None, np.array([0.2]))[0].tolist() == [0.9]


def test_without_a_published_value_people_keep_what_they_believe():
    nothing = published(np.nan)
    assert Discounted(0.3).believe(nothing, None, np.array([0.4]))[0].tolist() == [0.4]
    assert np.isnan(Discounted(0.3).believe(nothing, None, None)[0])
    assert np.isnan(LastPublished().believe(nothing, None, None)[0])
    assert BetaMemory(5).believe(nothing, delivered(10, 4), None)[0].tolist() == [0.4]
    assert np.isnan(BetaMemory(5).believe(nothing, None, None)[0])


def test_remembered_cases_add_up_and_fade():
    believed, memory = BetaMemory(10, discount=0.5).believe(published(0.8), delivered(20, 10), None)
    assert believed.tolist() == pytest.approx([(8 + 10) / 30])
    believed, _ = BetaMemory(10, discount=0.5).believe(published(0.8), delivered(4, 4), memory)
    assert believed.tolist() == pytest.approx([(8 + 5 + 4) / (10 + 10 + 4)])


def test_weights_of_labels():
    age, chance = np.array([0, 2, 3]), np.array([1.0, 0.5, 0.001])
    assert Window(3).weights(age, chance).tolist() == [1, 1, 0]
    assert InverseProbability(max_weight=10).weights(age, chance).tolist() == [1, 2, 10]


@pytest.mark.parametrize(
    "make",
    [
        lambda: Discounted(0),
        lambda: Discounted(1.5),
        lambda: BetaMemory(0),
        lambda: BetaMemory(1, 2),
        lambda: Window(0),
        lambda: Growth(-1),
        lambda: Growth(1, by="luck"),
    ],
)
def test_impossible_settings_are_refused(make):
    with pytest.raises(ValueError, match="must"):
        make()
