"""
FICO scores by race over 20 rounds: who is gone, and what keeps them?
=====================================================================

A lender lowers its threshold to a score of 20 for everybody. The public credit scores of 174,047 people show what
happens over 20 rounds.
"""

# %%
# Of people with a score of at least 20, this share repays:
import matplotlib.pyplot as plt

from selfselect.datasets import fetch_fico
from selfselect.simulation import CountedPopulation, simulate

cells = fetch_fico().frame
people = CountedPopulation.from_frame(cells)
print(dict(zip(people.groups, people.at(19.5).precision.round(2).tolist(), strict=True)))

# %%
# So far the lender asked for a score of 40, and only these people have a label. It learns from the last three rounds.
# Applying costs 0.6 of what a loan is worth. In the first round the lender publishes its old record, 87% for Black
# people, who apply. They get 59.6%, which is less than their cost. While the old labels are in the window, the
# published number hides that. From round 4 on they are gone, and from round 7 on nothing is published about them.
past = cells[cells["score"] >= 40]
gone = simulate(people, 19.5, cost=0.6, initial=past, retrain="window")
black = gone.to_frame().query("group == 'Black'").set_index("round")
print(black.loc[[1, 2, 3, 4, 6, 7, 20], ["published", "share", "delivered", "utility"]].round(3))
print(gone.verdict())

# %%
# What keeps them? Exploration does not: it finds the true precision, which is below the cost. A subsidy of one
# hundredth does. So does a threshold of 30, at which everybody's precision is higher and fewer people get a loan.
settings = {
    "nothing": {},
    "5% explored": {"exploration": 0.05},
    "subsidy of 0.01": {"subsidies": {"Black": 0.01}},
    "a score of 30": {"threshold": 29.5},
}
shown = {}
for name, given in settings.items():
    options = {"threshold": 19.5, "cost": 0.6, "initial": past, "retrain": "window", **given}
    shown[name] = simulate(people, options.pop("threshold"), **options)
    last, paid = shown[name].totals().iloc[-1], shown[name].totals()["subsidies"].sum()
    print(
        f"{name}: {last['social_cost']:.1%} of people who would repay stay away; "
        f"{last['hired']:,.0f} loans repaid in the last round, {paid:,.0f} paid in 20 rounds"
    )

# %%
# The darker a cell, the larger the share of a group that applies; a dot means nobody.
figure, panels = plt.subplots(2, 2, figsize=(9, 4.6), layout="constrained", sharex=True, sharey=True)
for (name, history), panel in zip(shown.items(), panels.flat, strict=True):
    history.plot(panel).ax_.set_title(name, fontsize="medium")
title = figure.suptitle("Who applies at one threshold, round by round")
