"""
A group that is gone: what brings it back?
==========================================

Nothing is learnt about a group that stays away, so what is published about it never changes. What do exploration and a
subsidy cost to end that?
"""

# %%
# A lender screens 8,700 people of the FICO data at a score of at least 40. It knows the labels of a tenth of them and
# publishes a lower bound of the precision. Of Black people who pass, 87% repay, more than the cost of 0.8. But only few
# of them have a label, so that their bound is lower than the cost.
import matplotlib.pyplot as plt

from selfselect.datasets import fetch_fico
from selfselect.publishing import LowerBound
from selfselect.simulation import CountedPopulation, simulate

people = CountedPopulation.from_frame(fetch_fico().frame).times(0.05)
print(dict(zip(people.groups, people.at(39.5).precision.round(2).tolist(), strict=True)))


def rounds(**options):
    """Twenty rounds of the same lender."""
    return simulate(people, 39.5, cost=0.8, initial=0.1, publish=LowerBound(0.9), **options)


print(rounds().verdict())


# %%
# Exploration tests people at random, whether they apply or not, and pays their cost. A subsidy of 0.1 is paid in the
# first round only, to those who pass.
def first_round_only(number):
    """Subsidies of a round."""
    return {"Black": 0.1, "Hispanic": 0.1} if number == 1 else None


settings = {
    "nothing": {},
    "2% explored": {"exploration": 0.02},
    "5% explored": {"exploration": 0.05},
    "10% explored": {"exploration": 0.1},
    "subsidy in round 1": {"subsidies": first_round_only},
}
histories = {name: rounds(**given) for name, given in settings.items()}
for name, history in histories.items():
    black, totals = history.shares["Black"], history.totals()
    back = f"back in round {black.idxmax()}" if black.any() else "never back"
    paid, hired = totals["subsidies"].sum(), totals["hired"].sum() - histories["nothing"].totals()["hired"].sum()
    print(f"{name}: Black people {back}; {paid:,.0f} paid over 20 rounds, {hired:+,.0f} people hired")

# %%
# The more is explored, the sooner the bound reaches the cost. Here a subsidy is by far the cheaper way: it is paid
# once, and the labels that it brings keep the group. It needs a published value; a group about which nothing is
# published can only be explored.
figure, axes = plt.subplots(figsize=(7.5, 4), layout="constrained")
for (name, history), style in zip(histories.items(), ("-", ":", "--", "-.", "-"), strict=True):
    own = history.to_frame().query("group == 'Black'")
    axes.plot(own["round"], own["published"], style, label=name)
axes.axhline(0.8, color="0.3", linewidth=0.8)
axes.text(20.4, 0.801, "cost", ha="right", va="bottom", fontsize="small")
axes.set(
    xlabel="round",
    ylabel="published about Black people",
    title="What is published reaches the cost once labels come in",
)
axes.set_xticks(range(1, 21, 2))
legend = axes.legend(fontsize="small")
