"""
Whom should a budget for subsidies go to?
=========================================

Part of the cost of being tested can be paid for people of some groups, so that they come. With little money not every
group can be paid. Which groups keep the most qualified people from staying away, for each sum that there may be?
"""

# %%
# Some customers of a bank by what they do for a living, and a score of people whom the model had not seen.
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
# A plan for one budget (in units of what being hired is worth to a person), and what it would take to bring in all.
whole = plan_subsidies(y, **people)
half = plan_subsidies(y, budget=whole.total / 2, **people)
print(half.verdict())

# %%
# The best use of every budget up to that sum. A budget buys groups, not shares of them, so the line falls in steps.
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
