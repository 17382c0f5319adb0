"""TorchStrategicClassifier: any module as a classifier that publishes, audits and is saved like all others."""

import io
import re
import runpy
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest

from extras import skip_module_without

skip_module_without("torch")
skip_module_without("skorch")

import torch
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks
from torch import nn
from torch.utils.data import TensorDataset

from selfselect import ThresholdCurves, load_model, save_model
from selfselect.constraints import DemographicParity, MaxSocialCost, MinSelectionRate, RequiredGroups
from selfselect.datasets import make_base_rate_groups
from selfselect.metrics import induced_accuracy_scorer
from selfselect.publishing import CrossFit, Holdout, LowerBound, Precision
from selfselect.torch import TorchStrategicClassifier, training

pytestmark = [
    pytest.mark.filterwarnings("ignore::selfselect.ApplicationWarning"),
    pytest.mark.usefixtures("_one_thread"),
]
EXAMPLES = Path(__file__).parents[2] / "examples"
SHORT = {"max_epochs": 6, "batch_size": 128, "random_state": 0, "publish": "holdout", "cost": 0.6}


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def people():
    """Two groups; features that float32 can hold, so that tensors and arrays are the same."""
    X, y, z = make_base_rate_groups((0.5, 0.3), n_per_group=400, random_state=0, return_X_y_group=True)
    return X.astype(np.float32).astype(float), y, z


@pytest.fixture(scope="module")
def fitted(people):
    X, y, z = people
    return TorchStrategicClassifier(**SHORT).fit(X, y, sensitive_features=z)


class Linear(nn.Module):
    """A linear score of rows of any shape."""

    def __init__(self, n_features=3, n_scores=1):
        super().__init__()
        self.layer = nn.Linear(n_features, n_scores)
        self.register_buffer("factor", torch.tensor(1.0, dtype=torch.bfloat16))  # which numpy does not know

    def forward(self, X):
        return self.factor.float() * self.layer(X.flatten(1))


class Parts(Linear):
    """The same, of two named parts."""

    def forward(self, left, right):
        return super().forward(torch.cat([left, right], dim=1))


