"""Figure 8: a score that is calibrated but not monotone."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from selfselect import PublishedStatistics
from selfselect.datasets import make_calibrated_score

from .style import BLUE, ORANGE, new_figure


def draw() -> tuple[Figure, pd.DataFrame]:
    """Draw the share of qualified people at and above each score: formulas, and a sample of 100,000."""
    sample = make_calibrated_score(100_000, random_state=0)
    score, y = sample.data["x"].to_numpy(), sample.target.to_numpy()
    t = np.linspace(0, 0.99, 100)
    data = pd.DataFrame({"t": t, "at": (t - 1 / 3) ** 2 + 1 / 3, "above": (4 + 3 * t**2) / 9})
    data["at_sample"] = [y[np.abs(score - value) <= 0.01].mean() for value in t]
    statistics = [PublishedStatistics.from_scores(y, score, threshold=value) for value in t]
    data["above_sample"] = [float(published.precision.iloc[0]) for published in statistics]

    figure, axes = new_figure(1, 1, 5.2, 3.6)
    ax = axes[0, 0]
    ax.plot(data["t"], data["above"], color=BLUE, label="score above t: precision (never falls)")
    ax.plot(data["t"], data["at"], color=ORANGE, ls="--", label="score equal to t (falls up to 1/3)")
    some = data.iloc[::5]
    ax.plot(some["t"], some["above_sample"], "o", ms=3.5, color=BLUE, label="the same in a sample of 100,000")
    ax.plot(some["t"], some["at_sample"], "s", ms=3.5, color=ORANGE)
    ax.set_xlabel("score t")
    ax.set_ylabel("share of qualified people")
    ax.set_ylim(0.25, 0.85)
    ax.legend(loc="upper left")
    return figure, data
