"""Figure 2: the most accurate threshold and its precision, for a high and a low base rate."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy.stats import norm

from .style import BLACK, draw_densities, draw_selected, new_figure


def best_threshold(base_rate: float) -> tuple[float, float]:
    """Most accurate threshold and its precision, if x is N(-.5, .5) for y = 0 and N(.5, .5) for y = 1."""
    threshold = 0.25 * np.log((1 - base_rate) / base_rate)
    true_positives = base_rate * norm.sf(threshold, 0.5, 0.5)
    false_positives = (1 - base_rate) * norm.sf(threshold, -0.5, 0.5)
    return float(threshold), float(true_positives / (true_positives + false_positives))


def draw() -> tuple[Figure, pd.DataFrame]:
    """Draw one panel per base rate; the people right of the threshold are selected."""
    figure, axes = new_figure(1, 2, 8.2, 3.0, sharey=True)
    x = np.linspace(-2.2, 2.2, 221)
    parts = []
    for ax, rate in zip(axes[0], (0.85, 0.15), strict=True):
        threshold, precision = best_threshold(rate)
        others, qualified = (1 - rate) * norm.pdf(x, -0.5, 0.5), rate * norm.pdf(x, 0.5, 0.5)
        part = pd.DataFrame({"base_rate": rate, "x": x, "not_qualified": others, "qualified": qualified})
        parts.append(part.assign(threshold=threshold, precision=precision))
        right = x >= threshold
        draw_densities(ax, x, qualified, others)
        draw_selected(ax, x[right], qualified[right], others[right])
        ax.axvline(threshold, color=BLACK, lw=1, ls=":")
        ax.set_title(f"base rate {rate:g}: threshold {threshold:.3f}, precision {precision:.3f}", loc="left")
        ax.set_xlabel("feature x")
    axes[0, 0].set_ylabel("share-weighted density")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure, pd.concat(parts, ignore_index=True)
