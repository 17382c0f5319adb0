from dataclasses import replace
from pathlib import Path

import pytest

from invented import invented
from selfselect.reproduction import Cell, Store
from selfselect.reproduction.paper.claims import THEORY
from selfselect.reproduction.paper.corrections import CORRECTIONS
from selfselect.reproduction.paper.figures import FIGURES
from selfselect.reproduction.paper.page import reproduction_page


def test_every_test_that_the_page_points_to_exists():
    folder = Path(__file__).parents[2]
    pointers = [item.test for item in (*THEORY, *CORRECTIONS) if item.test]
    assert len(pointers) == len(THEORY) + len(CORRECTIONS)
    for pointer in pointers:
        file, name = pointer.split("::")
        assert f"def {name}(" in (folder / file).read_text(), pointer


def test_the_page_is_made_of_a_complete_store_only(whole_store, small_store):
    with Store(whole_store) as store:
        page = reproduction_page(store)
    for title in (
        "What was run, and how",
        "Splits that constants were not chosen on",
        "Parity and order",
        "Machine and time",
        "Main results",
        "Cells below the paper",
        "Corrections",
        "could not be",
        "Figures",
    ):
        assert title in page
    for recipe in FIGURES.values():
        assert (f"reproduction/{recipe.stem}.png" in page) is not recipe.needs_promises  # there are none in this store
    assert "nan" not in page.replace("undefined is nan", "")
    with Store(small_store) as store, pytest.raises(ValueError, match="1604 of 1620 results are missing") as caught:
        reproduction_page(store)
    assert caught.value.key == "no_results"


def test_the_page_shows_what_is_beside_the_sweep_and_says_what_is_not(whole_store, small_results):
    first = replace(small_results[0], configuration={"dtype": "float32", "grid": 1000})
    again = [
        invented(first, Cell("adult", f"{method}_descent", 0.7, split), [40, 40], [33, 10])
        for method in ("naive", "semi")
        for split in range(10)
    ]
    later = [
        invented(first, Cell("adult", method, 0.7, split), [40, 40], [33, 10])
        for method in ("semi", "strat_x")
        for split in range(10, 30)
    ]
    unpushed = invented(first, Cell("adult", "strat_parity_unpushed", 0.7, 0), [40, 40], [36, 30])
    with Store(whole_store) as store:
        alone, whole = reproduction_page(store), reproduction_page(store, more=[*again, *later, unpushed])
    assert "Not run yet: `make reproduce-splits`." in alone
    assert "On splits 10 to 29 induced accuracy is" in whole
    assert "not re-run" not in main_table(alone)
    assert "| 85.2 ±0.3 · 76.0 ±0.0 · " in main_table(whole)
    assert "91.1 ±0.5 · not re-run · " in main_table(whole)
    assert "a logistic regression by the same descent (float32); 1000 thresholds" in whole
    assert "Adult: naive, semi at c = 0.65, 0.675, 0.725" in whole
    assert "Adult: strat_x, strat_no_group, strat_parity at all costs" in whole
    assert alone.count("Not run yet.") == 4
    assert whole.count("Not run yet.") == 3
    assert "strat_parity, others not pushed out" in whole
    for page in (alone, whole):
        assert "nan" not in page.replace("undefined is nan", "")
        assert "constants chosen looking at" in page


def main_table(page):
    return page.split("## Main results")[1].split("## ")[0]
