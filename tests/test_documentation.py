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
    from selfselect import datasets, estimation, metrics, plotting, simulation, theory

    listed = set(re.findall(r"^   (?:\w+\.)?(\w+)$", (ROOT / "docs/reference/api.md").read_text(), re.M))
    modules = {
        "behaviour",
        "boosting",
        "constraints",
        "datasets",
        "estimation",
        "metrics",
        "plotting",
        "publishing",
        "simulation",
        "theory",
    }
    public = [name for name in selfselect.__all__ if name not in modules]
    public += [name for module in (estimation, metrics, plotting, simulation) for name in module.__all__]
    public += [name for name in datasets.__all__ if not name.endswith("Error")]
    public += [name for name, made in vars(theory).items() if callable(made) and made.__module__ == "selfselect.theory"]
    assert {name for name in public if not name.startswith("_")} <= listed


def test_the_page_on_pytorch_says_what_its_tables_say():
    def read(name):
        lines = (ROOT / "benchmarks/results" / name).read_text(encoding="utf-8").splitlines()
        return {
            (data, limit, method, cost): tuple(
                map(float, re.match(r"([\d.]+) ± ([\d.]+|nan), [\d.]+, (\d+)%", text).groups())
            )
            for data, limit, method, *cells, _ in (
                line.strip("| ").split(" | ") for line in lines if line.startswith("| ") and line.count("|") == 8
            )
            for cost, text in zip(("0.65", "0.75", "0.85"), cells, strict=True)
            if " ± " in text
        }

    table = read("torch_models.md")
    naive = {key: cell for key, cell in table.items() if key[2] == "MLP, naive"}
    for (data, limit, _, cost), (accuracy, error, _) in naive.items():
        if (data, limit, "MLP, strategic", cost) not in table:
            continue
        strategic, strategic_error, away = table[data, limit, "MLP, strategic", cost]
        gains = strategic - accuracy > 2 * (error**2 + strategic_error**2) ** 0.5
        assert not gains or (limit == "none" and away > 50)
        if limit == "social cost":
            per_group = table[data, limit, "MLP, naive, per group", cost][0]
            assert per_group > max(accuracy, strategic)
            assert per_group >= table[data, limit, "MLP, strategic, per group", cost][0]
            assert table[data, limit, "boosting, strategic", cost][0] > max(accuracy, strategic)
            assert table[data, limit, "linear, strategic", cost][0] >= accuracy
    trees = read("torch_models_boosting.md")
    for (data, limit, method, cost), (accuracy, error, away) in trees.items():
        if method == "boosting, strategic":
            naive_accuracy, naive_error, naive_away = trees[data, limit, "boosting, naive", cost]
            gains = accuracy - naive_accuracy > 2 * (error**2 + naive_error**2) ** 0.5
            assert not gains or (limit == "none" and away > naive_away + 20)
