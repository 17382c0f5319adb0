"""The figures of the paper, and one of ours: each script draws one figure and gives the table of its data."""

from __future__ import annotations

from importlib import import_module
from inspect import signature
from pathlib import Path
from types import ModuleType

import pandas as pd

from ..results import ResultsError

#: Names of the scripts, which are also the names of their files.
NAMES = sorted(path.stem for path in Path(__file__).parent.glob("figure*.py"))


def script(name: str) -> ModuleType:
    """Script of a figure, whose ``draw`` takes results with metrics if it shows any."""
    return import_module(f".{name}", __package__)


def write_figures(results: pd.DataFrame, folder: Path) -> list[Path]:
    """Write the data (CSV) and the picture (SVG and PNG) of each figure; leave out those without results.

    Returns
    -------
    list of Path
        The files.
    """
    from matplotlib import rc_context

    from .style import SETTINGS, save

    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for name in NAMES:
        draw = script(name).draw
        with rc_context(SETTINGS):
            try:
                figure, data = draw(results) if signature(draw).parameters else draw()
            except ResultsError:
                continue
            files += save(figure, data, folder, name)
    return files
