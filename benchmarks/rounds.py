"""Repeated deployment: what rounds take, and how many bounds break over rounds. Writes results/rounds.md.

A bound that is published anew after each round is above the true precision in some round much more often than its
level says. ``AnytimeLowerBound`` holds in all rounds at once.
"""

from __future__ import annotations

import warnings

from _common import to_markdown, write  # first: it sets the number of threads

# isort: split
from time import process_time
from types import SimpleNamespace

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from selfselect import NaiveClassifier
from selfselect.datasets import fetch_adult
from selfselect.publishing import AnytimeLowerBound, LowerBound, Precision
from selfselect.simulation import BestThreshold, CountedPopulation, Window, simulate

PATHS, EACH, CONFIDENCE = 10_000, 20, 0.9
PRECISIONS, ROUNDS = (0.5, 0.7, 0.9), (1, 5, 20, 100)


def cpu_time(call, repeats=3):
    """Least processor time of a few calls on one core: other work on the machine hardly changes it."""
    times = []
    for _ in range(repeats):
        start = process_time()
        call()
        times.append(process_time() - start)
    return min(times)


def adult_rows():
    """20 rounds of Adult over one fit of the same firm to all 16,045 people."""
    adult = fetch_adult()
    rows = []
    for publish in ("train", "cross_fit"):
        firm = NaiveClassifier(LogisticRegression(max_iter=1000), cost=0.65, publish=publish)
        one = cpu_time(lambda firm=firm: clone(firm).fit(adult.data, adult.target, sensitive_features=adult.group), 5)
        for exploration in (0.0, 0.05):
            given = {"rounds": 20, "exploration": exploration}
            taken = cpu_time(lambda firm=firm, given=given: simulate(adult, firm, **given))
            everybody = (adult.data, adult.target, adult.group)
            most = cpu_time(lambda f=firm, g=given, e=everybody: simulate(adult, f, initial=e, labels="all", **g), 1)
            ratios = (f"{taken / one:.1f}", f"{most / one:.1f}")
            rows.append({"publish": publish, "exploration": exploration} | dict(zip(COLUMNS, ratios, strict=True)))
    return pd.DataFrame(rows)


COLUMNS = ("20 rounds, 30% labelled at first (in fits)", "20 rounds, all 32,090 labels kept (in fits)")


def counted_rows():
    """1,000 rounds of ten groups with a hundred scores each, in seconds."""
    rng = np.random.default_rng(0)
    score, group = np.tile(np.linspace(0, 1, 100), 10), np.repeat(np.arange(10), 100)
    rate = np.clip(np.linspace(0.3, 0.6, 10)[group] + 0.6 * (score - 0.5), 0, 1)
    n = rng.integers(20, 80, len(score)).astype(float)
    people = CountedPopulation.from_frame(pd.DataFrame({"group": group, "score": score, "n": n, "positives": n * rate}))
    cases = {
        "one threshold": (0.5, {}),
        "best threshold": (BestThreshold(), {}),
        "best threshold, exploration 5%": (BestThreshold(), {"exploration": 0.05}),
        "best threshold, exploration 5%, window": (BestThreshold(), {"exploration": 0.05, "retrain": Window(3)}),
    }
    rows = []
    for name, (firm, given) in cases.items():
        made = simulate(people, firm, cost=0.6, rounds=1000, **given)
        assert len(made) == 1000, name
        taken = cpu_time(lambda f=firm, g=given: simulate(people, f, cost=0.6, rounds=1000, **g).to_frame())
        rows.append({"firm": name, "seconds": f"{taken:.2f}"})
    return pd.DataFrame(rows)


def broken_rows():
    """Share of paths on which the published value is above the true precision after some round."""
    rng = np.random.default_rng(0)
    statistics = {"Precision()": Precision(), "LowerBound(0.9)": LowerBound(CONFIDENCE)}
    statistics["AnytimeLowerBound(0.9)"] = AnytimeLowerBound(CONFIDENCE)
    rows = []
    for precision in PRECISIONS:
        hits = rng.binomial(EACH, precision, (PATHS, max(ROUNDS))).cumsum(axis=1).astype(float)
        trials = np.broadcast_to(EACH * np.arange(1.0, max(ROUNDS) + 1), hits.shape)
        for name, statistic in statistics.items():
            value = statistic.value(SimpleNamespace(true_positives=hits, selected=trials))
            ever = np.maximum.accumulate(value > precision, axis=1).mean(axis=0)
            shown = {f"after {rounds}": f"{100 * ever[rounds - 1]:.1f}%" for rounds in ROUNDS}
            width = f"{np.mean(precision - value[:, 19]):.3f}"
            rows.append({"precision": precision, "published": name, **shown, "below the truth after 20": width})
    return pd.DataFrame(rows)


def main():
    warnings.simplefilter("ignore")
    write(
        "rounds.md",
        "# Repeated deployment\n\nMade by `make bench BENCHMARKS=rounds`.\n\n"
        "## Adult\n\nProcessor time of 20 rounds of Adult (logistic regression), in units of one fit of the same\n"
        "classifier to all 16,045 people. A firm without new labels keeps its model. The bar is 25.\n\n"
        f"{to_markdown(adult_rows())}\n\n"
        "## Counts\n\nProcessor time of 1,000 rounds of a population given as counts: 10 groups, 100 scores each. The\n"
        "bar is one second.\n\n"
        f"{to_markdown(counted_rows())}\n\n"
        f"## Promises over rounds\n\nThe precision of a group is fixed; {EACH} new people pass in each round, and the\n"
        "number that is published rests on all people so far. Share of paths on which it was above the truth at\n"
        f"least once, of {PATHS:,} paths (standard error at most 0.5 points; 0.3 at 10%), and how far below the\n"
        "truth it is on average.\n\n"
        f"{to_markdown(broken_rows())}\n",
    )


if __name__ == "__main__":
    main()
