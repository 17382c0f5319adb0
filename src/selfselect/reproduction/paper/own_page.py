"""The page of a comparison on data of one's own: what was run, tables, figures, and what the methods are."""

from __future__ import annotations

from collections.abc import Sequence

from ..._errors import InputError
from ..._text import markdown_text
from ..methods import ALL_METHODS
from ..people import BUNDLED
from ..sweep.results import Result
from ..sweep.store import Store
from ..wording import in_words
from .figures import FIGURES
from .promises import has_promises, paper_part, promise_part, summarise_promises
from .summary import summarise
from .tables import render_promises, render_table


def comparison_page(store: Store, assets: str = "reproduction") -> str:
    """Page in Markdown, of whatever a store holds of data of one's own.

    Parameters
    ----------
    store : Store
        Results.
    assets : str, default="reproduction"
        Folder of tables and figures, relative to the page.

    Raises
    ------
    ValueError
        If there is no such result.
    """
    stored = [result for result in store.results() if result.cell.dataset not in BUNDLED]
    if not stored:
        raise InputError("The store has no result of data of one's own.", key="no_results")
    own, promising = paper_part(stored), has_promises(stored)
    parts = ["# A comparison of methods that anticipate who applies, and of those that do not", _what_was_run(stored)]
    if own:
        parts += ["## Results", render_table(summarise(own), "markdown", main=False)]
    if promising:
        promises = summarise_promises(promise_part(stored))
        parts += ["## Promised and delivered", render_promises(promises, "markdown")]
    shown = [
        recipe
        for recipe in FIGURES.values()
        if recipe.needs_results and (promising if recipe.needs_promises else bool(own))
    ]
    how = "Each as SVG, PNG and CSV of its data; the command `figures` makes them."
    parts += [
        "## Figures",
        how,
        *(f"![{recipe.name.replace('_', ' ')}]({assets}/{recipe.stem}.png)" for recipe in shown),
    ]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _what_was_run(stored: Sequence[Result]) -> str:
    datasets: dict[str, Result] = {}
    for result in stored:
        datasets.setdefault(result.cell.dataset, result)
    lines = ["## What was run", ""]
    for name, first in datasets.items():
        here = [result.cell for result in stored if result.cell.dataset == name]
        people = sum(first.train_counts["n"]) + sum(first.test_counts["n"])
        costs = ", ".join(f"{cost:g}" for cost in sorted({cell.cost for cell in here}))
        lines.append(
            f"- **{markdown_text(name)}**: {people:,.0f} people in {len(first.groups)} groups; {len(here):,} fits, "
            f"at a cost of {costs}, on {len({cell.split for cell in here})} random splits into training and test "
            "people."
        )
    ran = {result.cell.method for result in stored}
    lines += ["", "Methods:", "", *(f"- {in_words(name)}" for name in ALL_METHODS if name in ran)]
    return "\n".join(lines)
