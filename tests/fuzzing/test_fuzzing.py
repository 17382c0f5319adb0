"""A quick run of the fuzzers, the same inputs every time; `make fuzz` runs them for minutes, from other seeds."""

import gc
import warnings

import pytest

from fuzzing.kinds import FOUND, KINDS
from fuzzing.tables import Tally, generator

FILES = [name for name, kind in KINDS.items() if not kind.in_browser]


def quick_run(kind, once, folder):
    """The inputs that ``tools/fuzz.py --seed 0 --files NUMBER`` tries."""
    tally, number = Tally(), 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        while number < kind.quick:
            before = tally.tried
            once(generator(number), folder, tally)
            number += max(tally.tried - before, 1)
        gc.collect()  # damaged workbooks are left open by openpyxl, which must not fail whatever test comes next
    assert tally.tried == tally.refused + tally.read
    assert tally.compared >= kind.least
    return tally


@pytest.mark.parametrize("name", FILES)
def test_damaged_files_are_refused_in_our_words_or_read_rightly(name, tmp_path):
    tally = quick_run(KINDS[name], KINDS[name].once, tmp_path)
    assert tally.tried == KINDS[name].quick
    assert tally.refused >= KINDS[name].least


def test_names_made_of_hostile_pieces_are_text_in_a_browser(browser, tmp_path):
    tally = quick_run(KINDS["browser"], KINDS["browser"].once(browser), tmp_path)
    assert tally.read == tally.tried


@pytest.mark.parametrize(("name", "seed"), [found[:2] for found in FOUND if found[0] in FILES])
def test_what_was_found_once_stays_mended(name, seed, tmp_path):
    tally = Tally()
    KINDS[name].once(generator(seed), tmp_path, tally)
    assert tally.tried == 1


@pytest.mark.parametrize("seed", [found[1] for found in FOUND if found[0] == "browser"])
def test_names_that_were_found_once_stay_text(seed, browser, tmp_path):
    tally = Tally()
    KINDS["browser"].once(browser)(generator(seed), tmp_path, tally)
    assert tally.compared == tally.tried
