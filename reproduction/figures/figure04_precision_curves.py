"""Figure 4: precision of ten groups over thresholds on a naive score, and where each applies."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from selfselect.datasets import make_precision_curves

from .style import GREY, MANY, curve_table, draw_application_bars, groups_of, line_style, naive_score, new_figure


def draw() -> tuple[Figure, pd.DataFrame]:
    """Draw the curves above and who applies below, sorted by the first threshold at which a group applies."""
    bunch = make_precision_curves(random_state=0)
    _, score = naive_score(bunch)
    rates = bunch.target.groupby(bunch.group, observed=True).mean().sort_values(ascending=False, kind="stable")
    group = bunch.group.astype(object).map({name: f"z{place}" for place, name in enumerate(rates.index)})
    cost = bunch.cost
    data = curve_table(bunch.target, score, group, np.arange(100) / 100, cost)
    data.insert(1, "cost", cost)

    figure, axes = new_figure(2, 1, 7.0, 6.4, sharex=True, height_ratios=[1.5, 1])
    top, bottom = axes[:, 0]
    groups = groups_of(data)
    for index, name in enumerate(groups):
        top.plot(data["threshold"], data[f"precision: {name}"], label=name, **line_style(index))
    top.axhline(cost, color=GREY, lw=1)
    beside = {"xytext": (4, 0), "textcoords": "offset points", "va": "center", "fontsize": 8, "color": GREY}
    top.annotate(f"cost {cost:g}", (1.0, cost), **beside)
    top.set_ylabel("published precision")
    top.set_xlim(0, 1)
    top.legend(ncols=1, loc="upper left", bbox_to_anchor=(1.0, 0.72), title="group")
    applies = [data[f"applies: {name}"].to_numpy() for name in groups]
    order = np.argsort([mask.argmax() if mask.any() else np.inf for mask in applies], kind="stable")
    draw_application_bars(bottom, data, [groups[i] for i in order], [MANY[i % len(MANY)] for i in order])
    bottom.set_xlabel("threshold on the score")
    return figure, data
