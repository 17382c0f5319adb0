"""
Who will not apply? An audit in four lines
==========================================

You have a table with people's outcomes, their groups, and the scores of your model. For which groups is applying not
worth it, and how does this change the accuracy of the model? The title of the picture is the verdict of the audit.
"""

# %%
# The data are the Adult census table, and the model is a logistic regression. Scores are out-of-fold.
from textwrap import fill

from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict

from selfselect.datasets import fetch_adult

X, y, race = fetch_adult(return_X_y_group=True)
score = cross_val_predict(LogisticRegression(solver="newton-cholesky"), X, y, method="predict_proba")[:, 1]

# %%
# The four lines. A cost of 0.7 means that being tested costs a person 70% of what being hired is worth.
from selfselect import audit
from selfselect.plotting import WhoAppliesDisplay

found = audit(y, score=score, sensitive_features=race, cost=0.7)
display = WhoAppliesDisplay.from_audit(found)

# %%
# The title is the verdict of the audit.
display.figure_.set_size_inches(8, 4)
title = display.figure_.suptitle(fill(found.verdict(), 105), fontsize=8.5, ha="left", x=0.02)
