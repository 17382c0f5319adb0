"""Displays draw what they are given, on axes that they keep."""

import matplotlib as mpl
import numpy as np
import pytest

from selfselect import NaiveClassifier, StrategicClassifier, ThresholdCurves
from selfselect.datasets import make_base_rate_groups
from selfselect.plotting import FrontierDisplay, PrecisionCurvesDisplay

mpl.use("Agg")
import matplotlib.pyplot as plt


@pytest.fixture(scope="module")
def people():
    """Three groups of base rates .5, .3, .15, one-hot and one informative feature."""
    return make_base_rate_groups((0.5, 0.3, 0.15), n_per_group=800, random_state=0, return_X_y_group=True)


@pytest.fixture(autouse=True)
def _no_figure_stays_open():
    yield
    plt.close("all")


def names_in_legend(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def test_precision_curves_have_one_line_per_group_and_one_for_the_classifiers_own_cost(people):
    X, y, z = people
    model = NaiveClassifier(cost=0.7).fit(X, y, sensitive_features=z)
    display = PrecisionCurvesDisplay.from_estimator(model, X, y, sensitive_features=z)
    assert names_in_legend(display) == ["z0", "z1", "z2", "cost 0.7"]
    other = PrecisionCurvesDisplay.from_estimator(model, X, y, sensitive_features=z, cost=0.6)
    assert names_in_legend(other)[-1] == "cost 0.6"


def test_precision_curves_show_the_precision_at_each_threshold(people):
    X, y, z = people
    score = X["x"].to_numpy()
    display = PrecisionCurvesDisplay.from_predictions(y, score, sensitive_features=z)
    assert names_in_legend(display) == ["z0", "z1", "z2"]
    curves = ThresholdCurves.from_scores(y, score, sensitive_features=z)
    for line, group in zip(display.ax_.get_lines(), curves.groups, strict=True):
        shown = dict(zip(line.get_xdata(), line.get_ydata(), strict=True))
        threshold = line.get_xdata()[100]
        assert shown[threshold] == pytest.approx(curves.at(threshold).precision[group])


def test_the_last_step_of_a_curve_reaches_the_score_above_which_nobody_passes():
    display = PrecisionCurvesDisplay.from_predictions([0, 1, 1], [0.2, 0.5, 0.9], sensitive_features=["A"] * 3)
    thresholds, precision = display.ax_.lines[0].get_data()
    assert thresholds[-1] == 0.9
    assert precision[-1] == 1  # of the one person above 0.5


def test_of_many_groups_the_first_ten_are_named():
    z = np.repeat(np.arange(12), 20)
    display = PrecisionCurvesDisplay.from_predictions(np.tile([0, 1], 120), np.arange(240), sensitive_features=z)
    assert len(display.ax_.get_lines()) == 12
    assert len(names_in_legend(display)) == 10


def test_a_cost_that_is_none_is_refused_before_anything_is_drawn(people):
    X, y, z = people
    with pytest.raises(ValueError, match="cost must lie in"):
        PrecisionCurvesDisplay.from_predictions(y, X["x"], sensitive_features=z, cost=2)
    assert not plt.get_fignums()


def test_the_frontier_is_drawn_on_the_axes_given_with_the_number_of_groups_at_each_point(people):
    X, y, z = people
    _, ax = plt.subplots()
    display = FrontierDisplay.from_estimator(
        StrategicClassifier(cost=0.6), X, y, sensitive_features=z, limits=[1, 0], ax=ax, progress=False
    )
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    points = display.frame.drop_duplicates(["social_cost", "induced_accuracy"]).sort_values("social_cost")
    assert [text.get_text() for text in ax.texts] == [str(int(n)) for n in points["applying_groups"]]


def test_the_frontier_over_thresholds_is_drawn_with_the_threshold_in_force_and_the_limit(people):
    X, y, z = people
    score = 1 / (1 + np.exp(-X["x"].to_numpy()))
    _, ax = plt.subplots()
    display = FrontierDisplay.from_predictions(y, score, sensitive_features=z, cost=0.6, max_social_cost=0.4, ax=ax)
    assert display.ax_ is ax
    assert names_in_legend(display) == [
        "every threshold", "one threshold for all", "one threshold for all, held out", "a threshold per group",
        "a threshold per group, held out", "now (0.5)", "limit 0.4",
    ]  # fmt: skip
    drawn = {line.get_label(): line for line in ax.get_lines()}
    made = display.frame
    assert drawn["one threshold for all"].get_xdata().tolist() == [p.outcome.social_cost for p in made.one]
    assert drawn["now (0.5)"].get_ydata()[0] == made.current.induced_accuracy


def test_a_frontier_of_nobody_is_drawn_empty():
    display = FrontierDisplay.from_predictions([0, 0, 1], [0.1, 0.9, 0.05], sensitive_features=["A"] * 3, cost=1)
    assert "now (0.5)" not in names_in_legend(display)
