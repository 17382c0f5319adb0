"""A quick run of the fuzzers, the same inputs every time; `make fuzz` runs them for minutes, from other seeds."""

import gc
import warnings

import pytest

from fuzzing.kinds import KINDS
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
