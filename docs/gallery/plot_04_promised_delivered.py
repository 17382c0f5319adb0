"""
Do new people get the precision that was published?
===================================================

A model looks better on its training data than on new people. If the published precision comes from the training data,
people apply because of a promise that is not kept. The remedy is to publish out-of-fold precision (``cross_fit``). How
large is the difference?
"""

# %%
# The same forest with a limit on the social cost, once published on training data and once by cross-fitting; then
# audited on new people.
import warnings

import matplotlib.pyplot as plt
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

from selfselect import ApplicationWarning, GroupThresholdClassifier
from selfselect.constraints import MaxSocialCost
from selfselect.datasets import fetch_adult
from selfselect.plotting import PromisedDeliveredDisplay

# the classifier warns that the forest overfits, which is the point here
warnings.simplefilter("ignore", ApplicationWarning)

X, y, race = fetch_adult(return_X_y_group=True)
X, X_new, y, y_new, race, race_new = train_test_split(X, y, race, test_size=0.5, random_state=0)
forest = RandomForestClassifier(n_estimators=40, min_samples_leaf=2, random_state=0)
audits = {
    publish: GroupThresholdClassifier(forest, cost=0.8, constraints=[MaxSocialCost(0.2)], publish=publish)
    .fit(X, y, sensitive_features=race)
    .audit(X_new, y_new, race_new)
    for publish in ("train", "cross_fit")
}

# %%
# Published and delivered precision.
for publish, audit in audits.items():
    print(publish)
    print(audit.to_frame()[["precision", "delivered", "applies", "promise_kept"]].round(2), end="\n\n")

# %%
# On the diagonal both are equal; below it, new people do worse than published.
figure, panels = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
for panel, (publish, audit) in zip(panels, audits.items(), strict=True):
    PromisedDeliveredDisplay.from_audit(audit, ax=panel)
    panel.set_title(f'publish="{publish}"')
broken = [int((audit.promises()["promise_kept"] == "no").sum()) for audit in audits.values()]
title = figure.suptitle(f"Broken promises: {broken[0]} when published on training data, {broken[1]} on people unseen")
