"""
Can thresholds make groups apply to any model?
==============================================

You need not train another model. Gradient boosting gives a score, and a threshold for each group makes its precision
high enough to apply. Which thresholds are these? (Thresholds that differ by group may be unlawful.)
"""

# %%
# Thresholds and published precision come from out-of-fold scores. The limit on the social cost is a tenth.
import warnings

from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import train_test_split

from selfselect import GroupThresholdClassifier, PromiseWarning
from selfselect.constraints import MaxSocialCost
from selfselect.datasets import fetch_adult
from selfselect.plotting import PrecisionCurvesDisplay

# the classifier warns that boosting overfits, but its published statistics are out-of-fold
warnings.simplefilter("ignore", PromiseWarning)

X, y, race = fetch_adult(return_X_y_group=True)
X, X_new, y, y_new, race, race_new = train_test_split(X, y, race, test_size=0.5, random_state=0)
boosting = HistGradientBoostingClassifier(max_iter=60, random_state=0)
clf = GroupThresholdClassifier(boosting, cost=0.75, constraints=[MaxSocialCost(0.1)])
clf.fit(X, y, sensitive_features=race)
print(clf.thresholds_.round(2))

# %%
# The verdict of an audit of new people:
found = clf.audit(X_new, y_new, race_new)
print(found.verdict())

# %%
# Precision among new people over the threshold; dots are the chosen thresholds.
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
