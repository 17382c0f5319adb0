"""
Should gradient boosting know who will apply?
=============================================

LightGBM and XGBoost accept any objective, also the loss among those who apply. Does this beat ordinary boosting whose
threshold is chosen with applicants in mind? This example compares both on Adult, over four random splits.
"""

# %%
# Half of the people train the score. A quarter choose the threshold and give the published precision. The last quarter
# are new, and apply or stay away according to what is published. A model with a custom objective predicts scores, so it
# is a regressor, and ``ScoreClassifier`` makes a classifier of it.
import warnings

import matplotlib.pyplot as plt
import pandas as pd
from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn.model_selection import train_test_split

from selfselect import ApplicationWarning, GroupThresholdClassifier, SemiStrategicClassifier
from selfselect.boosting import ScoreClassifier, strategic_objective
from selfselect.constraints import DemographicParity
from selfselect.datasets import fetch_adult

warnings.simplefilter("ignore", ApplicationWarning)  # most of these classifiers shut groups out

adult = fetch_adult()
X = adult.data.set_axis([f"column_{i}" for i in range(adult.data.shape[1])], axis=1)  # LightGBM refuses some names
SETTINGS = {"num_leaves": 15, "learning_rate": 0.1, "n_jobs": 1, "verbosity": -1}
COST, ROUNDS = 0.7, [25, 50, 100, 200]


def on_new_people(wrapper, score, people, new_people, constraints=()):
    """Accuracy among new applicants, and social cost, of a score with thresholds chosen on other people."""
    (X_, y_, z_), (X_new, y_new, z_new) = people, new_people
    clf = wrapper(score, cost=COST, constraints=constraints, caution=2.0, prefit=True)
    clf.fit(X_, y_, sensitive_features=z_)
    result = clf.audit(X_new, y_new, z_new)
    return {"accuracy among applicants": result.induced_accuracy, "social cost": result.social_cost}


# %%
# All models grow by continuing the one before. The strategic objective starts from an ordinary model of 60 rounds, or
# from scores of 0; the ordinary objective continues as well. All this is for one threshold; thresholds per group are
# tried for the ordinary model.
parity = [DemographicParity(difference_bound=0.05, weight=10.0)]
rows, with_parity = [], []
for seed in range(4):
    X_train, X_rest, y_train, y_rest, z_train, z_rest = train_test_split(
        X, adult.target, adult.group, test_size=0.5, random_state=seed
    )
    halves = train_test_split(X_rest, y_rest, z_rest, test_size=0.5, random_state=seed)
    people, new_people = halves[0::2], halves[1::2]
    plain = LGBMClassifier(n_estimators=60, **SETTINGS).fit(X_train, y_train)
    by_group = on_new_people(GroupThresholdClassifier, plain, people, new_people)
    rows.append({"training": "ordinary, thresholds per group", "rounds": 0, **by_group})
    ordinary = on_new_people(SemiStrategicClassifier, plain, people, new_people)
    for name in ("ordinary", "ordinary, then strategic"):
        rows.append({"training": name, "rounds": 0, **ordinary})

    objective = strategic_objective(z_train, COST)
    for name, start, model_class, settings in (
        ("ordinary", plain, LGBMClassifier, {}),
        ("ordinary, then strategic", plain, LGBMRegressor, {"objective": objective}),
        ("strategic from 0", None, LGBMRegressor, {"objective": objective}),
    ):
        model, done = start, 0
        for rounds in ROUNDS:
            model = model_class(n_estimators=rounds - done, **settings, **SETTINGS)
            model.fit(X_train, y_train, init_model=start)
            start, done = model, rounds
            score = model if model_class is LGBMClassifier else ScoreClassifier(model)
            found = on_new_people(SemiStrategicClassifier, score, people, new_people)
            rows.append({"training": name, "rounds": rounds, **found})

    fair = LGBMRegressor(objective=strategic_objective(z_train, COST, constraints=parity), n_estimators=100, **SETTINGS)
    fair.fit(X_train, y_train, init_model=plain)
    for name, score in (("ordinary", plain), ("ordinary, then strategic", ScoreClassifier(fair))):
        found = on_new_people(SemiStrategicClassifier, score, people, new_people, parity)
        with_parity.append({"training": name, **found})

means = pd.DataFrame(rows).groupby(["training", "rounds"]).mean()
print(means.round(3).to_string())

# %%
# The gain over one threshold on an ordinary score comes from shutting groups out: look at the social cost. Thresholds
# per group do the same without another training. If selection rates of groups may differ by 5 points at most, one
# threshold is a poor tool on an ordinary score, and training helps:
print(pd.DataFrame(with_parity).groupby("training").mean().round(3).to_string())

# %%
# Accuracy among new applicants, without that constraint.
figure, axes = plt.subplots(figsize=(7.5, 4.2), layout="constrained")
accuracy = means["accuracy among applicants"]
best = accuracy["ordinary, thresholds per group"].iloc[0]
axes.axhline(best, color="#555555", linestyle="--", label="ordinary, thresholds per group")
for name, color in (
    ("ordinary, then strategic", "#0072B2"),
    ("strategic from 0", "#009E73"),
    ("ordinary", "#D55E00"),
):
    axes.plot(accuracy[name].index, accuracy[name], "o-", color=color, label=f"{name}, one threshold")
axes.set(xlabel="rounds with this objective (ordinary: after the first 60)", ylabel="accuracy among new applicants")
axes.legend(frameon=False, fontsize=9)
after = accuracy["ordinary, then strategic", 100]
title = axes.set_title(
    f"One threshold: {accuracy['ordinary', 0]:.1%}, with 100 strategic rounds {after:.1%}; per group {best:.1%}",
    fontsize=11,
)
