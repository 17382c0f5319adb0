"""
How strict must the screening be before a group applies?
========================================================

With a higher threshold, more of the selected people are qualified: precision rises. A group applies from the threshold
at which its precision reaches the cost. Which groups apply first?
"""

# %%
# Out-of-fold probabilities of a logistic regression.
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict

from selfselect import ThresholdCurves
from selfselect.datasets import fetch_adult
from selfselect.plotting import PrecisionCurvesDisplay

X, y, race = fetch_adult(return_X_y_group=True)
score = cross_val_predict(LogisticRegression(solver="newton-cholesky"), X, y, method="predict_proba")[:, 1]

# %%
# The threshold from which each group applies. In a small group the curve may cross the cost several times (more than
# one piece).
curves = ThresholdCurves.from_scores(y, score, sensitive_features=race)
intervals = curves.application_intervals(cost=0.8)
print(intervals.round(3))

# %%
# Lines are thin where fewer than 30 people of the group are selected, because its precision is uncertain there.
display = PrecisionCurvesDisplay(curves, cost=0.8).plot()
first = intervals["applies_from"].idxmin()
title = display.ax_.set_title(
    f"At a cost of 0.8, {first} comes first, from a threshold of {intervals['applies_from'].min():.2f}"
)
