"""Numbers that a change must not move: counts to the last digit, fits to 1e-9."""

import json
import os

import pytest

from golden.golden import HERE, check, differences, fit

FITS = json.loads((HERE / "fits.json").read_text(encoding="utf-8"))
QUICK = ["adult naive 0.75", "adult semi 0.75", "adult strat_x 0.75"]


@pytest.mark.parametrize("part", ["audits", "commands", "models"])
def test_commands_give_the_same_numbers_as_before(part):
    assert check(part) == []


@pytest.mark.parametrize("name", FITS if os.environ.get("SELFSELECT_ALL_FITS") else QUICK)
def test_a_fit_gives_the_same_model_as_before(name):
    dataset, method, cost = name.split()
    assert differences(FITS[name], fit(dataset, method, float(cost))) == []
