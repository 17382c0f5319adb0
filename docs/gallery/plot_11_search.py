"""
How do I tune a model by its accuracy among applicants?
=======================================================

A grid search usually compares the accuracy over everybody, but the model only sees applicants. With scikit-learn's
metadata routing, groups pass through a search, so that the score can be the accuracy among applicants.
How different are the two?
"""

# %%
# A search over the depth of a tree. The classifier and the scorers request the groups. Steps before the tree are inside
# the classifier, which fits them again in every fold.
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn import config_context
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from selfselect import ApplicationWarning, NaiveClassifier
from selfselect.datasets import fetch_adult
from selfselect.metrics import induced_accuracy_scorer

# some of these trees overfit, and the classifier warns about each
warnings.simplefilter("ignore", ApplicationWarning)

X, y, race = fetch_adult(return_X_y_group=True)
some = X.sample(6000, random_state=0).index
X, y, race = X.loc[some], y.loc[some], race.loc[some]
clf = NaiveClassifier(make_pipeline(StandardScaler(), DecisionTreeClassifier(random_state=0)), cost=0.6)
depths = [2, 3, 4, 5, 6, 7, 8, 9, 10]
with config_context(enable_metadata_routing=True):
    search = GridSearchCV(
        clf,
        {"estimator__decisiontreeclassifier__max_depth": depths},
        scoring={"everybody": "accuracy", "those who apply": induced_accuracy_scorer(nobody=0.0)},
        refit="those who apply",
        cv=3,
    ).fit(X, y, sensitive_features=race)
print("chosen:", search.best_params_)

# %%
# Both scores over the depth, with their standard deviation over folds.
figure, axes = plt.subplots(figsize=(7.5, 4.2), layout="constrained")
for name, colour in (("everybody", "#E69F00"), ("those who apply", "#0072B2")):
    mean, spread = (search.cv_results_[f"{kind}_test_{name}"] for kind in ("mean", "std"))
    axes.errorbar(depths, mean, spread, color=colour, fmt="o-", capsize=3)
    axes.plot(depths[np.argmax(mean)], mean.max(), "o", markersize=13, markerfacecolor="none", color=colour)
    axes.annotate(name, (depths[-1], mean[-1]), (10, 0), textcoords="offset points", va="center", color=colour)
axes.set(xlabel="depth of the tree", ylabel="accuracy (mean and spread of 3 folds)", xlim=(1.5, 12.2), xticks=depths)
best = search.best_params_["estimator__decisiontreeclassifier__max_depth"]
means = search.cv_results_["mean_test_everybody"], search.cv_results_["mean_test_those who apply"]
gap = np.max(means[0] - means[1])
title = axes.set_title(
    f"Those who apply are judged best at a depth of {best};\n"
    f"accuracy over everybody says up to {100 * gap:.1f} points too much"
)
