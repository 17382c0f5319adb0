"""The loop over rounds: publish, believe, apply, test, learn."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from tqdm import tqdm

from .._notices import warn
from .._validation import FloatArray, check_choice, check_nonnegative, check_whole
from ..behaviour import Behaviour, BestResponse, evaluate_shares
from ..costs import Cost, Subsidies, SubsidyKind, Terms
from ..statistics import Published
from .beliefs import Beliefs, LastPublished, check_beliefs
from .counted import CountedWorld, as_counts
from .entry import Entry
from .exploration import Exploration, Labels
from .history import History, Round
from .retraining import Retraining
from .rows import RowsWorld, as_firm

#: Subsidies: the same in all rounds, or a function of the round's number.
RoundSubsidies = Subsidies | Callable[[int], Subsidies]


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

    world: CountedWorld | RowsWorld
    terms: Terms
    subsidies: RoundSubsidies = None
    beliefs: Beliefs = field(default_factory=LastPublished)
    labels: Labels = "selected"
    exploration: Any = 0.0
    entry: Entry | None = None
    price: float = 0.0
    rng: np.random.Generator = field(default_factory=np.random.default_rng)
    number: int = 0
    memory: Any = None
    last: Round | None = None
    #: Cost before and after subsidies, which only change if subsidies depend on the round.
    costs: tuple[FloatArray, FloatArray] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check_beliefs(self.beliefs)
        check_choice(self.labels, "labels", ("selected", "applicants", "all"))
        if not isinstance(self.exploration, Exploration):
            self.exploration = Exploration(self.exploration)
        if self.entry is not None and not hasattr(self.entry, "enter"):
            raise TypeError(f"entry must be an object with a method enter(outcome, pool, rng), got {self.entry!r}.")
        check_nonnegative(self.price, "price")

    def copy(self) -> Run:
        """The same state; worlds replace their arrays, so that a shallow copy of them is enough."""
        return replace(self, world=copy.copy(self.world), rng=copy.deepcopy(self.rng))

    def play(self, rounds: int, *, progress: bool = False) -> History:
        """Simulate some rounds."""
        check_whole(rounds, "rounds", 1)
        played: list[Round] = []
        stopped = ""
        for _ in tqdm(range(rounds), desc="rounds", leave=False, disable=None if progress else True):
            try:
                opened = self.open()
                played.append(self.close(opened, opened.shares))
            except Exception as error:  # whatever it is, the rounds so far are not lost
                if not self.number:
                    raise
                kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
                stopped = f"The simulation ends after round {self.number}. In the next round: {kind}{error}"
                break
            if not played[-1].share.any() and self._is_over():
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
        changes = self.exploration.share or self.entry is not None or callable(self.subsidies) or self.labels == "all"
        grows_old = getattr(self.world.retraining, "uses_age", True)  # labels may leave a window
        return not (changes or grows_old) and isinstance(self.beliefs, LastPublished)

    def open(self) -> Opened:
        """Retrain, publish, and let people decide."""
        number, world, last = self.number + 1, self.world, self.last
        if self.costs is None or callable(self.subsidies):
            paid = self.subsidies(number) if callable(self.subsidies) else self.subsidies
            terms = self.terms.with_subsidies(paid)
            self.costs = terms.listed_cost(world.groups), terms.effective_cost(world.groups)
        listed, cost = self.costs
        if last is not None:
            outcome = None
            if self.entry is not None:
                outcome = History(world.groups, (last,), self.price).to_frame().drop(columns="round")
                outcome = outcome.set_index(world.groups)
            world.enter(self.entry, outcome, self.rng)
        world.retrain(number, cost)
        published = world.published()
        delivered = None if last is None else last.delivered()
        beliefs, memory = self.beliefs.believe(published, delivered, self.memory)
        believed = np.asarray(beliefs, dtype=np.float64)
        if believed.shape != np.shape(published.value):
            raise ValueError(f"{self.beliefs!r} must return one belief for each group, got shape {believed.shape}.")
        seen = published if beliefs is published.value else published.with_value(believed)
        shares = evaluate_shares(self.terms.behaviour, seen, cost).astype(float)
        return Opened(published, believed, listed, cost, shares, memory)

    def close(self, opened: Opened, shares: FloatArray) -> Round:
        """Let shares of the groups apply, and find labels."""
        world, number = self.world, self.number + 1
        counts = world.counts()
        explored, found = world.learn(number, shares, self.labels, self.exploration, self.rng)
        subsidy = opened.listed - opened.cost
        self.last = Round(
            counts, opened.published.value, opened.believed, opened.listed, subsidy, shares, explored, found
        )
        self.number, self.memory = number, opened.memory
        return self.last


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
    subsidy_kind: SubsidyKind | None = None,
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
    cost, behaviour, subsidies, subsidy_kind : optional
        As in the classifiers of this package; by default those of the firm. Subsidies may also be a function from the
        number of the round (1, 2, ...) to subsidies.
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
        Seed of who applies and who is explored, and of a firm without a ``random_state`` of its own. The same seed
        gives the same history, bit by bit.
    progress : bool, default=False
        Show a progress bar on a terminal.

    Returns
    -------
    History
        With ``to_frame()``, ``totals()``, ``plot()``, ``to_html()`` and ``resume(rounds)``. If nobody is left, or an
        error occurs after the first round, it ends early and says why (``stopped``).

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
    own: dict[str, Any] = {"cost": cost, "behaviour": behaviour, "subsidies": subsidies, "subsidy_kind": subsidy_kind}
    own = {name: getattr(firm, name, None) if value is None else value for name, value in own.items()}
    counted, rng = as_counts(population), np.random.default_rng(random_state)
    if entry is not None and counted is None and callable(population):
        raise TypeError("entry adds people to a pool that stays; a sampler draws all people anew, so let it draw more.")
    world: CountedWorld | RowsWorld
    if counted is not None:
        world = CountedWorld(counted, firm, initial=initial, publish=publish, retrain=retrain)
    else:
        classifier = as_firm(firm, rng, cost=own["cost"], publish=publish, behaviour=own["behaviour"])
        world = RowsWorld(population, classifier, initial=initial, retrain=retrain, rng=rng)
    if own["cost"] is None:
        raise TypeError(
            "cost is missing: pass what being tested costs people, as a share of what being hired is worth."
        )
    behave = BestResponse() if own["behaviour"] is None else own["behaviour"]
    terms = Terms(own["cost"], None, own["subsidy_kind"] or "additive", behave)
    believe = LastPublished() if beliefs is None else beliefs
    run = Run(world, terms, own["subsidies"], believe, labels, exploration, entry, price, rng)
    return run.play(rounds, progress=progress)
