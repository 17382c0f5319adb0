"""
What if the cost is not known exactly?
======================================

The cost of applying is never known exactly. A result that holds over a whole range of costs needs no better estimate.
Close to the cost at which a group stops applying, the result is also uncertain because of sampling: other people of the
same population would give another precision.
"""

# %%
# An audit of a synthetic table, and what holds for all costs from 0.6 to 0.8.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression

from selfselect import audit
from selfselect.datasets import make_base_rate_groups

X, y, group = make_base_rate_groups((0.6, 0.4, 0.25), n_per_group=800, random_state=1, return_X_y_group=True)
score = LogisticRegression().fit(X[["x"]], y).predict_proba(X[["x"]])[:, 1]
found = audit(y, score=score, sensitive_features=group, cost=0.7)
over = found.over_costs(0.6, 0.8)
print(over.sentence())

# %%
# The share of bootstrap samples in which each group applies, at each cost. Dashed lines are the costs at which groups
# stop applying in the original sample.
costs = np.linspace(0.4, 0.95, 56)
applies = [found.at(float(cost)).uncertainty(n_resamples=300).applies for cost in costs]
figure, axes = plt.subplots(figsize=(7.5, 4.2), layout="constrained")
axes.axvspan(over.low, over.high, color="0.93", zorder=0)
axes.text((over.low + over.high) / 2, 1.06, "range looked at", ha="center", color="0.4")
styles = (("#0072B2", 0.6, 5, "left"), ("#D55E00", 0.3, -5, "right"), ("#009E73", 0.6, 5, "left"))
for name, (colour, height, shift, side) in zip(found.published.groups, styles, strict=True):
    axes.plot(costs, [shares[name] for shares in applies], color=colour)
    tips = found.published.precision[name]
    axes.axvline(tips, color=colour, linestyle="--", linewidth=0.8)
    axes.annotate(
        f"{name} tips at {tips:.2f}", (tips, height), (shift, 0), textcoords="offset points", ha=side, color=colour
    )
axes.set(
    xlabel="cost of applying",
    ylabel="share of samples in which the group applies",
    ylim=(-0.02, 1.13),
    xlim=(0.4, 1.06),
)
tipping = over.groups["tips_at"].notna().sum()
title = axes.set_title(f"From {over.low:g} to {over.high:g}, {tipping} of {len(over.groups)} groups tip")
