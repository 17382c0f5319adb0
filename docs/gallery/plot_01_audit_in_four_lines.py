"""
Who will not bother to apply? An audit in four lines
====================================================

You have a table with what became of people, their group, and what your model said about them. Which groups will find
that applying is not worth their while, and what does that do to the accuracy you assume? The title of the picture is
the verdict, as the audit words it.
"""

# %%
# The people here are those of the Adult census table, and the model is a logistic regression. Everybody is scored by a
# model that had not seen them.
from textwrap import fill

from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict

from selfselect.datasets import fetch_adult

X, y, race = fetch_adult(return_X_y_group=True)
score = cross_val_predict(LogisticRegression(solver="newton-cholesky"), X, y, method="predict_proba")[:, 1]

# %%
# The four lines. A cost of 0.7 means: being tested takes from a person 70% of what being hired is worth.
from selfselect import audit
from selfselect.plotting import WhoAppliesDisplay

found = audit(y, score=score, sensitive_features=race, cost=0.7)
display = WhoAppliesDisplay.from_audit(found)

# %%
# What is written on the picture is what the audit says.
display.figure_.set_size_inches(8, 4)
title = display.figure_.suptitle(fill(found.verdict(), 105), fontsize=8.5, ha="left", x=0.02)
