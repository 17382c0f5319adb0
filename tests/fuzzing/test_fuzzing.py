"""A quick run of the fuzzers, the same inputs every time; `make fuzz` runs them for minutes, from other seeds."""

import warnings

import pytest

from fuzzing.models import try_model
from fuzzing.tables import Tally, generator, try_csv, try_parquet

#: How many files of each kind are tried here, and of how many at least the numbers must have been compared.
QUICK = {"csv": (try_csv, 1500, 100), "parquet": (try_parquet, 400, 20), "model": (try_model, 500, 20)}


@pytest.mark.parametrize("kind", QUICK)
def test_damaged_files_are_refused_in_our_words_or_read_rightly(kind, tmp_path):
    once, files, least = QUICK[kind]
    tally, rng = Tally(), generator(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(files):
            once(rng, tmp_path, tally)
    assert tally.tried == files == tally.refused + tally.read
    assert tally.compared >= least
    assert tally.refused >= least


#: Inputs that were findings once.
FOUND = [("parquet", 2010537)]  # texts by number, some of them beyond the last text


@pytest.mark.parametrize(("kind", "seed"), FOUND)
def test_what_was_found_once_stays_mended(kind, seed, tmp_path):
    tally = Tally()
    QUICK[kind][0](generator(seed), tmp_path, tally)
    assert tally.tried == 1
