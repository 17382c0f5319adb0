"""
How does the paper's gradient descent compare with our solver?
==============================================================

The paper trains by tens of thousands of steps of gradient descent, from several random starts. Our solver starts from
classifiers to which single groups apply, and refines these. Which accuracy does each reach, and after how many steps?

This is a small comparison: 5,000 people, two starts and at most 2,000 steps. The reproduction has the full one, with
the paper's 30,000 steps.
"""

# %%
# Both are fitted to the same people and publish on training data, as in the paper; then they are audited on new people.
import warnings

import matplotlib.pyplot as plt
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split

from selfselect import ApplicationWarning, PaperClassifier, StrategicClassifier
from selfselect.datasets import fetch_adult

warnings.simplefilter("ignore", ApplicationWarning)  # both shut groups out, as the paper's optimum does
warnings.simplefilter("ignore", ConvergenceWarning)  # the descent is stopped early on purpose

X, y, race = fetch_adult(return_X_y_group=True)
X, X_new, y, y_new, race, race_new = train_test_split(X, y, race, train_size=5000, random_state=0)


def accuracy_of(clf):
    """Accuracy over new people who apply, and who applies."""
    clf.fit(X, y, sensitive_features=race)
    return clf.audit(X_new, y_new, race_new).induced_accuracy, clf.applies()


# %%
# The descent after growing numbers of steps, and our solver.
steps = [100, 300, 1000, 2000]
descent = [accuracy_of(PaperClassifier(0.7, preset="paper", n_starts=2, max_iter=n, random_state=0))[0] for n in steps]
ours, applies = accuracy_of(StrategicClassifier(0.7, publish="train"))
print("ours lets in:", ", ".join(applies.index[applies]))

# %%
# Accuracy among new people who apply.
figure, axes = plt.subplots(figsize=(7.5, 4.2), layout="constrained")
axes.plot(steps, descent, "o-", color="#D55E00")
axes.axhline(ours, color="#0072B2")
axes.annotate(
    "the paper's descent", (steps[-1], descent[-1]), (8, 0), textcoords="offset points", va="center", color="#D55E00"
)
axes.annotate("ours", (steps[0], ours), (0, -14), textcoords="offset points", color="#0072B2")
axes.set_xscale("log")
axes.set(xlabel="steps of the descent", ylabel="accuracy over new people who apply", xlim=(80, 7000))
title = axes.set_title(f"On {len(X):,} people: {descent[-1]:.1%} after {steps[-1]:,} steps, ours {ours:.1%}")
