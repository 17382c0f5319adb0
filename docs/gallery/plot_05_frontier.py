"""
What does it cost in accuracy to keep qualified people from staying away?
=========================================================================

At the most accurate threshold, few people may find it worth applying. At a higher threshold more groups apply, but the
accuracy among applicants may be lower. Which thresholds are worth considering?
"""

# %%
# Out-of-fold scores of a logistic regression.
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict

from selfselect.datasets import fetch_adult
from selfselect.plotting import FrontierDisplay

X, y, race = fetch_adult(return_X_y_group=True)
score = cross_val_predict(LogisticRegression(solver="newton-cholesky"), X, y, method="predict_proba")[:, 1]

# %%
# Grey points are all thresholds. Lines are the thresholds that no other beats, with one threshold for all or one per
# group. Crosses are the same choices made on a third of the people; another third decides who applies, and the last is
# counted.
display = FrontierDisplay.from_predictions(y, score, sensitive_features=race, cost=0.7, max_social_cost=0.2)
display.figure_.set_size_inches(8, 5)

# %%
# The verdict, with the best choice under a limit on the social cost:
print(display.frame.verdict())
one, each = (display.frame.recommend(kind=kind).outcome for kind in ("one", "per_group"))
title = display.ax_.set_title(
    "If at most 20% of the qualified may stay away, the best threshold for all\n"
    f"is right for {one.induced_accuracy:.1%} of applicants; one per group, for {each.induced_accuracy:.1%}"
)