EXPECTED = {"check_methods_subset_invariance": "float32 rounds differently in batches of other sizes"} | {
    f"check_sample_weight_equivalence_on_{kind}_data": "weights never add people" for kind in ("dense", "sparse")
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(
    [TorchStrategicClassifier(max_epochs=12, lr=0.03, batch_size=64, publish="train", random_state=0)],
    expected_failed_checks=lambda _: EXPECTED,
)
def test_it_is_a_scikit_learn_estimator(estimator, check):
    check(estimator)


def test_seeds_repeat_results_and_leave_the_random_state_of_pytorch_alone(people, fitted):
    X, y, z = people
    before = torch.get_rng_state()
    again = clone(fitted).fit(X, y, sensitive_features=z)
    assert (again.decision_function(X) == fitted.decision_function(X)).all()
    assert torch.equal(torch.get_rng_state(), before)
    other = clone(fitted).set_params(random_state=1).fit(X, y, sensitive_features=z)
    assert (other.decision_function(X) != fitted.decision_function(X)).any()


@pytest.mark.parametrize("thresholds", ["one", "per_group"])
def test_a_saved_and_loaded_classifier_predicts_the_same_bits(people, thresholds, tmp_path):
    X, y, z = people
    model = TorchStrategicClassifier(**SHORT, thresholds=thresholds).fit(X, y, sensitive_features=z)
    model.save(tmp_path / "model.skops", min_cell=0)
    assert {Path(name).suffix for name in ZipFile(tmp_path / "model.skops").namelist()} == {".json", ".npy"}
    loaded = load_model(tmp_path / "model.skops")
    assert (loaded.decision_function(X, z) == model.decision_function(X, z)).all()
    assert loaded.explain() == model.explain()


def test_an_own_module_is_loaded_if_it_is_trusted_and_an_instance_is_not_saved(people, tmp_path):
    X, y, z = people
    name, path = f"{Linear.__module__}.Linear", tmp_path / "model.skops"
    params = {"n_features": X.shape[1]}
    model = TorchStrategicClassifier(Linear, **SHORT, module_params=params).fit(X, y, sensitive_features=z)
    save_model(model, path, min_cell=0)
    with pytest.raises(ValueError, match=f"not trusted: {re.escape(name)}"):
        load_model(path)
    loaded = load_model(path, trusted=[name])
    assert (loaded.decision_function(X) == model.decision_function(X)).all()
    instance = TorchStrategicClassifier(nn.Linear(X.shape[1], 1), **SHORT).fit(X, y, sensitive_features=z)
    with pytest.raises(TypeError, match="Pass the class as module and its arguments as module_params"):
        instance.save(tmp_path / "instance.skops")


def test_loading_without_pytorch_names_the_remedy(fitted, tmp_path):
    fitted.save(tmp_path / "model.skops")
    code = f"""import sys
class NoTorch:
    def find_spec(self, name, path=None, target=None):
        if name == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")
sys.meta_path.insert(0, NoTorch())
from selfselect import load_model
try:
    load_model({str(tmp_path / "model.skops")!r})
except ImportError as error:
    sys.exit("pip install selfselect[torch]" not in str(error))
sys.exit(2)"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_network_that_learns_noise_by_heart_publishes_the_base_rate():
    rng = np.random.default_rng(0)
    X, y, z = rng.normal(size=(600, 20)), rng.uniform(size=600) < 0.4, rng.choice(["a", "b"], 600)
    settings = {"cost": 0.3, "publish": CrossFit(2, Precision()), "constraints": [MinSelectionRate(0.3)]}
    model = TorchStrategicClassifier(**settings, lr=0.02, max_epochs=30, random_state=0)
    model.fit(X, y, sensitive_features=z)
    seen, unseen = (
        table.counts.true_positives.sum() / table.counts.selected.sum()
        for table in (model.published_in_sample_, model.published_)
    )
    assert unseen == pytest.approx(0.4, abs=0.06)
    assert seen > unseen + 0.1


def test_one_threshold_is_the_best_of_all_on_unseen_scores(people):
    X, y, z = people
    model = TorchStrategicClassifier(**SHORT | {"publish": Holdout(statistic=Precision())})
    model.fit(X, y, sensitive_features=z)
    rows = ~np.isnan(model.unseen_scores_)
    curves = ThresholdCurves.from_scores(np.asarray(y)[rows], model.unseen_scores_[rows], sensitive_features=z[rows])
    counts, applies = model.published_.counts, model.applies().to_numpy()
    correct = (counts.true_positives + (counts.n - counts.positives) - (counts.selected - counts.true_positives))[
        applies
    ]
    best = curves.outcomes(0.6)["induced_accuracy"].max()
    assert correct.sum() / counts.n[applies].sum() == pytest.approx(best)


def test_thresholds_per_group_let_required_groups_in_and_need_groups(people):
    X, y, z = people
    limits = [MaxSocialCost(0.0), RequiredGroups("z1")]
    model = TorchStrategicClassifier(**SHORT, thresholds="per_group", constraints=limits)
    model.fit(X, y, sensitive_features=z)
    assert model.applies().all()
    assert model.constraints_met_
    assert len(model.thresholds_) == 2
    with pytest.raises(TypeError, match="threshold depends on the group"):
        model.predict(X)


def test_parity_holds_with_one_threshold(people):
    X, y, z = people
    model = TorchStrategicClassifier(**SHORT, constraints=[DemographicParity(difference_bound=0.1)])
    assert model.fit(X, y, sensitive_features=z).constraints_met_


def test_a_guarantee_tests_groups_on_people_set_aside(people):
    X, y, z = people
    publish = Holdout(0.5, LowerBound(0.9), guarantee=True)
    model = TorchStrategicClassifier(**SHORT | {"publish": publish, "max_epochs": 4}).fit(X, y, sensitive_features=z)
    assert model.promised_.index.tolist() == ["z0", "z1"]


def test_it_is_at_least_as_accurate_among_applicants_as_a_naive_network():
    def draw(seed):
        return make_base_rate_groups((0.5, 0.3, 0.15), n_per_group=1000, random_state=seed, return_X_y_group=True)

    (X, y, z), new = draw(0), draw(1)
    model = TorchStrategicClassifier(cost=0.7, publish="holdout", max_epochs=40, random_state=0)
    model.fit(X, y, sensitive_features=z)
    naive = model.estimator_.decision_function(model._features(X, reset=False)) > 0
    assert model.audit(*new).induced_accuracy >= np.mean(naive == y) - 0.01


def test_tensors_images_dicts_and_datasets_give_the_same_as_arrays(people):
    X, y, z = people
    table = np.asarray(X)[:, :2]
    params = SHORT | {"module_params": {"n_features": 2}, "max_epochs": 3}
    expected = TorchStrategicClassifier(Linear, **params).fit(table, y, sensitive_features=z).decision_function(table)
    tensor = torch.tensor(table, dtype=torch.float32)
    for other in (tensor, table.reshape(-1, 1, 2), TensorDataset(tensor, torch.tensor(np.asarray(y)))):
        model = TorchStrategicClassifier(Linear, **params).fit(other, y, sensitive_features=z)
        np.testing.assert_array_equal(model.decision_function(other), expected)
    parts = {"left": table[:, :1], "right": tensor[:, 1:]}
    model = TorchStrategicClassifier(Parts, **params).fit(parts, y, sensitive_features=z)
    np.testing.assert_array_equal(model.decision_function(parts), expected)
    assert model.audit(parts, y, z).assumed_accuracy == np.mean(model.predict(parts) == y)
    with pytest.raises(ValueError, match="fitted to rows of shape"):
        model.predict({"left": table})


class Breaks(torch.optim.Adam):
    """An optimizer that sets all weights to 0 after some steps."""

    def step(self, closure=None):
        value = super().step(closure)
        self.taken = getattr(self, "taken", 0) + 1
        if self.taken > 12:
            for group in self.param_groups:
                for parameter in group["params"]:
                    parameter.data.zero_()
        return value


def test_the_weights_of_the_best_epoch_are_kept_and_training_stops_early(people, monkeypatch):
    X, y, z = people
    monkeypatch.setattr(training, "PATIENCE", 3)
    settings = SHORT | {"max_epochs": 60, "lr": 0.01, "optimizer": Breaks}
    model = TorchStrategicClassifier(**settings).fit(X, y, sensitive_features=z)
    history = model.history_
    best = max(range(len(history)), key=lambda i: (history["accuracy"][i], -history["log_loss"][i]))
    naive = (history["stage"] == "naive").sum()
    assert best < naive <= best + 1 + 3
    assert len(history) <= naive + 3
    assert history["log_loss"].iloc[-1] > history["log_loss"][best]
    assert np.std(model.decision_function(X)) > 0


def test_progress_is_shown_epoch_by_epoch(people, monkeypatch):
    X, y, z = people
    shown, tqdm = io.StringIO(), training.tqdm
    monkeypatch.setattr(
        training, "tqdm", lambda **kw: tqdm(**kw | {"file": shown, "disable": False, "delay": 0, "mininterval": 0})
    )
    TorchStrategicClassifier(**SHORT | {"publish": "train"}).fit(X, y, sensitive_features=z)
    assert "epochs" in shown.getvalue()
    assert "6/6" in shown.getvalue()


def test_learning_rates_and_modules_are_searched_with_metadata_routing(people):
    X, y, z = people
    grid = {"lr": [0.001, 0.01], "module_params": [{"hidden": (4,)}]}
    with config_context(enable_metadata_routing=True):
        scorer = induced_accuracy_scorer(nobody=0.0)
        search = GridSearchCV(TorchStrategicClassifier(**SHORT), grid, scoring=scorer, cv=2, error_score="raise")
        search.fit(X, y, sensitive_features=z)
    assert search.best_estimator_.lr in grid["lr"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"batch_size": 0}, "batch_size must be a whole number"),
        ({"max_epochs": 0}, "max_epochs must be a whole number"),
        ({"cost": 1.2}, r"cost must lie in \[0, 1\]"),
        ({"lr": 0}, "lr must be above 0"),
        ({"lr": 1e30}, "Lower lr"),
        ({"optimizer": "Adamant"}, "optimizer must be the name of a class of torch.optim"),
        ({"thresholds": "two"}, "thresholds must be one of"),
        ({"device": "gpu"}, "device='gpu' cannot be used"),
        ({"device": "meta"}, "device='meta' cannot be used"),
        ({"module": Linear, "module_params": {"width": 2}}, "module cannot be built.*'width'.*module_params"),
        ({"module_params": {"hiden": (4,)}}, "module cannot be built.*'hiden'.*module_params"),
        ({"module": "mlp"}, "module must be a class or an instance"),
        ({"module": Linear, "module_params": {"n_scores": 2}}, "it must return one score per row"),
        ({"module": Linear(), "module_params": {"n_scores": 1}}, "module is an instance"),
    ],
)
def test_wrong_settings_are_refused_by_name(people, settings, message):
    X, y, z = people
    with pytest.raises((ValueError, TypeError), match=message):
        TorchStrategicClassifier(**SHORT | settings).fit(np.asarray(X)[:, :3], y, sensitive_features=z)


def test_a_module_for_other_features_is_shown_what_it_got(people):
    X, y, z = people
    with pytest.raises(RuntimeError) as caught:
        TorchStrategicClassifier(**SHORT, module=nn.Linear(7, 1)).fit(np.asarray(X)[:, :3], y, sensitive_features=z)
    assert "module got a batch of shape (128, 3) of torch.float32" in caught.value.__notes__[0]


def test_wrong_features_are_refused_by_name(people):
    X, y, z = people
    broken = np.asarray(X).copy()
    broken[3, 0] = np.nan
    for features, message in [(broken, "contains NaN"), ({"a": broken}, r"X\['a'\] contains NaN"), ({}, "empty dict")]:
        with pytest.raises(ValueError, match=message):
            TorchStrategicClassifier(**SHORT).fit(features, y, sensitive_features=z)
    with pytest.raises(ValueError, match="Lengths differ"):
        TorchStrategicClassifier(**SHORT).fit({"a": broken[5:], "b": broken[6:]}, y, sensitive_features=z)


@pytest.mark.parametrize("name", ["torch_images", "torch_text", "torch_skorch"])
def test_the_examples_are_short_and_run(name, capsys):
    path = EXAMPLES / f"{name}.py"
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 40
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out
