"""
Why do applications swing, and what damps them?
===============================================

A firm retrains on its last applicants and publishes the precision of its new model. Without memory, applications can
swing from round to round without end.
"""

# %%
# Two groups are screened by one threshold. At the middle score, A is seldom qualified and B often. If few of B apply,
# the firm is strict: precision is high, and B applies. With B among the applicants the firm is lax: precision falls,
# and B stays away. In each round the firm learns the labels of all who apply.
import matplotlib.pyplot as plt
import pandas as pd

from selfselect.behaviour import LogitResponse
from selfselect.simulation import BestThreshold, BetaMemory, Discounted, Window, simulate

cells = [
    ("A", 1, 200, 10),
    ("A", 2, 40, 12),
    ("A", 3, 300, 285),
    ("B", 1, 200, 10),
    ("B", 2, 100, 65),
    ("B", 3, 30, 28.5),
]
people = pd.DataFrame(cells, columns=["group", "score", "n", "positives"])

# %%
# Either side can remember. A firm with memory learns from all labels, not only from the newest. People with memory
# believe an average of what was published, or count what was delivered to them.
settings = {
    "no memory": {"retrain": Window(1)},
    "the firm remembers": {"retrain": "all"},
    "people remember: Discounted(0.3)": {"retrain": Window(1), "beliefs": Discounted(0.3)},
    "people remember: BetaMemory(100)": {"retrain": Window(1), "beliefs": BetaMemory(100)},
}
histories = {
    name: simulate(people, BestThreshold(), cost=0.8, behaviour=LogitResponse(0.04), labels="applicants", **given)
    for name, given in settings.items()
}
for name, history in histories.items():
    last = history.shares["B"].tail(4)
    print(f"{name}: in the last rounds {last.min():.0%} to {last.max():.0%} of B apply")

# %%
# A dotted line is the firm's memory; the other lines differ in the memory of people.
figure, axes = plt.subplots(figsize=(7.5, 4), layout="constrained")
for (name, history), style in zip(histories.items(), ("-", ":", "--", "-."), strict=True):
    axes.plot(history.shares["B"], style, label=name, linewidth=1 if style == "-" else 2)
axes.set(xlabel="round", ylabel="share of B that applies", title="Without memory applications swing; memory damps them")
axes.set_xticks(range(1, 21, 2))
axes.set_ylim(0, 1.3)
legend = axes.legend(fontsize="small", loc="upper center", ncols=2)
