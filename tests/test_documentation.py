"""What the documentation names is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("docs/*/*.md")])
TARGETS = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.M))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_files_links_and_targets_that_a_page_names_are_there(page):
    text = page.read_text(encoding="utf-8")
    for name in re.findall(r"`((?:tests|src|tools|benchmarks|examples|docs)/[\w./-]+)`", text):
        if not name.startswith("docs/_build"):
            assert (ROOT / name).exists(), name
    for target in re.findall(r"`make ([\w-]+)", text):
        assert target in TARGETS, target
    for target in re.findall(r"\]\(([^)#\s]+)", text):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_every_public_name_is_in_the_reference():
    import selfselect
    from selfselect import datasets, metrics, plotting, simulation, theory

    listed = set(re.findall(r"^   (?:\w+\.)?(\w+)$", (ROOT / "docs/reference/api.md").read_text(), re.M))
    modules = {
        "behaviour",
        "boosting",
        "constraints",
        "datasets",
        "metrics",
        "plotting",
        "publishing",
        "simulation",
        "theory",
    }
    public = [name for name in selfselect.__all__ if name not in modules]
    public += [name for module in (metrics, plotting, simulation) for name in module.__all__]
    public += [name for name in datasets.__all__ if not name.endswith("Error")]
    public += [name for name, made in vars(theory).items() if callable(made) and made.__module__ == "selfselect.theory"]
    assert {name for name in public if not name.startswith("_")} <= listed
