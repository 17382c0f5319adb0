"""Shared by the tests of the reproduction: small sweeps, and stores of invented results."""

import numpy as np
import pytest

from invented import SMALL_COSTS, invented
from selfselect.datasets import make_base_rate_groups
from selfselect.reproduction import METHODS, BundledDataset, InProcess, Plan, Store, own_dataset, run_sweep


@pytest.fixture(scope="session")
def small_csv(tmp_path_factory):
    """A table of 900 people in three groups, whose comparison takes a few seconds."""
    bunch = make_base_rate_groups((0.5, 0.3, 0.7), n_per_group=300, random_state=0, drop_group=True)
    frame = bunch.data.assign(group=bunch.group.to_numpy(), noise=np.random.RandomState(1).normal(size=900))
    path = tmp_path_factory.mktemp("data") / "people.csv"
    frame.assign(qualified=bunch.target).to_csv(path, index=False)
    return path


@pytest.fixture(scope="session")
def small_plan(small_csv):
    return Plan((own_dataset(small_csv, "qualified", "group"),), tuple(METHODS), SMALL_COSTS, splits=2)


@pytest.fixture(scope="session")
def reference(small_plan, tmp_path_factory):
    """What an uninterrupted sweep in this process stores."""
    with Store(tmp_path_factory.mktemp("reference") / "results.sqlite") as store:
        assert run_sweep(small_plan, store, InProcess()) == len(small_plan.cells()) == 24
        return store.contents()


@pytest.fixture(scope="session")
def small_store(tmp_path_factory):
    """Naive and semi on two data sets, two splits, the costs of the main table."""
    path = tmp_path_factory.mktemp("store") / "results.sqlite"
    plan = Plan((BundledDataset("adult"), BundledDataset("bank_30")), ("naive", "semi"), (0.7, 0.8), splits=2)
    with Store(path) as store:
        run_sweep(plan, store, InProcess())
    return path


@pytest.fixture(scope="session")
def small_results(small_store):
    with Store(small_store) as store:
        return store.results()


@pytest.fixture(scope="session")
def whole_store(small_results, tmp_path_factory):
    """A store with a result in every cell, of invented counts: what the page is made of, without the fits."""
    path = tmp_path_factory.mktemp("whole") / "results.sqlite"
    first = small_results[0]
    with Store(path) as store:
        store.write(
            invented(
                first, cell, *(([40, 0], [36, 0]) if cell.method == "strat_x" else ([40, 40], [34, 20 + cell.split]))
            )
            for cell in Plan().cells()
        )
        store.note_sweep("2026-01-01T00:00:00Z", 600.0, 1620, "2 processes", {
            "processor": "P", "cores": 2, "python": "3", "numpy": "2", "scipy": "1", "scikit-learn": "1"
        })  # fmt: skip
    return path
