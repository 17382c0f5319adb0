"""Engines ask for what they need before they start, and leave the process as they found it."""

import io
import logging
import os
import random
import signal
import threading

import pytest

from selfselect._errors import InputError
from selfselect.reproduction import BundledDataset, DaskCluster, LocalProcesses, Plan, Store, run_sweep
from selfselect.reproduction.sweep import surroundings
from selfselect.reproduction.sweep.surroundings import check_open_files, surroundings_kept


def picture():
    """Whatever in this process a sweep may not change, but for loggers that nobody has touched."""
    found = {name: logging.getLogger(name) for name in list(logging.root.manager.loggerDict)}
    loggers = {
        name: (logger.level, logger.propagate, [(handler, handler.level) for handler in logger.handlers])
        for name, logger in {**found, "root": logging.root}.items()
    }
    return {
        "environment": dict(os.environ),
        "random": random.getstate(),
        "logging": {name: state for name, state in loggers.items() if state != (logging.NOTSET, True, [])},
        "signals": {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)},
        "excepthook": threading.excepthook,
    }


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_sweep_on_a_local_dask_cluster_leaves_everything_as_it_was(tmp_path, monkeypatch):
    import distributed  # noqa: F401  what importing it changes is its own

    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "PYTHONHASHSEED", "__DASK_PARENT_PID", "DASK_PARENT"):
        monkeypatch.delenv(name, raising=False)
    before = picture()
    with Store(tmp_path / "a.sqlite") as store:
        assert (
            run_sweep(Plan((BundledDataset("adult"),), ("naive",), (0.7,), splits=1), store, DaskCluster("local")) == 1
        )
    after = picture()
    for part, was in before.items():
        assert after[part] == was, part


@pytest.fixture
def heard():
    """What reaches whoever listens to everything, or to Dask's own connections."""
    stream = io.StringIO()
    handler, loggers = logging.StreamHandler(stream), [logging.root, logging.getLogger("distributed.client")]
    for logger in loggers:
        logger.addHandler(handler)
    yield stream
    for logger in loggers:
        logger.removeHandler(handler)


def test_the_library_is_silent_until_the_last_cluster_is_left(heard):
    pytest.importorskip("dask")
    first, second = surroundings_kept(), surroundings_kept()
    logger, later = logging.getLogger("distributed.client"), logging.getLogger("distributed.made.later")
    propagated, logger.propagate = logger.propagate, False
    try:
        first.__enter__()
        second.__enter__()
        logging.getLogger("distributed").error("not this")
        first.__exit__(None, None, None)
        logger.error("nor this")
        later.error("nor that")
        second.__exit__(None, None, None)
        logger.error("but this")
    finally:
        logger.propagate = propagated
    assert heard.getvalue() == "but this\n"


def test_what_others_change_meanwhile_stays(monkeypatch):
    pytest.importorskip("dask")
    monkeypatch.delenv("SELFSELECT_TEST", raising=False)
    with surroundings_kept():
        monkeypatch.setenv("SELFSELECT_TEST", "set by somebody else")
    assert os.environ["SELFSELECT_TEST"] == "set by somebody else"


@pytest.fixture
def few_files(monkeypatch):
    """A process that may open 24 files, and has opened 9."""
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (24, 24))
    monkeypatch.setattr(surroundings, "_open_files", lambda: 9)


@pytest.mark.parametrize(
    ("engine", "words"),
    [
        (DaskCluster("local", workers=4), r"A Dask cluster of 4 worker\(s\) would need about 68 open files"),
        (LocalProcesses(8), "8 processes would need about 26 open files"),
    ],
)
def test_an_engine_that_may_not_open_what_it_needs_is_refused_before_it_starts(engine, words, few_files):
    rest = r", and this process, which has 9, may have 24: use fewer workers, or raise the limit \(ulimit -n\)"
    with pytest.raises(InputError, match=words + rest), engine:
        pass


def test_just_enough_files_are_enough(few_files):
    check_open_files(15, "This")
    with pytest.raises(InputError, match="This would need about 16 open files"):
        check_open_files(16, "This")


def test_where_files_are_not_limited_nothing_is_refused(few_files, monkeypatch):
    monkeypatch.setattr(surroundings.resource, "getrlimit", lambda kind: (surroundings.resource.RLIM_INFINITY,) * 2)
    check_open_files(10**9, "This")
    monkeypatch.setattr(surroundings, "resource", None)
    check_open_files(10**9, "This")


def test_files_are_counted_where_the_system_shows_them(tmp_path, monkeypatch):
    before = surroundings._open_files()
    with open(tmp_path / "one more", "w"):
        assert surroundings._open_files() - before in (0, 1)

    def nowhere(folder):
        raise FileNotFoundError(folder)

    monkeypatch.setattr(os, "listdir", nowhere)
    assert surroundings._open_files() == 0
