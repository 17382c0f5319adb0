"""Runs: the same results however they are made, and nothing lost when they are stopped."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from reproduction.__main__ import main
from reproduction.data import load_dataset
from reproduction.results import load_results, write_atomically, write_results_csv
from reproduction.run import Unit, missing_units, plan_units, run

ROOT = Path(__file__).parents[2]
METHODS, COSTS = ("naive", "semi", "strat_x"), (0.7, 0.8)
OPTIONS = ["--dataset", "adult", *(f"--method={name}" for name in METHODS), *(f"--cost={cost}" for cost in COSTS)]


def small_plan(splits=1):
    return plan_units(["adult"], METHODS, COSTS, splits)


def csv_of(folder, tmp_path):
    """Results as CSV without times."""
    path = tmp_path / f"{Path(folder).name}.csv"
    write_results_csv(load_results(folder).assign(seconds=0.0), path)
    return path.read_bytes()


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """Folder of an uninterrupted run in this process."""
    folder = tmp_path_factory.mktemp("reference") / "results"
    assert run(small_plan(splits=2), folder) == []
    return folder


def test_the_paper_has_1620_fits_and_every_split_comes_with_all_methods():
    units = plan_units()
    assert sum(len(unit.costs) for unit in units) == 3 * 6 * 9 * 10
    assert [unit.split for unit in units] == sorted(unit.split for unit in units)
    assert {len(unit.costs) for unit in units if unit.method == "semi"} == {9}  # one score for all costs
    assert {len(unit.costs) for unit in units if unit.method == "strat_x"} == {1}
    assert plan_units(["adult"] * 2, ["semi"] * 2, [0.7] * 2, 1) == [Unit("adult", "semi", 0, (0.7,))]


def test_two_workers_give_the_same_csv_as_one(reference, tmp_path):
    assert run(small_plan(splits=2), tmp_path / "two", workers=2) == []
    assert csv_of(tmp_path / "two", tmp_path) == csv_of(reference, tmp_path)


def test_a_dask_cluster_gives_the_same_csv(reference, tmp_path):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
    ) as cluster:
        assert run(small_plan(splits=2), tmp_path / "dask", scheduler=cluster.scheduler_address) == []
    assert csv_of(tmp_path / "dask", tmp_path) == csv_of(reference, tmp_path)


def test_a_scheduler_that_is_not_there_is_an_error_in_words(tmp_path, monkeypatch):
    dask = pytest.importorskip("dask")
    pytest.importorskip("distributed")
    with dask.config.set({"distributed.comm.timeouts.connect": "100ms"}):
        result = CliRunner().invoke(main, ["run", *OPTIONS, "--scheduler", "127.0.0.1:9", "--results", str(tmp_path)])
    assert result.exit_code == 1
    assert "127.0.0.1:9" in result.output


def test_killed_at_any_moment_it_goes_on_where_it_was(reference, tmp_path):
    folder = tmp_path / "killed"
    command = [sys.executable, "-m", "reproduction", "run", *OPTIONS, "--splits=2", "--results", folder]
    for enough in (1, 5):
        process = subprocess.Popen(command, cwd=ROOT, start_new_session=True, stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + 300
        while len(list(folder.glob("*/*/*.json"))) < enough and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.002)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        finished = {path: path.stat().st_mtime_ns for path in folder.glob("*/*/*.json")}
        assert len(finished) >= enough
    again = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    assert again.stdout == f"All 12 results are in {folder}.\n"
    assert {path: path.stat().st_mtime_ns for path in finished} == finished  # nothing was done again
    assert csv_of(folder, tmp_path) == csv_of(reference, tmp_path)


def test_results_that_are_damaged_or_of_other_settings_or_data_are_made_again(reference, tmp_path):
    folder = tmp_path / "damaged"
    run(small_plan(splits=2), folder)
    paths = sorted(folder.glob("*/*/*.json"))
    truncated, empty, not_json, other_settings, other_data, no_column, *untouched = paths
    times = {path: path.stat().st_mtime_ns for path in untouched}
    truncated.write_bytes(truncated.read_bytes()[:-10])
    empty.write_bytes(b"")
    not_json.write_bytes(b"\x00" * 100)
    for path, change in ((other_settings, {"configuration": {"l2": 1.0}}), (other_data, {"data_hash": "0"})):
        path.write_text(json.dumps({**json.loads(path.read_bytes()), **change}))
    no_column.write_text("{}")
    assert sum(len(unit.costs) for unit in missing_units(small_plan(splits=2), folder)) == 6
    assert run(small_plan(splits=2), folder) == []
    assert csv_of(folder, tmp_path) == csv_of(reference, tmp_path)
    assert {path: path.stat().st_mtime_ns for path in untouched} == times


def test_only_missing_costs_of_a_unit_are_done(reference, tmp_path):
    folder = tmp_path / "some"
    run(plan_units(["adult"], ["semi"], [0.7], 1), folder)
    assert missing_units(plan_units(["adult"], ["semi"], COSTS, 1), folder) == [Unit("adult", "semi", 0, (0.8,))]
    run(plan_units(["adult"], ["semi"], COSTS, 1), folder)
    whole = load_results(reference)
    expected = whole[(whole["method"] == "semi") & (whole["split"] == 0)].reset_index(drop=True)
    assert load_results(folder).drop(columns="seconds").equals(expected.drop(columns="seconds"))


def load_but_break_on_bank(name):
    dataset = load_dataset("adult")
    if name == "bank_30":
        dataset.fingerprint  # noqa: B018 (it is there; fits fail)
        return type(dataset)(dataset.features[:, :0], 0, dataset.y, dataset.codes, dataset.groups)
    return dataset


@pytest.mark.parametrize("workers", [1, 2])
def test_a_unit_that_fails_does_not_stop_the_others(tmp_path, workers):
    units = plan_units(["bank_30", "adult"], ["naive", "semi"], [0.7], 1)
    failures = run(units, tmp_path / "r", workers=workers, load=load_but_break_on_bank)
    assert len(failures) == 2
    assert all(failure.startswith("bank_30, ") and "Error" in failure for failure in failures)
    assert set(load_results(tmp_path / "r")["dataset"]) == {"adult"}


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "folder" / "file"
    write_atomically(path, b"first")
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        write_atomically(path, b"second")
    assert [each.read_bytes() for each in path.parent.iterdir()] == [b"first"]
