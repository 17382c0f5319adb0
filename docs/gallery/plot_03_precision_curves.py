"""
How strict must the screening be before a group applies?
========================================================

Raise the threshold of a score, and those who still pass are more often qualified: precision rises. A group applies from
the threshold on at which its curve crosses the cost. Which groups come first?
"""

# %%
# The probability that a logistic regression gives to people whom it had not seen, by group.
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict

from selfselect import ThresholdCurves
from selfselect.datasets import fetch_adult
from selfselect.plotting import PrecisionCurvesDisplay

X, y, race = fetch_adult(return_X_y_group=True)
score = cross_val_predict(LogisticRegression(solver="newton-cholesky"), X, y, method="predict_proba")[:, 1]

# %%
# The threshold from which on each group applies. Curves need not be smooth: with few people, a group may come, leave
# and come again (more than one piece).
curves = ThresholdCurves.from_scores(y, score, sensitive_features=race)
intervals = curves.application_intervals(cost=0.8)
print(intervals.round(3))

# %%
# Lines are thin where fewer than 30 people of the group pass, so that its precision is mostly chance.
display = PrecisionCurvesDisplay(curves, cost=0.8).plot()
first = intervals["applies_from"].idxmin()
title = display.ax_.set_title(
    f"At a cost of 0.8, {first} comes first, from a threshold of {intervals['applies_from'].min():.2f}"
)
