"""Displays show the right numbers under the right names, on axes that they keep."""

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from drawn import table_of
from pages import some_rounds
from selfselect import NaiveClassifier, PublishedStatistics, StrategicClassifier, Terms, ThresholdCurves, audit
from selfselect.datasets import make_base_rate_groups
from selfselect.plotting import (
    FrontierDisplay,
    PrecisionCurvesDisplay,
    PromisedDeliveredDisplay,
    PublishedTableDisplay,
    RoundsDisplay,
    WhoAppliesDisplay,
)

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.text import Text


@pytest.fixture(scope="module")
def people():
    """Three groups of base rates .5, .3, .15, one-hot and one informative feature."""
    return make_base_rate_groups((0.5, 0.3, 0.15), n_per_group=800, random_state=0, return_X_y_group=True)


@pytest.fixture(scope="module")
def new_people():
    """Other people of the same population."""
    return make_base_rate_groups((0.5, 0.3, 0.15), n_per_group=800, random_state=1, return_X_y_group=True)


@pytest.fixture(scope="module")
def naive(people):
    X, y, z = people
    return NaiveClassifier(cost=0.7).fit(X, y, sensitive_features=z)


@pytest.fixture(autouse=True)
def _no_figure_stays_open():
    yield
    plt.close("all")


def many(n_groups):
    """Groups of growing size and precision, half of whose people are selected."""
    sizes = 20 * np.arange(1, n_groups + 1)
    return table_of(**{f"g{i}": (n, n // 2, n // 2, n // 4 + i) for i, n in enumerate(sizes)})


def texts_in(display):
    return [text.get_text() for text in display.ax_.texts]


def rows_of(display):
    return [text.get_text() for text in display.ax_.get_yticklabels()]


def lines_in(display):
    """Lines by label; those where few people pass begin with "_few of"."""
    return {line.get_label(): line for line in display.ax_.get_lines()}


# ---------------------------------------------------------------------- precision curves


def test_curves_and_the_classifiers_own_cost_are_named_at_their_ends(people, naive):
    X, y, z = people
    display = PrecisionCurvesDisplay.from_estimator(naive, X, y, sensitive_features=z)
    assert texts_in(display) == ["z0", "z1", "z2", "cost 0.7"]
    other = PrecisionCurvesDisplay.from_estimator(naive, X, y, sensitive_features=z, cost=0.6)
    assert texts_in(other)[-1] == "cost 0.6"


def test_curves_show_the_precision_at_each_threshold(people):
    X, y, z = people
    score = X["x"].to_numpy()
    display = PrecisionCurvesDisplay.from_predictions(y, score, sensitive_features=z)
    curves = ThresholdCurves.from_scores(y, score, sensitive_features=z)
    lines = lines_in(display)
    for group in curves.groups:
        thresholds, precision = lines[group].get_data()
        assert precision[100] == pytest.approx(curves.at(thresholds[100]).precision[group])
        assert curves.at(thresholds[-2]).counts.selected[curves.groups.get_loc(group)] == 30
        assert lines[f"_few of {group}"].get_linewidth() < lines[group].get_linewidth()


def test_a_curve_ends_at_the_largest_score():
    display = PrecisionCurvesDisplay.from_predictions([0, 1, 1], [0.2, 0.5, 0.9], sensitive_features=["A"] * 3)
    thresholds, precision = lines_in(display)["_few of A"].get_data()
    assert thresholds[-1] == 0.9
    assert precision[-1] == 1  # of the one person above 0.5


def test_the_eight_largest_groups_have_names_and_colours():
    z = np.repeat(np.arange(12), np.arange(40, 64, 2))
    y, score = np.arange(len(z)) % 2, np.arange(len(z))
    display = PrecisionCurvesDisplay.from_predictions(y, score, sensitive_features=z)
    assert texts_in(display) == [str(group) for group in range(4, 12)]
    colours = {name: line.get_color() for name, line in lines_in(display).items()}
    assert len({colours[name] for name in texts_in(display)}) == 8
    assert {colours[str(group)] for group in range(4)} == {"0.75"}
    assert "4 smaller groups" in display.ax_.get_xlabel()


# ---------------------------------------------------------------------- frontiers


def test_the_frontier_of_classifiers_has_the_number_of_groups_at_each_point(people):
    X, y, z = people
    _, ax = plt.subplots()
    display = FrontierDisplay.from_estimator(
        StrategicClassifier(cost=0.6), X, y, sensitive_features=z, limits=[1, 0], ax=ax, progress=False
    )
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    points = display.frame.drop_duplicates(["social_cost", "induced_accuracy"]).sort_values("social_cost")
    assert texts_in(display) == [str(int(n)) for n in points["applying_groups"]]


def test_the_frontier_over_thresholds_has_the_current_threshold_and_the_limit(people):
    X, y, z = people
    score = 1 / (1 + np.exp(-X["x"].to_numpy()))
    display = FrontierDisplay.from_predictions(y, score, sensitive_features=z, cost=0.6, max_social_cost=0.4)
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == [
        "every threshold", "one threshold for all", "one threshold for all, held out", "a threshold per group",
        "a threshold per group, held out", "now (0.5)", "limit 0.4",
    ]  # fmt: skip
    drawn, made = lines_in(display), display.frame
    assert drawn["one threshold for all"].get_xdata().tolist() == [p.outcome.social_cost for p in made.one]
    assert drawn["now (0.5)"].get_ydata()[0] == made.current.induced_accuracy


# ---------------------------------------------------------------------- who applies


def bars_of(display):
    """Length and colour of the bar of each row, from the top."""
    return [(bar.get_width(), bar.get_facecolor()[:3]) for bar in display.ax_.patches]


def test_bars_end_at_the_highest_cost_at_which_groups_apply():
    table = table_of(A=(100, 50, 40, 20), B=(100, 50, 40, 30), C=(100, 50, 0, 0))
    display = WhoAppliesDisplay(table, Terms(0.6)).plot()
    assert rows_of(display) == ["B", "A", "C"]
    assert [width for width, _ in bars_of(display)] == [0.75, 0.5, 0.0]
    assert texts_in(display)[1:] == [
        "applies, up to 0.75", "stays away: only up to 0.50", "stays away: nobody passes",
    ]  # fmt: skip
    applies, stays_away, _ = (colour for _, colour in bars_of(display))
    assert applies != stays_away
    own = texts_in(WhoAppliesDisplay(table, Terms(0.6, {"A": 0.1})).plot())
    assert own[:3] == ["own cost", "applies, up to 0.75", "applies, up to 0.50"]


def test_bars_end_at_the_lower_bound_if_people_decide_by_it(naive):
    display = WhoAppliesDisplay.from_estimator(naive)
    limits = naive.terms_.max_accepted_cost(naive.published_.groups, naive.published_.counts)
    assert [width for width, _ in bars_of(display)] == sorted(limits, reverse=True)
    dots = display.ax_.get_lines()[0].get_xdata()
    assert sorted(dots) == sorted(naive.published_.precision)
    assert "bars: lower bound" in display.ax_.get_xlabel()


def test_an_audit_a_classifier_and_predictions_draw_the_same_rows(people, naive):
    X, y, z = people
    selected = naive.predict(X)
    displays = [
        WhoAppliesDisplay.from_audit(audit(y, y_pred=selected, sensitive_features=z, cost=0.7)),
        WhoAppliesDisplay.from_predictions(y, selected, sensitive_features=z, cost=0.7),
        WhoAppliesDisplay.from_estimator(naive.estimator_, X, y, sensitive_features=z, cost=0.7),
    ]
    assert texts_in(displays[0]) == texts_in(displays[1]) == texts_in(displays[2])


def test_missing_arguments_and_wrong_costs_are_errors_before_anything_is_drawn(people, naive):
    X, y, z = people
    with pytest.raises(TypeError, match="no cost to draw; pass cost"):
        WhoAppliesDisplay.from_estimator(naive.estimator_, X, y, sensitive_features=z)
    with pytest.raises(TypeError, match="pass X, y and sensitive_features"):
        WhoAppliesDisplay.from_estimator(naive.estimator_, cost=0.7)
    with pytest.raises(TypeError, match="Pass y as well"):
        PublishedTableDisplay.from_estimator(naive, X)
    with pytest.raises(TypeError, match="wrap it: NaiveClassifier"):
        PromisedDeliveredDisplay.from_estimator(naive.estimator_, X, y, sensitive_features=z)
    with pytest.raises(ValueError, match="Audit new people"):
        PromisedDeliveredDisplay.from_audit(audit(y, y_pred=naive.predict(X), sensitive_features=z, cost=0.7))
    with pytest.raises(ValueError, match="cost must lie in"):
        PrecisionCurvesDisplay.from_predictions(y, X["x"], sensitive_features=z, cost=2)
    assert not plt.get_fignums()


@pytest.mark.parametrize("draw", [lambda table: WhoAppliesDisplay(table, Terms(0.6)), PublishedTableDisplay])
def test_the_forty_largest_groups_have_rows_and_the_axis_says_so(draw):
    display = draw(many(50)).plot()
    assert set(rows_of(display)) == {f"g{i}" for i in range(10, 50)}
    assert "the 40 largest of 50 groups" in display.ax_.get_xlabel()


# ---------------------------------------------------------------------- the published table


def test_the_table_shows_precision_base_rate_and_selected_people_of_each_group():
    table = table_of(A=(1000, 500, 40, 20), B=(100, 30, 40, 30))
    display = PublishedTableDisplay(table).plot()
    assert rows_of(display) == ["B", "A"]
    assert texts_in(display) == ["40 of 100 pass", "40 of 1,000 pass"]
    assert lines_in(display)["published precision"].get_xdata().tolist() == [0.75, 0.5]
    assert lines_in(display)["base rate"].get_xdata().tolist() == [0.3, 0.5]
    untested = table_of(A=(4, 1, 2, 1, 2))  # the base rate is a range
    _, low, high, *_ = PublishedTableDisplay(untested).plot().ax_.get_lines()
    assert (low.get_xdata()[0], high.get_xdata()[0]) == (0.25, 0.75)


def test_a_classifier_shows_its_own_statistics_or_those_of_given_people(people, new_people, naive):
    X, y, z = new_people
    own = PublishedTableDisplay.from_estimator(naive)
    assert own.published is naive.published_
    others = PublishedTableDisplay.from_estimator(naive, X, y, sensitive_features=z)
    assert others.published == PublishedStatistics.from_predictions(y, naive.predict(X), sensitive_features=z)


def test_displays_use_the_classifier_at_the_end_of_a_pipeline(people, new_people):
    X, y, z = people
    clf = NaiveClassifier(cost=0.7)
    pipe = make_pipeline(StandardScaler(), clf).fit(X, y, naiveclassifier__sensitive_features=z)
    assert WhoAppliesDisplay.from_estimator(pipe).published is pipe[-1].published_
    X, y, z = new_people
    display = PromisedDeliveredDisplay.from_estimator(pipe, X, y, sensitive_features=z)
    assert display.audit.population == PublishedStatistics.from_predictions(y, pipe.predict(X), sensitive_features=z)
    drawn = PrecisionCurvesDisplay.from_estimator(pipe, X, y, sensitive_features=z)
    assert drawn.cost == 0.7


# ---------------------------------------------------------------------- promised and delivered


def test_each_group_has_a_point_at_published_and_delivered_precision(new_people, naive):
    X, y, z = new_people
    display = PromisedDeliveredDisplay.from_estimator(naive, X, y, sensitive_features=z)
    frame = naive.audit(X, y, z).to_frame()
    points = [(bars[0].get_xdata()[0], bars[0].get_ydata()[0]) for bars in display.ax_.containers]
    assert points == list(zip(frame["precision"], frame["delivered"], strict=True))
    words = {"yes": ": kept", "no": ": broken", "undecided": ": undecided", "": ""}
    assert texts_in(display)[-3:] == [f"{name}{words[kept]}" for name, kept in frame["promise_kept"].items()]
    assert "cost 0.7" in texts_in(display)


def test_a_broken_promise_is_marked():
    published = table_of(A=(100, 50, 50, 40), B=(100, 50, 50, 20), C=(100, 50, 0, 0))
    y, selected = [1] * 20 + [0] * 30 + [1, 0], [1] * 50 + [1, 0]
    display = PromisedDeliveredDisplay.from_predictions(
        y, selected, published=published, sensitive_features=["A"] * 50 + ["B", "C"], cost=0.7
    )
    assert texts_in(display)[-2:] == ["A: broken", "B"]
    assert "stays away" in display.ax_.get_xlabel()
    assert "nobody passes of C" in display.ax_.get_xlabel()


# ---------------------------------------------------------------------- rounds


def test_rounds_have_a_row_for_each_group_and_shades_for_shares():
    history = some_rounds(["A", "B", "C"])
    display = history.plot()
    assert isinstance(display, RoundsDisplay)
    (cells,) = display.ax_.collections
    assert cells.get_array().reshape(3, 4).tolist() == history.shares.to_numpy().T.tolist()
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == ["A", "B", "C"]
    many = some_rounds([f"g{i:02}" for i in range(50)]).plot()
    assert len(many.ax_.get_yticklabels()) == 40
    assert "40 largest of 50 groups" in many.ax_.get_xlabel()


# ---------------------------------------------------------------------- names


def test_names_do_not_overlap():
    n = 8
    z = np.repeat(np.arange(n), 100)
    y, score = np.tile([0, 1], 50 * n), np.tile(np.arange(100), n)
    table = PublishedStatistics.from_predictions(y, score > 49, sensitive_features=z)
    for display in (
        PrecisionCurvesDisplay.from_predictions(y, score, sensitive_features=z, cost=0.5),
        PromisedDeliveredDisplay.from_predictions(y, score > 49, published=table, sensitive_features=z, cost=0.3),
    ):
        display.figure_.draw_without_rendering()
        boxes = [Text.get_window_extent(text) for text in display.ax_.texts if text.get_rotation() == 0]
        assert len(boxes) >= n
        overlaps = [a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i]]
        assert not any(overlaps)
