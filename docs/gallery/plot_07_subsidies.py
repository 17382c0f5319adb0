"""
Which groups should receive a subsidy?
======================================

A subsidy pays a part of the cost of a group, so that its people apply. A small budget is not enough for all groups. For
each budget, which groups should be paid so that the fewest qualified people are lost?
"""

# %%
# Some customers of a bank, grouped by job, and out-of-fold scores.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict

from selfselect import plan_subsidies
from selfselect.datasets import fetch_bank

X, y, job = fetch_bank(return_X_y_group=True)
some = X.sample(15000, random_state=0).index
X, y, job = X.loc[some], y.loc[some], job.loc[some]
score = cross_val_predict(LogisticRegression(solver="newton-cholesky"), X, y, method="predict_proba")[:, 1]
people = {"score": score, "sensitive_features": job, "cost": 0.77}

# %%
# The budget at which all groups apply (in units of what being hired is worth to a person), and a plan for half of it.
whole = plan_subsidies(y, **people)
half = plan_subsidies(y, budget=whole.total / 2, **people)
print(half.verdict())

# %%
# The best use of every budget. The line falls in steps, because a subsidy makes a whole group apply.
budgets = np.linspace(0, whole.total * 1.02, 40)
plans = [plan_subsidies(y, budget=budget, **people) for budget in budgets]
lost = [plan.after.social_cost for plan in plans]
figure, axes = plt.subplots(figsize=(7.5, 4.5), layout="constrained")
axes.step([plan.total for plan in plans], lost, where="post", color="#0072B2")
axes.plot(half.total, half.after.social_cost, "o", color="#D55E00")
axes.annotate(
    "half of it brings in\n" + "\n".join(half.targets),
    (half.total, half.after.social_cost),
    (10, 8),
    textcoords="offset points",
)
axes.set(
    xlabel="budget (in units of what being hired is worth to a person)",
    ylabel="qualified people who stay away",
    ylim=(0, None),
)
title = axes.set_title(
    f"Unpaid, {half.before.social_cost:.0%} of the qualified stay away; it takes {whole.total:.0f} to bring in all,\n"
    f"and half of that leaves {half.after.social_cost:.0%} out"
)
