"""
Do equal selection rates put groups in the order of their base rates?
=====================================================================

If a model selects the same share of every group, do groups with more qualified people have a higher precision, so that
they apply first? Equal selection rates alone are not enough; together with equal true-positive rates they are.
"""

# %%
# Two classifiers on a part of the Adult table, without the group as a feature. The second one also has equal
# true-positive rates, and keeps to the order of base rates.
import matplotlib.pyplot as plt

from selfselect import StrategicClassifier
from selfselect.constraints import BaseRateOrder, DemographicParity, TruePositiveRateParity
from selfselect.datasets import fetch_adult
from selfselect.metrics import rank_agreement

X, y, race = fetch_adult(return_X_y_group=True, drop_group=True)
some = X.sample(6000, random_state=0).index
X, y, race = X.loc[some], y.loc[some], race.loc[some]
parity, tpr_parity = (kind(0.2, relative=True) for kind in (DemographicParity, TruePositiveRateParity))
constraints = {
    "equal selection rates": [parity],
    "and equal true-positive rates": [BaseRateOrder(), parity, tpr_parity],
}
published = {
    name: StrategicClassifier(cost=0.6, constraints=required, publish="train")
    .fit(X, y, sensitive_features=race)
    .published_.to_frame()
    .sort_values("base_rate")
    for name, required in constraints.items()
}

# %%
# Rates are not exactly equal: the difference between groups is at most a fifth of the overall rate.
for name, frame in published.items():
    print(name)
    print(frame[["base_rate", "selection_rate", "precision"]].round(3), end="\n\n")

# %%
# Groups are sorted by base rate. They are in order if the line never falls.
figure, panels = plt.subplots(1, 2, figsize=(10, 4.2), sharey=True, layout="constrained")
for panel, (name, frame) in zip(panels, published.items(), strict=True):
    order = rank_agreement(frame["base_rate"], frame["precision"])
    panel.plot(range(len(frame)), frame["precision"], "o-", color="#0072B2" if order.respected else "#D55E00")
    labels = [f"{group}\n{rate:.1%}" for group, rate in frame["base_rate"].items()]
    panel.set_xticks(range(len(frame)), labels=labels)
    panel.set(title=f"{name}:\n{'in order' if order.respected else 'not in order'}", xlabel="group and its base rate")
    panel.margins(x=0.12)
label = panels[0].set_ylabel("published precision")
