"""The figures of the paper, and one of ours: each script draws one figure and gives the table of its data."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pandas as pd

from ..results import ResultsError

#: Scripts by name, which is also the name of their files.
NAMES = (
    "figure01_process",
    "figure02_base_rates",
    "figure03_self_selection",
    "figure04_precision_curves",
    "figure05_social_cost",
    "figure06_by_group",
    "figure07_regions",
    "figure08_calibrated_score",
    "figure09_smooth_application",
    "figure10_assumed_induced",
    "figure11_ordering_constraint",
    "figure12_promises",
)
#: Figures that show results of fits.
NEED_RESULTS = ("figure05_social_cost", "figure06_by_group", "figure12_promises")


def script(name: str) -> ModuleType:
    """Script of a figure: ``CAPTION`` and ``draw``."""
    return import_module(f".{name}", __package__)


def write_figures(results: pd.DataFrame, folder: Path, only: Sequence[str] = ()) -> list[Path]:
    """Write the data (CSV) and the picture (SVG and PNG) of each figure.

    Parameters
    ----------
    results : DataFrame
        Results with metrics. Figures 5, 6 and 12 are left out where there are none for them, unless ``only`` names
        them.
    folder : Path
        Where to write.
    only : sequence of str
        Names or numbers of figures; by default all.

    Returns
    -------
    list of Path
        The files.
    """
    from .style import figure_style, save

    chosen = [name for name in NAMES if not only or name in only or str(int(name[6:8])) in only]
    unknown = [text for text in only if text not in NAMES and text not in map(str, range(1, len(NAMES) + 1))]
    if unknown:
        raise ResultsError(f"There is no figure {unknown[0]!r}; there are {', '.join(NAMES)}.")
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for name in chosen:
        with figure_style():
            try:
                figure, data = script(name).draw(*([results] if name in NEED_RESULTS else []))
            except ResultsError:
                if only:
                    raise
                continue
            save(figure, data, folder, name)
        files += [folder / f"{name}.{ending}" for ending in ("csv", "svg", "png")]
    return files
