"""Every number of the paper stands where the thing is made, and the table of numbers tells the truth."""

import ast
import re
from importlib import import_module
from pathlib import Path

import pytest

from selfselect.reproduction.paper.figures import FIGURES
from selfselect.reproduction.paper.numbering import NUMBERED, numbering_table

TESTS = Path(__file__).parents[2]
PACKAGE = TESTS.parent / "src" / "selfselect"
#: The last number of each kind in the paper.
LAST = {"Definition": 2, "Proposition": 6, "Corollary": 5, "Lemma": 4, "Figure": 11}


def found(name):
    """What a dotted name of the package stands for."""
    parts = name.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        try:
            thing = import_module(".".join(["selfselect", *parts[:cut]]))
        except ModuleNotFoundError:
            continue
        for part in parts[cut:]:
            thing = getattr(thing, part)
        return thing
    raise AssertionError(f"nothing is called {name}")


def test_no_number_is_missing_and_none_is_there_twice():
    for kind, last in LAST.items():
        assert [entry.number for entry in NUMBERED if entry.kind == kind] == list(range(1, last + 1))
    assert {entry.kind for entry in NUMBERED} == set(LAST)
    assert set(range(1, LAST["Figure"] + 1)) <= set(FIGURES)


@pytest.mark.parametrize("entry", NUMBERED, ids=lambda entry: entry.name)
def test_what_implements_a_number_carries_it(entry):
    assert entry.functions
    for name in entry.functions:
        said = re.sub(r"\s+", " ", found(name).__doc__)
        assert re.search(rf"\b{entry.name}\b", said), f"the docstring of {name} does not name {entry.name}"


@pytest.mark.parametrize("entry", NUMBERED, ids=lambda entry: entry.name)
def test_every_test_that_is_named_exists(entry):
    assert entry.tests
    for node in entry.tests:
        path, _, name = node.partition("::")
        tree = ast.parse((TESTS / path).read_text(encoding="utf-8"))
        assert name in {part.name for part in tree.body if isinstance(part, ast.FunctionDef)}, node


def test_figures_are_made_by_what_the_table_names():
    for entry in NUMBERED:
        if entry.kind == "Figure":
            recipe = FIGURES[entry.number]
            assert {recipe.data, recipe.draw} <= {found(name) for name in entry.functions}


def test_numbers_that_are_told_anywhere_are_numbers_of_the_paper():
    for path in PACKAGE.rglob("*.py"):
        said = re.sub(r"\s+", " ", path.read_text(encoding="utf-8"))
        for kind, number in re.findall(r"\b(Definition|Proposition|Corollary|Lemma) (\d+)\b", said):
            assert 1 <= int(number) <= LAST[kind], f"{path.name} tells of {kind} {number}"


def test_the_table_has_a_row_for_each():
    rows = numbering_table().splitlines()
    assert len(rows) == len(NUMBERED) + 2
    assert rows[2 + 6].startswith("| Proposition 5 | with offsets")
    assert all(row.count("|") == 5 for row in rows)
