"""What ``selfselect figures`` does."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import click

from selfselect._text import printable
from selfselect.reproduction import Result, Store
from selfselect.reproduction.paper.figures import ENDINGS, FIGURES, FigureRecipe, make_figure
from selfselect.reproduction.paper.promises import has_promises, paper_part, promise_part
from selfselect.reproduction.sweep.exchange import read_all
from selfselect.reproduction.wording import is_ones_own

from ..outputs import refuse_existing, write_output


def run(*, out: str, path: str | None, beside: tuple[str, ...], numbers: tuple[int, ...], force: bool) -> None:
    """Draw the figures that are asked for, or all that can be drawn."""
    if find_spec("matplotlib") is None:
        raise click.UsageError("Figures need matplotlib: pip install matplotlib (extra plot).")
    chosen = [FIGURES[number] for number in numbers or FIGURES]
    stored: list[Result] = []
    promised = read_all(beside)
    if path is not None:
        with Store(path, read_only=True) as store:
            stored = store.results()
        promised += stored
        if not numbers and stored and is_ones_own(result.cell.dataset for result in stored):
            chosen = [recipe for recipe in chosen if recipe.needs_results]  # the others are about the paper
        if not numbers and not has_promises(promised):
            chosen = [recipe for recipe in chosen if not recipe.needs_promises]
        if not numbers and not paper_part(stored):
            chosen = [recipe for recipe in chosen if recipe.needs_promises or not recipe.needs_results]
    else:
        left_out = [str(recipe.number) for recipe in chosen if recipe.needs_results]
        if numbers and left_out:
            raise click.UsageError("Figures 5, 6 and 12 show results: pass --store.")
        chosen = [recipe for recipe in chosen if not recipe.needs_results]
        if left_out:
            said = f"Without --store, figures {', '.join(left_out)} are left out: they show results."
            click.echo(said, err=True)
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    refuse_existing([folder / f"{recipe.stem}.{ending}" for recipe in chosen for ending in ENDINGS], force=force)
    for recipe in chosen:
        shown = _shown(recipe, promised if recipe.needs_promises else stored)
        for ending, content in make_figure(recipe, shown).items():
            write_output(folder / f"{recipe.stem}.{ending}", content, force=force)
    click.echo(f"Wrote {len(chosen)} figures, each as SVG, PNG and CSV, to {printable(out)}.")


def _shown(recipe: FigureRecipe, stored: list[Result]) -> list[Result]:
    """The results that a figure is about."""
    if not recipe.needs_results:
        return []
    return promise_part(stored) if recipe.needs_promises else paper_part(stored)
