"""
Can any model be given thresholds that bring groups in?
=======================================================

You need not train another model. Gradient boosting gives a score; a threshold for each group makes that group precise
enough to come. Where do these thresholds lie? (Thresholds that differ by group may be unlawful where you are.)
"""

# %%
# The thresholds are chosen, and precision is published, on people whom the score had not seen. At most a tenth of the
# qualified may stay away.
import warnings

from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import train_test_split

from selfselect import GroupThresholdClassifier, PromiseWarning
from selfselect.datasets import fetch_adult
from selfselect.plotting import PrecisionCurvesDisplay

# boosting fits the people it has seen more closely than others, and we are told so; what is published is about others
warnings.simplefilter("ignore", PromiseWarning)

X, y, race = fetch_adult(return_X_y_group=True)
X, X_new, y, y_new, race, race_new = train_test_split(X, y, race, test_size=0.5, random_state=0)
boosting = HistGradientBoostingClassifier(max_iter=60, random_state=0)
clf = GroupThresholdClassifier(boosting, cost=0.75, max_social_cost=0.1).fit(X, y, sensitive_features=race)
print(clf.thresholds_.round(2))

# %%
# What becomes of new people, in words:
found = clf.audit(X_new, y_new, race_new)
print(found.verdict())

# %%
# Precision of new people over thresholds of the score; dots are the thresholds that were set.
display = PrecisionCurvesDisplay.from_predictions(
    y_new, clf.estimator_.decision_function(X_new), sensitive_features=race_new, cost=0.75
)
for group, threshold in clf.thresholds_.items():
    (line,) = (line for line in display.ax_.get_lines() if line.get_label() == group)
    delivered = display.curves.at(threshold).precision[group]
    display.ax_.plot(threshold, delivered, "o", color=line.get_color(), markersize=9, markeredgecolor="black", zorder=5)
display.ax_.set_ylabel("precision among new people")
title = display.ax_.set_title(
    f"{found.applying_groups} of {len(clf.thresholds_)} groups apply; {found.social_cost:.0%} of the qualified do not"
)
