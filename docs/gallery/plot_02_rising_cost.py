"""
Who does not apply as the cost rises?
=====================================

The more a test costs, the higher the precision must be for people to apply. A model that ignores this loses one group
after the other, and the qualified people in them. At which cost does each group stop applying, and how many qualified
people are lost?
"""

# %%
# Customers of a bank, grouped by job. Published statistics are counted on out-of-fold predictions.
import matplotlib.pyplot as plt
from sklearn.model_selection import train_test_split

from selfselect import NaiveClassifier
from selfselect.datasets import fetch_bank
from selfselect.plotting import WhoAppliesDisplay
from selfselect.publishing import CrossFit, Precision

X, y, job = fetch_bank(return_X_y_group=True)
X, X_new, y, y_new, job, job_new = train_test_split(X, y, job, test_size=0.3, random_state=0)
clf = NaiveClassifier(cost=0.6, publish=CrossFit(statistic=Precision())).fit(X, y, sensitive_features=job)

# %%
# The result is exact over the whole range: it changes only at the costs at which a group stops applying.
over = clf.audit(X_new, y_new, job_new).over_costs(0.3, 0.9)
print(over.sentence())

# %%
# Top: the cost up to which each group applies. Bottom: the share of qualified people who do not apply.
figure, (above, below) = plt.subplots(
    2, 1, figsize=(7.5, 6.5), height_ratios=(2.2, 1), sharex=True, layout="constrained"
)
WhoAppliesDisplay.from_estimator(clf, ax=above)
steps = over.steps
below.stairs(steps["social_cost"], [*steps["above"], steps["up_to"].iloc[-1]], baseline=None, color="#D55E00")
below.set(xlabel="cost of applying", ylabel="qualified people\nwho stay away", xlim=(0.3, 0.9), ylim=(0, 1.02))
above.set_xlabel("dots: published precision, with its 95% interval")
title = figure.suptitle(f"From a cost of {over.low:g} to {over.high:g}, one group after the other stays away")
