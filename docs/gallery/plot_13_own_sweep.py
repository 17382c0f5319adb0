"""
How do the methods compare on a table of my own?
================================================

The comparison of the paper can be run on any table: every method, at several costs, on several splits into people to
learn from and people to judge. Results are kept in a file, so that it can be stopped and goes on where it was. Which
method judges those who apply best, and whom does it lose?
"""

# %%
# A table as you might have it, written to a file: columns as people write them, a label and a group. (Here it is a part
# of the bank's table; on the command line: ``selfselect reproduce --data FILE --label y --group job``.)
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

from selfselect.datasets import fetch_bank
from selfselect.reproduction import InProcess, Plan, Store, own_dataset, run_sweep
from selfselect.reproduction.paper.summary import results_frame

table = fetch_bank(encoded=False).frame
folder = Path(tempfile.mkdtemp())
table.sample(4000, random_state=0).to_csv(folder / "customers.csv", index=False)
print(", ".join(table.columns))

# %%
# A model that ignores who applies (``naive``), one threshold that does not (``semi``), and a strategic classifier
# (``strat_x``); three costs, three splits. Running it again would do nothing: all results are there.
own = own_dataset(folder / "customers.csv", label="subscribes", group="job")
plan = Plan((own,), methods=("naive", "semi", "strat_x"), costs=(0.6, 0.7, 0.8), splits=3)
with Store(folder / "results.sqlite") as store:
    print("fits:", run_sweep(plan, store, InProcess()))
    results = results_frame(store.results())

# %%
# Averages over splits (in which anybody applies), and each split as a dot.
mean = results.groupby(["method", "cost"])[["induced_accuracy", "social_cost"]].mean().unstack("method")
figure, panels = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
colours = {"naive": "#E69F00", "semi": "#009E73", "strat_x": "#0072B2"}
for panel, number in zip(panels, ("induced_accuracy", "social_cost"), strict=True):
    for name, colour in colours.items():
        line = mean[number][name]
        dots = results[results["method"] == name]
        panel.plot(line.index, line, "-", color=colour)
        panel.plot(dots["cost"], dots[number], ".", color=colour, alpha=0.5)
        at, shift, side = (-1, 8, "left") if number == "induced_accuracy" else (0, -8, "right")  # where lines are apart
        panel.annotate(
            name,
            (line.index[at], line.iloc[at]),
            (shift, 0),
            textcoords="offset points",
            ha=side,
            va="center",
            color=colour,
        )
    panel.set(xlabel="cost", xticks=plan.costs)
    panel.margins(x=0.3)
panels[0].set_ylabel("accuracy over those who apply (test people)")
panels[1].set_ylabel("social cost")
best = mean["induced_accuracy"].mean().idxmax()
away = mean["social_cost"][best].mean()
title = figure.suptitle(f"{best} judges those who apply best, and {away:.0%} of the qualified do not apply to it")
