"""How often promises are broken, by simulation: with the default bound, without it, and with a guarantee.

Writes results/promises.md. Populations are drawn anew every time, and every classifier chooses anew. Features have few
values, so that what a classifier delivers is known exactly: no sample stands in for the truth. `--populations 20` is a
quick look.
"""

from __future__ import annotations

import argparse
import warnings
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial

from _common import to_markdown, write  # first: it sets the number of threads

# isort: split
import numpy as np
import pandas as pd

from selfselect import GroupThresholdClassifier, NaiveClassifier, SemiStrategicClassifier, StrategicClassifier

COST = 0.7
#: Columns that say nothing about anybody, and that a score can be fitted to.
NOISE = 3


@dataclass(frozen=True)
class Setting:
    """What populations are like: groups, people of each (at least, less than), and levels of the telling feature."""

    groups: int
    people: tuple[int, int]
    levels: int


SETTINGS = {
    "3 groups of 200 to 600": Setting(3, (200, 600), 12),
    "6 tiny groups of 15 to 60": Setting(6, (15, 60), 12),
    "40 groups of 30 to 120": Setting(40, (30, 120), 12),
    "ties: 3 values, 4 groups of 60 to 300": Setting(4, (60, 300), 3),
}
METHODS = {
    "naive": NaiveClassifier,
    "semi": SemiStrategicClassifier,
    "thresholds": GroupThresholdClassifier,
    "strategic": StrategicClassifier,
}
WAYS = {
    "training data": {"publish": "train"},
    "cross_fit, no bound": {"publish": "cross_fit", "confidence": None},
    "cross_fit, bound at 0.9": {"publish": "cross_fit", "confidence": 0.9},
    "guarantee at 0.9": {"publish": "holdout", "confidence": 0.9, "guarantee": True},
}
#: The strategic classifier takes some ten times as long: one in so many of its populations is drawn.
SLOW = {"strategic": 4}


class Population:
    """Groups whose people have a telling feature and some noise; who is qualified follows the former."""

    def __init__(self, setting, random):
        self.setting = setting
        n_groups, levels = setting.groups, setting.levels
        self.spread = random.dirichlet(np.full(levels, 2.0), n_groups)
        self.chance = np.sort(random.beta(1.2, 1.0, (n_groups, levels)), axis=1)
        cells = np.indices((n_groups, levels, *[2] * NOISE)).reshape(2 + NOISE, -1)
        self.group, self.value = cells[0], cells[1]
        self.table = self.features(self.group, self.value, cells[2:].T)
        self.weight = self.spread[self.group, self.value]

    def features(self, group, value, noise):
        """Columns: the telling feature, the noise, and the group as one-hot columns."""
        one_hot = np.eye(self.setting.groups)[group]
        return np.column_stack([value / self.setting.levels, noise, one_hot])

    def draw(self, random):
        """Features, labels and groups of some people."""
        size = random.integers(*self.setting.people, self.setting.groups)
        group = np.repeat(np.arange(self.setting.groups), size)
        value = np.concatenate(
            [random.choice(self.setting.levels, n, p=row) for n, row in zip(size, self.spread, strict=True)]
        )
        y = random.random(len(group)) < self.chance[group, value]
        return self.features(group, value, random.integers(0, 2, (len(group), NOISE))), y.astype(int), group

    def delivered(self, model):
        """Precision that new people of each group get, NaN where nobody is selected."""
        needs_group = isinstance(model, GroupThresholdClassifier)
        given = {"sensitive_features": self.group} if needs_group else {}
        chosen = self.weight * (model.predict(self.table, **given) == 1)
        passed, hits = (
            np.bincount(self.group, part, self.setting.groups)
            for part in (chosen, chosen * self.chance[self.group, self.value])
        )
        with np.errstate(invalid="ignore"):
            return hits / passed


def one(seed, setting, method, way):
    """Groups that are told to apply in one population, those of them whose promise is broken, and by how much."""
    random = np.random.default_rng(seed)
    population = Population(SETTINGS[setting], random)
    X, y, z = population.draw(random)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = METHODS[method](cost=COST, **WAYS[way]).fit(X, y, sensitive_features=z)
    told = model.applies().to_numpy()
    delivered = population.delivered(model)[told]
    missing = np.nan_to_num(COST - delivered, nan=0.0)
    return int(told.sum()), int((missing > 1e-12).sum()), float(missing[missing > 1e-12].sum())


def measure(setting, method, way, populations, pool):
    number = max(populations // SLOW.get(method, 1), 1)
    draw = partial(one, setting=setting, method=method, way=way)
    found = np.array(list(pool.map(draw, range(number), chunksize=10)))
    told, broken, missing = found[:, 0].sum(), found[:, 1].sum(), found[:, 2].sum()
    return {
        "setting": setting,
        "method": method,
        "published": way,
        "populations": number,
        "somebody is told to apply": f"{(found[:, 0] > 0).mean():.1%}",
        "any promise broken": f"{(found[:, 1] > 0).mean():.1%}",
        "groups told": int(told),
        "of them broken": f"{broken / told:.1%}" if told else "none told",
        "broken by": f"{missing / broken:.3f}" if broken else "",
    }


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--populations", type=int, default=500)
    arguments.add_argument("--workers", type=int, default=1)
    given = arguments.parse_args()
    with ProcessPoolExecutor(given.workers) as pool:
        rows = [
            measure(setting, method, way, given.populations, pool)
            for setting in SETTINGS
            for method in METHODS
            for way in WAYS
        ]
    write(
        "promises.md",
        "# Promises and how often they are broken\n\n"
        f"Made by `python benchmarks/promises.py --populations {given.populations}`.\n\n"
        "A promise is made to every group that is told to apply: that new people of it get a precision of at least\n"
        f"its cost ({COST:g}). It is broken if the true precision is below, by however little. Thresholds, groups and\n"
        "scores are chosen anew in every population. any promise broken: share of all populations. of them broken:\n"
        "share of the groups that are told to apply. broken by: mean of what is missing, where something is. The\n"
        "bound is about one group at a time, and thresholds are chosen by it: nothing is guaranteed about the shares\n"
        "in its rows. The guarantee is about all groups together: one is broken in at most 10% of populations.\n\n"
        f"{to_markdown(pd.DataFrame(rows))}\n",
    )


if __name__ == "__main__":
    main()
