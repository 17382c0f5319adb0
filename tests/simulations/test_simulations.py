"""Short versions of the simulations, and the harness itself."""

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from simulations.__main__ import main
from simulations.intervals import interval
from simulations.logs import LOGS, log_intervals
from simulations.page import BARS, Results
from simulations.populations import POPULATIONS, Population, World
from simulations.promises import METHODS, Refused, fit, given, promise
from simulations.run import Cell, plan_cells, read_results, run, simulate, summarise_promises


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.parametrize("base_rate", [0.05, 0.5, 0.95])
def test_a_population_has_its_base_rate(base_rate):
    people = [World(Population(40, 500, 1, 1.0, base_rate=base_rate), rng(i)).draw(rng(i)) for i in range(5)]
    assert np.mean([each.y.mean() for each in people]) == pytest.approx(base_rate, abs=0.05)


def test_the_truth_equals_the_precision_of_very_many_people():
    population = Population(3, 100_000, 2, 0.5, weights="label", slope=2.0)
    world = World(population, rng(1))
    people = world.draw(rng(2))
    passed = people.weight * (people.X[:, 0] > 0.3)
    hits, selected = (np.bincount(people.group, part) for part in (passed * people.y, passed))
    on_a_grid = world.totals_at(np.full(3, 0.3))
    X, group = world.new_people(np.arange(3), rng(3))
    on_new_people = world.totals(X[:, 0], group, X[:, 0] > 0.3)
    for totals in (on_a_grid, on_new_people):
        np.testing.assert_allclose(totals["hits"] / totals["passed"], hits / selected, atol=0.01)


def test_repeated_people_come_in_pairs_and_ties_are_whole_numbers():
    people = World(Population(3, 20, twice=True, person=True, ties=True), rng()).draw(rng())
    assert (people.X[0::2] == people.X[1::2]).all()
    assert (np.bincount(people.person) == 2).all()
    assert (np.round(people.X) == people.X).all()


def test_rows_of_one_person_are_told_or_the_cell_is_refused():
    people = World(Population(3, 20, twice=True, person=True), rng()).draw(rng())
    assert given(people, lambda person: None)["person"] is people.person
    with pytest.raises(Refused, match="person="):
        given(people, lambda: None)


def test_thresholds_of_all_groups_let_in_whomever_they_can():
    population = Population(4, 500, 1, slope=3.0)
    people = World(population, rng()).draw(rng())
    assert fit("thresholds, all groups", people, population, "default").applies().all()
    assert fit("thresholds", people, population, "default").applies().sum() == 1


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("publish", ["default", "guarantee"])
def test_every_classifier_keeps_promises_that_are_easy_to_keep(method, publish):
    found = promise(Population(3, 800, 2, slope=6.0, cost=0.7), method, publish, rng())
    assert 0 < found["told"] <= found["published"] <= 3
    assert found["broken"] == 0


def promises(method, publish, repeats=15):
    population = POPULATIONS["40 groups of 25, 20 features, spread 0.5"]
    return summarise_promises(pd.DataFrame([promise(population, method, publish, rng(i)) for i in range(repeats)]))


@pytest.mark.parametrize("method", ["semi", "thresholds"])
def test_few_told_groups_are_disappointed_by_default(method):
    value, se = promises(method, "default")["broken_mean"]
    assert value <= 0.1 + 3 * max(se, np.sqrt(0.09 / 15))


@pytest.mark.parametrize("method", ["naive", "semi", "thresholds"])
def test_a_promise_under_the_guarantee_is_rarely_broken(method):
    assert promises(method, "guarantee")["any_broken"][0] <= 0.1 + 3 * np.sqrt(0.09 / 15)


@pytest.mark.parametrize("kind", ["audit", "new people", "compare", "impact", "frontier", "plan"])
def test_every_kind_of_interval_gives_its_measures(kind):
    found = interval(kind, Population(3, 300, 1, 1.0, cost=0.7, weights="lognormal"), rng(3))
    assert set(found) == {measure for each, measure in BARS if each == kind}
    assert all(-1 <= value <= 1 for value in found.values())


@pytest.mark.parametrize(
    "name", ["3 periods, 4 groups of 500, weak response", "1 period, 8 groups of 500, common cost"]
)
def test_costs_of_a_log_are_covered(name):
    found = pd.DataFrame([log_intervals(LOGS[name], rng(i)) for i in range(40)])
    assert set(found) == {"cost", "scale", "no_end", "half_width"}
    assert found["cost"].mean() >= 0.93 - 3 * np.sqrt(0.07 / 40)


def test_a_finished_cell_is_skipped_and_the_important_cells_come_first(tmp_path):
    assert plan_cells(20)[0] == Cell("promise", "40 groups of 25, 20 features", "naive", "default", 20)
    cells, out = plan_cells(4, "plan,3 groups"), tmp_path / "some.csv"
    assert (run(cells, out, 1), run(cells, out, 1)) == (1, 0)
    assert set(read_results(out)["measure"]) == {"simulated", "seconds", "enough"}


def test_seeds_repeat():
    (cell,) = plan_cells(4, "audit,3 groups")
    one, other = ([row for row in simulate(cell) if "seconds" not in row] for _ in range(2))
    assert one == other


def test_the_page_marks_what_misses_its_bar(tmp_path):
    out, page = str(tmp_path / "some.csv"), tmp_path / "page.md"
    for name in (
        "promise,40 groups of 25, 20 features,naive",
        "generosity,40 groups of 25, precision",
        "plan,3 groups",
    ):
        assert (
            CliRunner().invoke(main, ["run", "--name", name, "--repeats=4", "--workers=1", "--out", out]).exit_code == 0
        )
    assert CliRunner().invoke(main, ["page", "--results", out, "--out", str(page)]).exit_code == 0
    assert "at least 18" in page.read_text()
    row = {"kind": "compare", "population": "p", "method": "", "publish": "", "se": 0.01, "note": ""}
    shares = {"simulated": 400, "social_cost": 0.09, "application_rate": 0.2}
    results = Results(pd.DataFrame([row | {"measure": name, "value": value} for name, value in shares.items()]))
    assert results.share("social_cost", "compare", "p", "", "") == "9.0% ± 1.0"
    assert results.share("application_rate", "compare", "p", "", "") == "**20.0% ± 1.0**"
    assert (results.missed, results.judged) == (1, 2)
