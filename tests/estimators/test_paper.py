"""PaperClassifier: the paper's training, its presets and the start that is kept."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning

from selfselect import PaperClassifier
from selfselect.behaviour import LogitResponse, SigmoidResponse
from selfselect.datasets import make_base_rate_groups
from selfselect.learning.paper import PRESETS
from selfselect.statistics import Published

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::selfselect.ApplicationWarning"),
]
SMALL = {"cost": 0.6, "n_starts": 2, "max_iter": 40, "random_state": 0}


def fitted(people, **settings):
    X, y, z = people
    return PaperClassifier(**SMALL | settings).fit(X, y, sensitive_features=z)


def test_a_preset_equals_its_settings_and_named_settings_take_precedence(people):
    def weights(**settings):
        model = fitted(people, parity=0.5, **settings)
        return np.append(model.coef_[0], model.intercept_)

    released, paper = (vars(PRESETS[name]) for name in ("released", "paper"))
    differs = [name for name in paper if paper[name] != released[name]]
    plain = weights(preset="paper")
    assert (weights() == weights(preset="released")).all()
    assert (weights() == weights(preset="paper", settings={name: released[name] for name in differs})).all()
    assert (weights(settings={name: paper[name] for name in differs}) == plain).all()
    assert (weights() != plain).any()
    for given in ({"temperature": 1.0}, {"precision_temperature": 2.0}, {"application_temperature": 1.0}):
        assert (weights(preset="paper", settings=given) != plain).any()
    for given in ({"margin": 0.05}, {"application_weight": 1.0}, {"behaviour": LogitResponse(0.1)}):
        assert (weights(preset="paper", **given) != plain).any()


def test_the_paper_keeps_the_most_accurate_start(people):
    X, y, z = people
    one_by_one = np.random.RandomState(2)  # each fit takes the next start
    settings = {"preset": "paper", "parity": 5.0, "max_iter": 60}
    each = [fitted(people, **settings | {"n_starts": 1, "random_state": one_by_one}).audit(X, y, z) for _ in range(4)]
    kept = fitted(people, **settings | {"n_starts": 4, "random_state": 2}).audit(X, y, z)
    assert kept.induced_accuracy == max(start.induced_accuracy for start in each)


def test_the_released_preset_selects_the_start_by_smooth_applications(people):
    X, y, z = people
    kept = {how: fitted(people, preset="paper", n_starts=4, settings={"kept_by": how}) for how in ("hard", "smooth")}

    def smooth_accuracy(start):
        alone = fitted(people, preset="paper", n_starts=1, random_state=start)
        counts, score, q = alone.published_.counts, alone.decision_function(X), []
        for code, group in enumerate(alone.published_.groups):
            here = (z == group).to_numpy()
            p = expit(5 * score[here])
            selected, true_positives = counts.selected[code], counts.true_positives[code]
            gap = (true_positives - 0.62 * selected) - ((y[here] * p).sum() - 0.62 * p.sum()) if selected else 0.0
            q.append(((y[here] * p).sum() + gap) / p.sum())
        applies = SigmoidResponse(5.0).shares(Published.of_value(np.array(q), np.ones(3)), np.full(3, 0.62))
        return float(np.dot(applies, counts.correct) / np.dot(applies, counts.n))

    one_by_one = np.random.RandomState(0)
    assert kept["smooth"].origin_ == f"descent {1 + int(np.argmax([smooth_accuracy(one_by_one) for _ in range(4)]))}"
    assert kept["hard"].audit(X, y, z).induced_accuracy >= kept["smooth"].audit(X, y, z).induced_accuracy


def test_unseen_people_are_scored_by_descents_without_them(people):
    X, y, _ = people
    model = fitted(people, publish="cross_fit", max_iter=300)
    assert model.published_.counts.n.sum() == len(y)
    assert (model.unseen_scores_ != model.decision_function(X)).any()
    assert np.corrcoef(model.unseen_scores_, model.decision_function(X))[0, 1] > 0.9


def test_a_descent_that_has_not_converged_is_a_warning_and_one_that_diverges_an_error(people):
    X, y, z = people
    with pytest.warns(ConvergenceWarning, match="has not converged in 40 steps"):
        fitted(people)
    with pytest.raises(ValueError, match="diverged from every start"):
        fitted((X * 1e8, y, z), settings={"learning_rate": 1e30})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"preset": "published"}, "preset must be one of"),
        ({"settings": "fast"}, "settings must be a dict of settings by name"),
        ({"settings": {"speed": 1}}, "No setting of the descent is called 'speed'"),
        ({"n_starts": 0}, "n_starts must be a whole number of at least 1"),
        ({"max_iter": 2.5}, "max_iter must be a whole number of at least 1"),
        ({"parity": -1}, "parity must be a number of at least 0"),
        ({"cost": 0.99}, r"cost \+ margin must be below 1"),
    ],
)
def test_wrong_settings_are_refused_by_name(people, settings, message):
    with pytest.raises(ValueError, match=message):
        fitted(people, **settings)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("preset", ["paper", "released"])
def test_the_weight_of_parity_brings_selection_rates_together(preset):
    X, y, z = make_base_rate_groups((0.7, 0.3), n_per_group=300, random_state=0, return_X_y_group=True)
    spread = []
    for parity in (0.0, 1000.0 if preset == "paper" else 5.0):
        model = PaperClassifier(cost=0.6, preset=preset, parity=parity, n_starts=1, max_iter=1500, random_state=0)
        smooth = model.fit(X, y, sensitive_features=z).predict_proba(X)[:, 1]
        spread.append(abs(smooth[z == "z0"].mean() - smooth[z == "z1"].mean()))
    assert spread[1] < 0.2 * spread[0]
