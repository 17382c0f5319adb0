"""Figure 5: social cost against the cost of applying, by the paper's training and by our learner."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from ..data import DATASETS
from ..methods import COSTS, PAPER_METHODS
from ..results import ResultsError
from ..summaries import averages, descent_part, our_part
from .style import BLACK, BLUE, GREEN, ORANGE, PINK, RED, new_figure

_STYLES = zip((BLACK, ORANGE, BLUE, GREEN, RED, PINK), "os^DvP", strict=True)
_STYLE = dict(zip(PAPER_METHODS, _STYLES, strict=True))
_LEARNERS = {"the paper's training": descent_part, "our learner": our_part}


def draw(results: pd.DataFrame) -> tuple[Figure, pd.DataFrame]:
    """Draw one row per learner, one panel per data set and one line per method."""
    parts = {learner: part(results) for learner, part in _LEARNERS.items()}
    tables = [averages(fits).assign(learner=learner) for learner, fits in parts.items() if len(fits)]
    if not tables:
        raise ResultsError("Figure 5 needs results of the paper's methods.")
    data = pd.concat(tables)
    data = data[data["method"].isin(_STYLE)]
    data = data[["learner", "dataset", "method", "cost", "social_cost", "social_cost_se", "splits"]]
    datasets, learners = list(dict.fromkeys(data["dataset"])), list(dict.fromkeys(data["learner"]))
    size = max(5.0, 3.4 * len(datasets)), 3.0 * len(learners) + 0.8
    figure, axes = new_figure(len(learners), len(datasets), *size, sharex=True, sharey=True)
    for line, learner in zip(axes, learners, strict=True):
        for ax, dataset in zip(line, datasets, strict=True):
            part = data[(data["dataset"] == dataset) & (data["learner"] == learner)]
            for place, (name, (colour, marker)) in enumerate(_STYLE.items()):
                points = part[part["method"] == name].set_index("cost").reindex(COSTS)  # gaps where it was not run
                shift = 0.0012 * (place - (len(_STYLE) - 1) / 2)  # separates points that coincide
                error = points["social_cost_se"].fillna(0)
                style = {"color": colour, "marker": marker, "ms": 4, "lw": 1.3, "capsize": 1.5, "elinewidth": 0.8}
                ax.errorbar(points.index + shift, points["social_cost"], yerr=error, label=name, **style)
            ax.set_title(DATASETS[dataset], loc="left")
        line[0].set_ylabel(f"{learner}\nsocial cost (% of qualified people\nwho do not apply)")
    for ax in axes[-1]:
        ax.set_xlabel("cost c")
    axes[0, 0].set_ylim(-3, 103)
    figure.legend(*axes[-1, 0].get_legend_handles_labels(), loc="outside lower center", ncols=6)
    return figure, data
