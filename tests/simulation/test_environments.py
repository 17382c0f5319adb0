"""Environments for Gymnasium and PettingZoo."""

import numpy as np
import pandas as pd
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import parallel_api_test

from selfselect.behaviour import LogitResponse
from selfselect.datasets import fetch_fico
from selfselect.simulation import simulate
from selfselect.simulation.environments import MarketEnv, ScreeningEnv

CELLS = fetch_fico().frame
#: A threshold of 30 for each of the four groups, and no subsidy.
THIRTY = np.array([0.3] * 4 + [0.0] * 4)


@pytest.mark.filterwarnings("ignore:.*alternative render modes")
@pytest.mark.parametrize("settings", [{}, {"exploration": 0.1, "behaviour": LogitResponse(0.05), "price": 0.2}])
def test_gymnasium_accepts_the_environment(settings):
    check_env(ScreeningEnv(CELLS, cost=0.7, rounds=5, **settings))


@pytest.mark.parametrize("n_firms", [1, 3])
def test_pettingzoo_accepts_the_market(n_firms):
    parallel_api_test(MarketEnv(CELLS, cost=0.7, n_firms=n_firms, rounds=7), num_cycles=30)


@pytest.mark.parametrize("settings", [{}, {"exploration": 0.1, "behaviour": LogitResponse(0.05), "price": 0.2}])
def test_one_firm_equals_the_simulation(settings):
    expected = simulate(CELLS, 30.0, cost=0.7, rounds=8, **settings)
    market = MarketEnv(CELLS, cost=0.7, n_firms=1, rounds=8, **settings)
    market.reset()
    while market.agents:
        market.step({"firm_0": THIRTY})
    pd.testing.assert_frame_equal(market.history("firm_0").to_frame(), expected.to_frame())
    alone, rewards, over = ScreeningEnv(CELLS, cost=0.7, rounds=8, **settings), [], False
    alone.reset()
    while not over:
        _, reward, _, over, _ = alone.step(THIRTY)
        rewards.append(reward)
    pd.testing.assert_frame_equal(alone.history().to_frame(), expected.to_frame())
    assert rewards == pytest.approx((expected.totals()["firm_utility"] / CELLS["n"].sum()).tolist())


def test_subsidies_are_shares_of_the_cost():
    env = ScreeningEnv(CELLS, cost=0.6, rounds=1)
    env.reset()
    env.step(np.array([0.199] * 4 + [0.0, 0.5, 0.0, 0.0]))
    assert env.history().to_frame().set_index("group")["cost"].to_dict() == pytest.approx(
        {"Asian": 0.6, "Black": 0.3, "Hispanic": 0.6, "White": 0.6}
    )


def test_people_go_to_the_better_firm_and_divide_between_equal_ones():
    market = MarketEnv(CELLS, cost=0.7, n_firms=3, rounds=3)
    market.reset()
    lax = np.zeros(8)
    *_, infos = market.step({"firm_0": THIRTY, "firm_1": THIRTY, "firm_2": lax})
    assert [infos[f"firm_{i}"]["share"].tolist() for i in range(3)] == [[0.5] * 4, [0.5] * 4, [0.0] * 4]
    *_, infos = market.step({"firm_0": THIRTY, "firm_1": np.append(THIRTY[:4], [0.1] * 4), "firm_2": lax})
    assert [infos[f"firm_{i}"]["share"].tolist() for i in range(3)] == [[0.0] * 4, [1.0] * 4, [0.0] * 4]


def test_episodes_begin_alike():
    env = ScreeningEnv(CELLS, cost=0.7, rounds=2)
    first, _ = env.reset(seed=1)
    env.step(THIRTY)
    again, _ = env.reset(seed=1)
    np.testing.assert_array_equal(first, again)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"labels": "some"}, "labels must be one of"),
        ({"exploration": 2}, "exploration must lie in"),
        ({"retrain": "never"}, "retrain must be one of"),
        ({"rounds": 0}, "rounds must be a whole number"),
        ({"population": [1]}, "population must be counts"),
    ],
)
def test_wrong_settings_are_named(settings, words):
    with pytest.raises((TypeError, ValueError), match=words):
        ScreeningEnv(**{"population": CELLS, "cost": 0.7, **settings})
