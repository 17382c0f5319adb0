"""Populations whose probabilities are known, so that what a classifier delivers is known too."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, ndtri

#: Weights of the unqualified where weights depend on the label; the qualified weigh 1.
UNQUALIFIED_WEIGHT = 3.0
#: New people of each group, by whom the truth is counted: at least, at most, and of all groups together.
FEWEST, MOST, TOGETHER = 2000, 10_000, 40_000


@dataclass(frozen=True)
class Population:
    """Settings of a population: ``P(y = 1 | x, z) = expit(intercept + offset_z + slope * x_0)``, normal features."""

    groups: int = 10
    people: int | tuple[int, int] = 100  # rows of each group; (smallest, largest): sizes that grow geometrically
    features: int = 5  # the first one matters, the others are noise
    spread: float = 0.0  # standard deviation of the groups' offsets; 0: groups are exchangeable
    worse: float = 0.0  # share of groups, by chance, whose offset is 2 lower: groups of two kinds
    trend: float = 0.0  # by how much the offset rises where a group is e times as large
    base_rate: float = 0.5
    slope: float = 1.5
    cost: float = 0.75
    ties: bool = False  # features are whole numbers
    weights: str = "none"  # or integer, lognormal, label (the unqualified weigh three times as much)
    twice: bool = False  # each person is in the table twice
    person: bool = False  # the library is told which rows are of one person
    forest: bool = False  # a random forest gives the score, in place of a logistic regression

    @property
    def sizes(self) -> np.ndarray:
        """Rows of each group."""
        least, most = (self.people, self.people) if isinstance(self.people, int) else self.people
        return np.geomspace(least, most, self.groups).round().astype(int)

    @property
    def intercept(self) -> float:
        """Intercept at which the base rate is that of the settings."""
        points = np.hypot(self.slope, self.spread) * ndtri((np.arange(1000) + 0.5) / 1000)
        return float(brentq(lambda b: expit(b + points).mean() - self.base_rate, -50, 50))


@dataclass(frozen=True)
class People:
    """Rows of a table; ``weight`` and ``person`` are None where the library gets none."""

    X: np.ndarray
    y: np.ndarray
    group: np.ndarray
    weight: np.ndarray | None
    person: np.ndarray | None


class World:
    """A population with the offsets of its groups drawn."""

    def __init__(self, population: Population, rng: np.random.Generator) -> None:
        self.population = population
        size = np.log(population.sizes)
        self.offsets = population.intercept + population.spread * rng.normal(size=population.groups)
        self.offsets += population.trend * (size - size.mean())
        if population.worse:
            self.offsets -= 2.0 * (rng.random(population.groups) < population.worse)
        #: mean weight of unqualified and of qualified people, up to a factor
        self.label_weights = (UNQUALIFIED_WEIGHT, 1.0) if population.weights == "label" else (1.0, 1.0)

    def chance(self, x: np.ndarray, group: np.ndarray) -> np.ndarray:
        """Probability of being qualified."""
        return expit(self.offsets[group] + self.population.slope * x)

    def draw(self, rng: np.random.Generator, *, random_groups: bool = False) -> People:
        """A table of people, with as many of each group as the settings say, or of groups by chance."""
        settings = self.population
        sizes = settings.sizes // 2 if settings.twice else settings.sizes
        if random_groups:
            sizes = rng.multinomial(sizes.sum(), sizes / sizes.sum())
        group = np.repeat(np.arange(settings.groups), sizes)
        X = self._features(rng.normal(size=(len(group), settings.features)))
        y = (rng.random(len(group)) < self.chance(X[:, 0], group)).astype(int)
        noise = {"none": 0.0, "label": 0.5}.get(settings.weights, 1.0)
        weight = np.exp(noise * rng.normal(size=len(group))) * np.where(y, *self.label_weights[::-1])
        if settings.weights == "integer":
            weight = np.ceil(weight)
        rows = np.repeat(np.arange(len(group)), 2) if settings.twice else np.arange(len(group))
        return People(
            X[rows],
            y[rows],
            group[rows],
            None if settings.weights == "none" else weight[rows],
            rows if settings.person else None,
        )

    def new_people(self, groups: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Features and groups of many new people of some groups; the first feature is spread evenly over quantiles."""
        each = int(np.clip(TOGETHER // max(len(groups), 1), FEWEST, MOST))
        X = rng.normal(size=(each * len(groups), self.population.features))
        X[:, 0] = np.tile(ndtri((np.arange(each) + 0.5) / each), len(groups))
        return self._features(X), np.repeat(groups, each)

    def totals(self, x: np.ndarray, group: np.ndarray, selected: np.ndarray) -> dict[str, np.ndarray]:
        """Expected weights of all groups: everybody, the qualified, the selected, both, and those classified right."""
        chance, (no, yes) = self.chance(x, group), self.label_weights
        count = lambda values: np.bincount(group, values, self.population.groups)  # noqa: E731
        everybody, qualified = count(no * (1 - chance) + yes * chance), count(yes * chance)
        passed, hits = count(selected * (no * (1 - chance) + yes * chance)), count(selected * yes * chance)
        correct = everybody - qualified - passed + 2 * hits
        return {"n": everybody, "qualified": qualified, "passed": passed, "hits": hits, "correct": correct}

    def totals_at(self, thresholds: np.ndarray, points: int = 4000) -> dict[str, np.ndarray]:
        """The same where people pass whose first feature is above their group's threshold (NaN: nobody)."""
        x = np.tile(ndtri((np.arange(points) + 0.5) / points), self.population.groups)
        group = np.repeat(np.arange(self.population.groups), points)
        share = self.population.sizes / self.population.sizes.sum() / points
        found = self.totals(x, group, x > np.where(np.isnan(thresholds), np.inf, thresholds)[group])
        return {name: values * share for name, values in found.items()}

    def _features(self, X: np.ndarray) -> np.ndarray:
        return np.round(X) if self.population.ties else X


_MANY_SMALL = {"groups": 40, "people": 25, "features": 20}
_MIDDLE = {"groups": 10, "people": 200, "features": 20}
#: Populations of the simulations of promises, the most important first.
POPULATIONS = {
    "40 groups of 25, 20 features": Population(**_MANY_SMALL),
    "40 groups of 25, 20 features, spread 0.5": Population(**_MANY_SMALL, spread=0.5),
    "40 groups of 25, 20 features, spread 1": Population(**_MANY_SMALL, spread=1.0),
    "40 groups of 25, 20 features, slope 1": Population(**_MANY_SMALL, slope=1.0),
    "10 groups of 100, 50 features": Population(10, 100, 50),
    "10 groups of 100, 50 features, spread 0.5": Population(10, 100, 50, 0.5),
    "3 groups of 133, 100 features": Population(3, 133, 100),
    "3 groups of 133, 100 features, spread 1": Population(3, 133, 100, 1.0),
    "100 groups of 100": Population(100, 100),
    "100 groups of 100, spread 0.5": Population(100, 100, spread=0.5),
    "10 groups of 1,000": Population(10, 1000),
    "10 groups of 1,000, spread 1": Population(10, 1000, spread=1.0),
    "4 groups of 2,000": Population(4, 2000),
    "4 groups of 2,000, spread 0.5": Population(4, 2000, spread=0.5),
    "10 groups of 25 to 2,000, spread 0.5": Population(10, (25, 2000), spread=0.5),
    "10 groups of 25 to 2,000, small ones worse": Population(10, (25, 2000), trend=0.25, cost=0.7),
    "10 groups of 25 to 2,000, small ones better": Population(10, (25, 2000), trend=-0.25, cost=0.7),
    "10 groups of 200, one in four much worse": Population(10, 200, worse=0.25),
    "base rate 0.05": Population(10, 400, 10, 0.5, base_rate=0.05, slope=3.0),
    "base rate 0.95, cost 0.95": Population(10, 200, 10, 0.5, base_rate=0.95, cost=0.95),
    "ties: whole numbers": Population(10, 200, 2, 0.5, ties=True),
    "integer weights": Population(**_MIDDLE, spread=0.5, weights="integer"),
    "lognormal weights": Population(**_MIDDLE, spread=0.5, weights="lognormal"),
    "weights by label": Population(**_MIDDLE, spread=0.5, slope=2.0, weights="label"),
    "each person twice": Population(**_MIDDLE, spread=0.5, twice=True),
    "each person twice, person=": Population(**_MIDDLE, spread=0.5, twice=True, person=True),
    "random forest, 40 groups of 25": Population(**_MANY_SMALL, spread=0.5, forest=True),
    "random forest, 10 groups of 200": Population(**_MIDDLE, spread=0.5, forest=True),
}
#: Populations where a cautious bound would tell too few. In the first, naive precision is 0.75 and the cost 0.65.
GENEROSITY = {
    "40 groups of 25, precision 0.75, cost 0.65": Population(40, 25, base_rate=0.4, slope=2.0, cost=0.65),
    "40 groups of 25": Population(40, 25),
    "10 groups of 1,000": Population(10, 1000),
    "4 groups of 2,000": Population(4, 2000),
}
#: Populations of the simulations of intervals, where people pass whose first feature is above 0.
TABLES = {
    "3 groups of 300, spread 1": Population(3, 300, 1, 1.0, cost=0.7),
    "10 groups of 100, spread 0.5": Population(10, 100, 1, 0.5, cost=0.7),
    "40 groups of 50": Population(40, 50, 1, cost=0.7),
    "40 groups of 100, spread 0.5": Population(40, 100, 1, 0.5, cost=0.7),
    "5 groups of 400, spread 2": Population(5, 400, 1, 2.0, cost=0.7),
    "5 groups of 400, base rate 0.9": Population(5, 400, 1, 1.5, base_rate=0.9, cost=0.93),
    "5 groups of 400, base rate 0.1": Population(5, 400, 1, 1.5, base_rate=0.1, cost=0.15),
    "integer weights": Population(5, 200, 1, 1.0, cost=0.7, weights="integer"),
    "lognormal weights": Population(5, 200, 1, 1.0, cost=0.7, weights="lognormal"),
    "weights by label": Population(5, 200, 1, 1.0, slope=2.0, cost=0.6, weights="label"),
    "each person twice": Population(5, 200, 1, 1.0, cost=0.7, twice=True),
    "each person twice, person=": Population(5, 200, 1, 1.0, cost=0.7, twice=True, person=True),
}
