"""The figures of the paper, and one of ours: each is a table of data, and a picture drawn from that table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING

import pandas as pd

from ...._errors import InputError
from ....tabular.write import csv_text
from ...sweep.results import Result
from . import concepts, populations, promises, results
from .style import our_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Files of every figure: its data, and two pictures.
ENDINGS = ("csv", "svg", "png")


@dataclass(frozen=True)
class FigureRecipe:
    """How a figure is made.

    Attributes
    ----------
    number : int
        Its number in the paper; 12 is ours.
    name : str
        Name of its files.
    caption : str
        What it shows.
    data : callable
        Makes the table; takes stored results if ``needs_results``.
    draw : callable
        Draws a table.
    needs_results : bool
        Whether it shows results of a store.
    needs_promises : bool
        Whether these are results of what is promised and delivered.
    """

    number: int
    name: str
    caption: str
    data: Callable[..., pd.DataFrame]
    draw: Callable[[pd.DataFrame], Figure]
    needs_results: bool = False
    needs_promises: bool = False

    @property
    def missing(self) -> str:
        """Key of the error where there are no such results."""
        return "no_promises" if self.needs_promises else "no_results"

    @property
    def stem(self) -> str:
        """Name of its files, without ending."""
        return f"figure{self.number:02d}_{self.name}"


#: All figures, by number.
FIGURES = {
    recipe.number: recipe
    for recipe in (
        FigureRecipe(
            1,
            "process",
            "The application process: what is published decides who applies.",
            concepts.process_data,
            concepts.draw_process,
        ),
        FigureRecipe(
            2,
            "base_rates",
            "Precision of the most accurate threshold for a high and a low base rate.",
            concepts.base_rate_data,
            concepts.draw_base_rate,
        ),
        FigureRecipe(
            3,
            "self_selection",
            "Who applies shapes the population that a classifier meets; dashed: groups that stay away.",
            concepts.mixture_data,
            concepts.draw_mixture,
        ),
        FigureRecipe(
            4,
            "precision_curves",
            "Precision of ten groups over thresholds, and where each applies. The highest base rate has number 0.",
            populations.precision_curves_data,
            populations.draw_precision_curves,
        ),
        FigureRecipe(
            5,
            "social_cost",
            "Social cost against the cost of applying, for all methods, by our learner (bars: standard errors over "
            "splits).",
            results.social_cost_data,
            results.draw_social_cost,
            needs_results=True,
        ),
        FigureRecipe(
            6,
            "by_group",
            "Accuracy and precision of each group on the first split of the bank data, by our learner. Groups that "
            "strat_x keeps out are selected as a whole, so that their precision is their base rate and their accuracy "
            "too.",
            results.by_group_data,
            results.draw_by_group,
            needs_results=True,
        ),
        FigureRecipe(
            7,
            "regions",
            "What accuracy on a group says about its application: the paper's regions and the exact ones.",
            concepts.region_data,
            concepts.draw_regions,
        ),
        FigureRecipe(
            8,
            "calibrated_score",
            "A score that is calibrated but not monotone.",
            concepts.calibrated_data,
            concepts.draw_calibrated,
        ),
        FigureRecipe(
            9,
            "smooth_application",
            "The sigmoid that stands in for the hard rule, over precision minus cost: its domain shifts with the cost, "
            "and it is one half at 0.",
            concepts.sigmoid_data,
            concepts.draw_sigmoid,
        ),
        FigureRecipe(
            10,
            "assumed_induced",
            "Assumed accuracy can be right, too high or too low.",
            populations.assumed_induced_data,
            populations.draw_assumed_induced,
        ),
        FigureRecipe(
            11,
            "ordering_constraint",
            "No threshold on the naive score reaches what another score does.",
            populations.ordering_data,
            populations.draw_ordering,
        ),
        FigureRecipe(
            12,
            "promises",
            "Published against delivered precision of every group that applies, in every split, at a cost of .75 (the "
            "data have all costs); what is delivered below .45 stands at the edge. The paper has no such figure.",
            promises.promises_data,
            promises.draw_promises,
            needs_results=True,
            needs_promises=True,
        ),
    )
}


def make_figure(recipe: FigureRecipe, stored: Sequence[Result] | None = None) -> dict[str, bytes]:
    """Files of a figure by ending: ``csv`` (its data), ``svg`` and ``png``. The same data give the same bytes.

    Parameters
    ----------
    recipe : FigureRecipe
        One of :data:`FIGURES`.
    stored : sequence of Result, optional
        Results to show, for figures 5, 6 and 12.

    Examples
    --------
    >>> files = make_figure(FIGURES[9])
    >>> sorted(files), files["csv"].decode().splitlines()[0]
    (['csv', 'png', 'svg'], 'varies,temperature,cost,precision,above_cost,application')
    """
    if recipe.needs_results and not stored:
        raise InputError(f"Figure {recipe.number} shows results, and there are none.", key=recipe.missing)
    data = recipe.data(stored) if recipe.needs_results else recipe.data()
    files = {"csv": csv_text(data, digits=10).encode()}
    with our_style():
        figure = recipe.draw(data)
        for ending, metadata in (("svg", {"Date": None}), ("png", {"Software": None})):
            buffer = BytesIO()
            figure.savefig(buffer, format=ending, metadata=metadata)
            files[ending] = buffer.getvalue()
    return files
