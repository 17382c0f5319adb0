"""
What is known if rejected people were never tested?
===================================================

Rejected people were not tested, so it is unknown whether they were qualified. Dropping them, or taking them as
unqualified, would bias the metrics. What is known without such assumptions?
"""

# %%
# In the Adult table all labels are known. Here the labels of rejected people are hidden, as they would be in practice.
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict

from selfselect import audit
from selfselect.datasets import fetch_adult
from selfselect.plotting import PublishedTableDisplay

X, y, race = fetch_adult(return_X_y_group=True)
passed = cross_val_predict(LogisticRegression(solver="newton-cholesky"), X, y)
known = np.where(passed == 1, y, np.nan)
found = audit(known, y_pred=passed, sensitive_features=race, cost=0.7, untested=True)

# %%
# Precision, and so who applies, depends only on selected people. Base rates, accuracy and social cost have bounds: the
# worst and the best case over all unknown labels.
truth = audit(y, y_pred=passed, sensitive_features=race, cost=0.7)
bounds = found.outcome.to_dict()
for name in ("induced_accuracy", "social_cost"):
    print(f"{name}: from {bounds[name + '_low']:.3f} to {bounds[name + '_high']:.3f}; truly {getattr(truth, name):.3f}")

# %%
# Diamonds are the bounds of base rates; the bar between them is the true base rate.
display = PublishedTableDisplay.from_audit(found)
rows = [text.get_text() for text in display.ax_.get_yticklabels()]
display.ax_.plot(truth.published.base_rate[rows], range(len(rows)), "|", color="black", markersize=14, zorder=4)
same = (found.applies == truth.applies).all()
title = display.figure_.suptitle(
    f"Who applies is {'the same' if same else 'not the same'}; social cost is only known to lie between "
    f"{bounds['social_cost_low']:.0%} and {bounds['social_cost_high']:.0%}",
    fontsize=10,
)
