"""The loop over rounds: publish, believe, apply, test, learn."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from tqdm import tqdm

from .._notices import warn
from .._validation import FloatArray, check_choice, check_nonnegative
from ..behaviour import Behaviour, BestResponse, Shares, evaluate_shares
from ..costs import Cost, Subsidies, SubsidyKind, Terms
from ..counting import CountCurves, GroupCounts
from ..estimators.base import SelfSelectionClassifier
from ..publishing.splits import TrainingSet, as_publishing
from ..statistics import Published
from .beliefs import Beliefs, LastPublished, check_beliefs
from .counted import CountedPopulation, CountedWorld
from .entry import Entry
from .history import History, Round
from .retraining import Retraining, as_retraining
from .rows import RowsWorld, as_firm
from .world import Exploration, Labels, World

#: Subsidies: the same in all rounds, or a function of the round's number.
RoundSubsidies = Subsidies | Callable[[int], Subsidies]


def response(
    beliefs: Beliefs, memory: Any, behaviour: Behaviour, published: Published, delivered: GroupCounts | None, cost: Any
) -> tuple[FloatArray, FloatArray, Any]:
    """What people believe of what is published, the share that applies, and what people remember."""
    believed, memory = beliefs.believe(published, delivered, memory)
    if np.shape(believed) != np.shape(published.value):
        raise ValueError(f"{beliefs!r} must return one belief for each group, got shape {np.shape(believed)}.")
    seen = published if believed is published.value else published.with_value(np.asarray(believed, dtype=float))
    shares: Shares = evaluate_shares(behaviour, seen, cost)
    return np.asarray(believed, dtype=float), shares.astype(float), memory


@dataclass(frozen=True, eq=False)
class Opened:
    """A round before anybody applies: cost before and after subsidies, and what people would do."""

    published: Published
    believed: FloatArray
    listed: FloatArray
    cost: FloatArray
    shares: FloatArray
    memory: Any


@dataclass
class Run:
    """State of a simulation between rounds."""

    world: World
    terms: Terms
    subsidies: RoundSubsidies
    beliefs: Beliefs
    labels: Labels
    exploration: Exploration
    entry: Entry | None
    price: float
    rng: np.random.Generator
    number: int = 0
    memory: Any = None
    delivered: GroupCounts | None = None
    last: Round | None = None
    #: Cost before and after subsidies, which only change if subsidies depend on the round.
    costs: tuple[FloatArray, FloatArray] | None = field(default=None, repr=False)

    def copy(self) -> Run:
        """The same state; worlds replace their arrays, so that a shallow copy of them is enough."""
        return replace(self, world=copy.copy(self.world), rng=copy.deepcopy(self.rng))

    def play(self, rounds: int, *, progress: bool = False) -> History:
        """Simulate some rounds."""
        if not isinstance(rounds, int | np.integer) or isinstance(rounds, bool) or rounds < 1:
            raise ValueError(f"rounds must be a whole number of at least 1, got {rounds!r}.")
        played: list[Round] = []
        stopped = ""
        for _ in tqdm(range(rounds), desc="rounds", leave=False, disable=None if progress else True):
            try:
                one = self.step()
            except ValueError as error:
                if not self.number:
                    raise
                stopped = f"The simulation ends after round {self.number}: in the next round, {str(error).rstrip('.')}."
                break
            played.append(one)
            if not one.share.any() and self._is_over():
                stopped = (
                    f"Nobody applies in round {self.number}, and nothing would change in later rounds. Lower the cost, "
                    "pay subsidies or let the firm explore."
                )
                break
        if stopped:
            warn(stopped)
        return History(self.world.groups, tuple(played), self.price, stopped, self)

    def _is_over(self) -> bool:
        """Whether a round without applicants leaves everything as it is."""
        still = not self.exploration.share and self.entry is None and not callable(self.subsidies)
        return still and self.labels != "all" and isinstance(self.beliefs, LastPublished)

    def step(self) -> Round:
        """Simulate one round."""
        opened = self.open()
        return self.close(opened, opened.shares)

    def open(self) -> Opened:
        """Retrain, publish, and let people decide."""
        number, world = self.number + 1, self.world
        if self.costs is None or callable(self.subsidies):
            paid = self.subsidies(number) if callable(self.subsidies) else self.subsidies
            terms = self.terms.with_subsidies(paid)
            self.costs = terms.listed_cost(world.groups), terms.effective_cost(world.groups)
        listed, cost = self.costs
        if self.entry is not None and self.last is not None:
            outcome = History(world.groups, (self.last,), self.price).to_frame().drop(columns="round")
            world.enter(self.entry, outcome.set_index(world.groups), self.rng)
        world.begin(self.rng)
        world.retrain(number, cost)
        published = world.published()
        believed, shares, memory = response(
            self.beliefs, self.memory, self.terms.behaviour, published, self.delivered, cost
        )
        return Opened(published, believed, listed, cost, shares, memory)

    def close(self, opened: Opened, shares: FloatArray) -> Round:
        """Let shares of the groups apply, and find labels."""
        world, number, cost = self.world, self.number + 1, opened.cost
        counts = world.counts()
        explored, found = world.learn(number, shares, self.labels, self.exploration, self.rng)
        published, listed = opened.published.value, opened.listed
        one = Round(counts, published, opened.believed, listed, listed - cost, shares, explored, found)
        self.number, self.memory, self.delivered = number, opened.memory, one.delivered()
        self.last = one
        return one


def simulate(
    population: Any,
    firm: Any,
    *,
    cost: Cost | None = None,
    behaviour: Behaviour | None = None,
    rounds: int = 20,
    beliefs: Beliefs | None = None,
    labels: Labels = "selected",
    exploration: float | Exploration = 0.0,
    retrain: str | Retraining = "all",
    subsidies: RoundSubsidies = None,
    subsidy_kind: SubsidyKind = "additive",
    entry: Entry | None = None,
    initial: Any = 0.3,
    publish: Any = None,
    price: float = 0.0,
    random_state: Any = 0,
    progress: bool = False,
) -> History:
    """Simulate repeated deployment: a firm publishes, people apply or stay away, and the firm learns from who came.

    In each round the firm fits its model to the people whose labels it knows, and publishes a number about each group.
    People form a belief, and a share of each group applies. Those who pass are tested, so that the firm learns their
    labels; it never learns those of others, unless it explores. Nothing is published about a group without labels, and
    it stays away.

    Parameters
    ----------
    population : (X, y, group), Bunch, callable, or CountedPopulation
        A data set is the same people in all rounds; numbers about people that the model was fitted to in former rounds
        are too good if the model is flexible. A callable ``sampler(rng)`` returns new people ``(X, y, group)`` for each
        round. Counts per group and score (also as a frame with columns group, score, n, positives, or as
        :class:`~selfselect.ThresholdCurves`) are screened by thresholds, and every number is an expected value.
    firm : classifier, float, FixedThreshold or BestThreshold
        Any classifier of scikit-learn or of this package. For counts a threshold, or any object with a method
        ``thresholds(labelled)``.
    cost : float or mapping from group to float, optional
        Cost of the test; by default that of the firm's classifier.
    behaviour : Behaviour, optional
        How people respond; by default as the firm's classifier assumes, or :class:`~selfselect.BestResponse`.
    rounds : int, default=20
        Number of rounds.
    beliefs : Beliefs, default=LastPublished()
        What people believe: :class:`LastPublished`, :class:`Discounted`, :class:`BetaMemory` or an object like these.
    labels : {"selected", "applicants", "all"}, default="selected"
        Who gets a label: applicants who pass, all applicants, or everybody.
    exploration : float or Exploration, default=0.0
        Share of the pool that is drawn at random in each round and tested at the expense of the firm.
    retrain : {"all", "window", "weighted"} or Retraining, default="all"
        Which labels count: all, those of the last three rounds (:class:`Window`), or all by inverse probability.
    subsidies : float, mapping from group to float, or callable, optional
        Subsidies in all rounds, or a function from the number of the round (1, 2, ...) to subsidies.
    subsidy_kind : {"additive", "proportional"}, default="additive"
        As in :class:`selfselect.Terms`.
    entry : Entry, optional
        New people who join the pool after each round, such as :class:`Growth`.
    initial : float, or data like the population, default=0.3
        People whose labels the firm knows before the first round, who are not in the pool. A share is taken from a data
        set or counts, stratified by label and group. For a sampler it is one more sample.
    publish : str, Publishing or Statistic, optional
        What is published, as in the classifiers; by default as the firm's classifier does. Of counts, the precision.
    price : float, default=0.0
        What a test costs the firm, in units of what a hire is worth to it.
    random_state : int, sequence of int, SeedSequence or Generator, default=0
        Seed of who applies and who is explored. The same seed gives the same history, bit by bit.
    progress : bool, default=False
        Show a progress bar on a terminal.

    Returns
    -------
    History
        With ``to_frame()``, ``totals()``, ``plot()``, ``to_html()`` and ``resume(rounds)``. If nobody is left, or no
        model can be fitted any more, it ends early and says why (``stopped``).

    Examples
    --------
    >>> from selfselect import NaiveClassifier
    >>> from selfselect.datasets import make_base_rate_groups
    >>> from selfselect.simulation import simulate
    >>> people = make_base_rate_groups((0.5, 0.15), n_per_group=1000, random_state=0)
    >>> firm = NaiveClassifier(cost=0.8, publish="train")
    >>> simulate(people, firm, rounds=3).shares.loc[3].to_dict()
    {'z0': 1.0, 'z1': 0.0}
    """
    chosen = LastPublished() if beliefs is None else beliefs
    check_beliefs(chosen)
    check_choice(labels, "labels", ("selected", "applicants", "all"))
    explored = exploration if isinstance(exploration, Exploration) else Exploration(exploration)
    if entry is not None and not hasattr(entry, "enter"):
        raise TypeError(f"entry must be an object with a method enter(outcome, pool, rng), got {entry!r}.")
    rng, retraining = np.random.default_rng(random_state), as_retraining(retrain)
    own_cost = cost if cost is not None else getattr(firm, "cost", None)
    if own_cost is None:
        raise TypeError(
            "cost is missing: pass what being tested costs people, as a share of what being hired is worth."
        )
    own_behaviour = behaviour if behaviour is not None else getattr(firm, "behaviour", None)
    terms = Terms(own_cost, None, subsidy_kind, BestResponse() if own_behaviour is None else own_behaviour)
    counted = _as_counts(population)
    world: World
    if counted is None:
        classifier: SelfSelectionClassifier = as_firm(firm, own_cost, publish, own_behaviour)
        world = RowsWorld(population, initial, classifier, retraining, rng)
    else:
        if isinstance(initial, pd.DataFrame | CountCurves):
            initial = _as_counts(initial)
        if isinstance(firm, str) or (not isinstance(firm, int | float | dict) and not hasattr(firm, "thresholds")):
            raise TypeError(
                f"firm must be a threshold, FixedThreshold or BestThreshold for a population of counts, got {firm!r}."
            )
        publishing = TrainingSet() if publish is None else publish
        statistic = publishing if hasattr(publishing, "value") else as_publishing(publishing).statistic
        world = CountedWorld(counted, initial, firm, statistic, retraining)
    paid = check_nonnegative(price, "price")
    run = Run(world, terms, subsidies, chosen, labels, explored, entry, paid, rng)
    return run.play(rounds, progress=progress)


def _as_counts(population: Any) -> CountedPopulation | None:
    if isinstance(population, CountCurves):
        return CountedPopulation.from_curves(population)
    if isinstance(population, pd.DataFrame):
        return CountedPopulation.from_frame(population)
    return population if isinstance(population, CountedPopulation) else None
