"""
Who stays away as the cost rises?
=================================

The dearer it is to be tested, the surer people want to be that it pays. A model that ignores this loses one group after
the other, and with each of them the qualified people in it. Where does each group stop, and how many are lost by then?
"""

# %%
# Customers of a bank, grouped by what they do for a living. What is published about each group comes from people whom
# the model had not seen.
import matplotlib.pyplot as plt
from sklearn.model_selection import train_test_split

from selfselect import NaiveClassifier
from selfselect.datasets import fetch_bank
from selfselect.plotting import WhoAppliesDisplay

X, y, job = fetch_bank(return_X_y_group=True)
X, X_new, y, y_new, job, job_new = train_test_split(X, y, job, test_size=0.3, random_state=0)
clf = NaiveClassifier(cost=0.6, confidence=None).fit(X, y, sensitive_features=job)

# %%
# Who applies at every cost of a range is exact: nothing changes between the costs at which a group tips.
over = clf.audit(X_new, y_new, job_new).over_costs(0.3, 0.9)
print(over.sentence())

# %%
# Above, each group with the cost up to which it comes; below, the share of qualified people who stay away.
figure, (above, below) = plt.subplots(
    2, 1, figsize=(7.5, 6.5), height_ratios=(2.2, 1), sharex=True, layout="constrained"
)
WhoAppliesDisplay.from_estimator(clf, ax=above)
steps = over.steps
below.stairs(steps["social_cost"], [*steps["above"], steps["up_to"].iloc[-1]], baseline=None, color="#D55E00")
below.set(xlabel="cost of applying", ylabel="qualified people\nwho stay away", xlim=(0.3, 0.9), ylim=(0, 1.02))
above.set_xlabel("dots: published precision, with its 95% interval")
title = figure.suptitle(f"From a cost of {over.low:g} to {over.high:g}, one group after the other stays away")
