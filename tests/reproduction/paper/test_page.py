from pathlib import Path

import pytest

from selfselect.reproduction import Store
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
