"""Environments for reinforcement learning: one firm (Gymnasium), or several that share a population (PettingZoo).

They need the extra ``simulate``. The population is a :class:`CountedPopulation`, so that a round takes well under a
millisecond. A firm acts by a threshold and a subsidy for each group; it sees what it would publish.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import gymnasium
import numpy as np
import pandas as pd
from gymnasium.spaces import Box
from numpy.typing import NDArray
from pettingzoo import ParallelEnv

from .._validation import FloatArray, check_whole
from ..behaviour import Behaviour, BestResponse
from ..costs import Cost, Terms
from ..counting import CountCurves
from ..statistics import SLACK
from .counted import CountedPopulation, CountedWorld, as_counts
from .history import History, Round
from .retraining import Retraining
from .rounds import Opened, Run


class _Chosen:
    """Thresholds of the last action."""

    def __init__(self, thresholds: FloatArray) -> None:
        self.chosen = thresholds

    def thresholds(self, labelled: CountedPopulation) -> FloatArray:
        return self.chosen


class _Firms:
    """Firms that share a population, from action to action."""

    def __init__(
        self,
        population: CountedPopulation | CountCurves | pd.DataFrame,
        cost: Cost,
        *,
        n_firms: int = 1,
        rounds: int = 20,
        behaviour: Behaviour | None = None,
        initial: Any = 0.3,
        publish: Any = None,
        retrain: str | Retraining = "all",
        **settings: Any,
    ) -> None:
        people = as_counts(population)
        if people is None:
            raise TypeError(f"population must be counts per group and score, got {type(population).__name__}.")
        self.groups, self.size = people.groups, float(people.n.sum())
        self.lowest, self.highest = float(people.score.min()), float(people.score.max())
        self.rounds, n = check_whole(rounds, "rounds", 1), len(people.groups)
        terms = Terms(cost, None, "proportional", BestResponse() if behaviour is None else behaviour)

        def firm() -> Run:
            chosen = _Chosen(np.full(n, -np.inf))
            world = CountedWorld(people, chosen, initial=initial, publish=publish, retrain=retrain)
            world.model = chosen.chosen
            return Run(world, terms, **settings)

        self.first = [firm() for _ in range(check_whole(n_firms, "n_firms", 1))]
        self.action_space = Box(0.0, 1.0, (2 * n,), np.float64)
        self.observation_space = Box(0.0, self.size, (2 * n,), np.float64)

    def start(self) -> list[NDArray[np.float64]]:
        """Begin anew; what each firm knows of everybody who has a label."""
        self.runs: list[Run] = [run.copy() for run in self.first]
        self.played: list[list[Round]] = [[] for _ in self.runs]
        return [self.observe(run) for run in self.runs]

    def act(self, actions: Sequence[NDArray[Any]]) -> tuple[list[NDArray[np.float64]], list[float]]:
        """Play a round; what each firm sees afterwards, and its utility per person of the population."""
        size, opened = len(self.groups), []
        for run, action in zip(self.runs, actions, strict=True):
            given = np.clip(np.asarray(action, dtype=np.float64), 0.0, 1.0)
            between = self.lowest + given[:size] * (self.highest - self.lowest)
            run.world.firm = _Chosen(np.where(given[:size] > 0, between, -np.inf))
            run.subsidies = pd.Series(given[size:], index=self.groups)
            run.costs = None
            opened.append(run.open())
        shares = go_to_the_best(opened)
        rewards = []
        for run, one, share, played in zip(self.runs, opened, shares, self.played, strict=True):
            played.append(run.close(one, share))
            totals = History(self.groups, (played[-1],), run.price).totals()
            rewards.append(float(totals["firm_utility"].iloc[0]) / self.size)
        return [self.observe(run) for run in self.runs], rewards

    def observe(self, run: Run) -> NDArray[np.float64]:
        """Selected people with a label and true positives of each group, which the firm would publish now."""
        world: Any = run.world
        world.retrain(run.number + 1, np.empty(0))
        counts = world.published().counts
        seen = np.concatenate([counts.selected, counts.true_positives])
        return np.asarray(np.clip(seen, 0.0, self.size), dtype=np.float64)

    def history(self, firm: int = 0) -> History:
        """All rounds of a firm so far."""
        return History(self.groups, tuple(self.played[firm]), self.first[firm].price)


def go_to_the_best(opened: Sequence[Opened]) -> list[FloatArray]:
    """Shares of the groups that apply to each firm: people choose the firm of the largest gain, then whether to apply.

    The gain is what they believe less their cost. Groups divide equally among firms that are equally good.
    """
    if len(opened) == 1:
        return [opened[0].shares]
    gain = np.array([np.where(np.isnan(one.believed), -np.inf, one.believed - one.cost) for one in opened])
    best = (gain >= gain.max(axis=0) - SLACK) & np.isfinite(gain)
    divided = best / np.maximum(best.sum(axis=0), 1)
    return [share * one.shares for share, one in zip(divided, opened, strict=True)]


class ScreeningEnv(gymnasium.Env[NDArray[np.float64], NDArray[np.float64]]):
    """A firm that sets thresholds and subsidies in each round, as a Gymnasium environment.

    An action has a threshold for each group, from 0 (everybody passes) over the range of scores to 1 (nobody passes),
    and then a subsidy for each group as a share of its cost. An observation has, for each group, the selected people
    with a known label and the true positives among them: the counts that the firm would publish at its last thresholds.
    The reward is the utility of the firm, divided by the number of people.

    Parameters
    ----------
    population : CountedPopulation or DataFrame
        Counts per group and score.
    cost : float or mapping from group to float
        Cost of the test.
    rounds : int, default=20
        Rounds of an episode.
    **settings
        ``behaviour``, ``beliefs``, ``labels``, ``exploration``, ``retrain``, ``initial``, ``publish`` and ``price``, as
        in :func:`simulate`.

    Examples
    --------
    >>> cells = {"group": list("AABB"), "score": [1, 2, 1, 2], "n": [50, 50, 80, 20], "positives": [10, 45, 8, 15]}
    >>> env = ScreeningEnv(pd.DataFrame(cells), cost=0.7, rounds=2)
    >>> _ = env.reset(seed=0)
    >>> _, reward, _, truncated, info = env.step(np.array([0.5, 0.5, 0.0, 0.0]))
    >>> info["share"].tolist(), round(reward, 3), truncated
    ([1.0, 1.0], 0.21, False)
    """

    metadata = {"render_modes": []}  # noqa: RUF012

    def __init__(
        self, population: CountedPopulation | pd.DataFrame, cost: Cost, *, rounds: int = 20, **settings: Any
    ) -> None:
        self._firms = _Firms(population, cost, rounds=rounds, **settings)
        self.action_space, self.observation_space = self._firms.action_space, self._firms.observation_space

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float64], dict[str, Any]]:
        """Begin with the first labelled sample."""
        super().reset(seed=seed)
        return self._firms.start()[0], {}

    def step(self, action: NDArray[np.float64]) -> tuple[NDArray[np.float64], float, bool, bool, dict[str, Any]]:
        """Play a round."""
        (seen,), (reward,) = self._firms.act([action])
        played = self._firms.played[0]
        return seen, reward, False, len(played) >= self._firms.rounds, {"share": played[-1].share}

    def history(self) -> History:
        """All rounds of this episode so far."""
        return self._firms.history()


class MarketEnv(ParallelEnv[str, NDArray[np.float64], NDArray[np.float64]]):
    """Several firms that share one population, as a parallel PettingZoo environment.

    Each person chooses the firm of the largest gain, and then whether to apply to it. Each firm sees only the labels of
    its own applicants. Actions, observations and rewards of a firm are those of :class:`ScreeningEnv`. With one firm
    the rounds are those of :func:`simulate`.

    Parameters
    ----------
    population, cost, rounds, **settings
        As in :class:`ScreeningEnv`.
    n_firms : int, default=2
        Number of firms: ``firm_0``, ``firm_1``, ...

    Examples
    --------
    >>> cells = {"group": list("AABB"), "score": [1, 2, 1, 2], "n": [50, 50, 80, 20], "positives": [10, 45, 8, 15]}
    >>> env = MarketEnv(pd.DataFrame(cells), cost=0.7, rounds=2)
    >>> _ = env.reset(seed=0)
    >>> strict, lax = np.array([0.5, 0.5, 0.0, 0.0]), np.zeros(4)
    >>> _, rewards, _, _, infos = env.step({"firm_0": strict, "firm_1": lax})
    >>> infos["firm_0"]["share"].tolist(), infos["firm_1"]["share"].tolist()
    ([1.0, 1.0], [0.0, 0.0])
    """

    metadata: ClassVar[dict[str, Any]] = {"name": "selfselect_market_v0", "render_modes": []}

    def __init__(
        self,
        population: CountedPopulation | pd.DataFrame,
        cost: Cost,
        *,
        n_firms: int = 2,
        rounds: int = 20,
        **settings: Any,
    ) -> None:
        self._firms = _Firms(population, cost, n_firms=n_firms, rounds=rounds, **settings)
        self.possible_agents = [f"firm_{i}" for i in range(n_firms)]
        self.agents: list[str] = []
        self.action_spaces = dict.fromkeys(self.possible_agents, self._firms.action_space)
        self.observation_spaces = dict.fromkeys(self.possible_agents, self._firms.observation_space)

    def observation_space(self, agent: str) -> Box:
        """Space of what a firm sees."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Box:
        """Space of what a firm does."""
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, NDArray[np.float64]], dict[str, Any]]:
        """Begin with the first labelled sample, the same for all firms."""
        self.agents = list(self.possible_agents)
        return dict(zip(self.agents, self._firms.start(), strict=True)), {agent: {} for agent in self.agents}

    def step(self, actions: dict[str, NDArray[np.float64]]) -> tuple[dict[str, Any], ...]:
        """Play a round."""
        agents = self.agents
        seen, rewards = self._firms.act([actions[agent] for agent in agents])
        over = len(self._firms.played[0]) >= self._firms.rounds
        infos = {agent: {"share": played[-1].share} for agent, played in zip(agents, self._firms.played, strict=True)}
        self.agents = [] if over else agents
        return (
            dict(zip(agents, seen, strict=True)),
            dict(zip(agents, rewards, strict=True)),
            dict.fromkeys(agents, False),
            dict.fromkeys(agents, over),
            infos,
        )

    def history(self, agent: str) -> History:
        """All rounds of a firm in this episode so far."""
        return self._firms.history(self.possible_agents.index(agent))
