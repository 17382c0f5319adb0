"""
How many promises break over rounds?
====================================

A lower bound holds with 90% confidence when it is published once. A firm that publishes it anew after each round takes
the risk each time.
"""

# %%
# A group has a precision of 70%. In each round 20 new people pass, and the bound rests on all people so far. On how
# many of 2,000 paths was it above 70% at least once?
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np

from selfselect.publishing import AnytimeLowerBound, LowerBound, Precision

rng = np.random.default_rng(0)
true_positives = rng.binomial(20, 0.7, (2000, 100)).cumsum(axis=1).astype(float)
counts = SimpleNamespace(
    true_positives=true_positives, selected=np.broadcast_to(20 * np.arange(1.0, 101), true_positives.shape)
)
broken, values = {}, {}
for statistic in (Precision(), LowerBound(0.9), AnytimeLowerBound(0.9)):
    name = type(statistic).__name__
    values[name] = statistic.value(counts)
    broken[name] = np.maximum.accumulate(values[name] > 0.7, axis=1).mean(axis=0)
    print(f"{name}: broken on {broken[name][0]:.1%} of paths in round 1, on {broken[name][-1]:.1%} by round 100")

# %%
# ``AnytimeLowerBound`` is valid in all rounds at once, however many there are. Its price is a lower number.
price = np.mean(values["LowerBound"] - values["AnytimeLowerBound"], axis=0)
print(f"lower by {price[0]:.3f} in round 1, by {price[19]:.3f} in round 20, by {price[-1]:.3f} in round 100")
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for (name, share), style in zip(broken.items(), (":", "--", "-"), strict=True):
    axes.plot(np.arange(1, 101), share, style, label=name)
axes.axhline(0.1, color="0.3", linewidth=0.8)
axes.set(xlabel="round", ylabel="paths with a broken promise so far", ylim=(0, 1.02))
axes.set_title("Risks of bounds add up over rounds; that of a confidence sequence does not")
legend = axes.legend(fontsize="small", loc=(0.62, 0.58))
