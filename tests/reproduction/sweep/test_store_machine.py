"""Two sweeps of two processes on one store, whatever happens to them: nothing is lost, nothing is there twice."""

import os
import tempfile
from dataclasses import replace
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from invented import invented
from older import make_older
from selfselect.reproduction import Cell, Result, Store, StoreError, repair
from sweeping import Elsewhere, Here

#: Stories that are told; more of them, and longer ones, by SELFSELECT_STORIES.
STORIES = int(os.environ.get("SELFSELECT_STORIES", "30"))
CELLS = [Cell("people", method, cost, split) for method in ("a", "b") for cost in (0.7, 0.8) for split in range(2)]
SWEEPS = {"one": Here, "two": Elsewhere}
FIRST = Result(
    CELLS[0], seed=0, configuration={"parity": 0.0}, package_version="0", data_hash="0", groups=(), train_counts={},
    test_counts={}, train_metrics={}, test_metrics={}, published_counts={}, applies=(), seconds=1.0,
)  # fmt: skip

sweeps = st.sampled_from(list(SWEEPS))
some_cells = st.lists(st.sampled_from(CELLS), min_size=1, max_size=4, unique=True)


def fit(cell):
    """What a fit of a cell gives, whoever makes it."""
    place = CELLS.index(cell)
    return invented(FIRST, cell, [40, 40 - place], [34, 20])


class TwoSweeps(RuleBasedStateMachine):
    """What the store does, beside what it should do in plain sets."""

    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "a.sqlite"
        self.written, self.damaged = set(), set()
        self.start_again()

    def teardown(self):
        self.end_both()
        self.folder.cleanup()

    def end_both(self):
        for sweep in self.sweeps.values():
            sweep.end()

    def other(self, name):
        return "two" if name == "one" else "one"

    # -------------------------------------------------------------- what sweeps do

    @precondition(lambda self: not self.damaged)
    @rule(name=sweeps, cells=some_cells)
    def take(self, name, cells):
        taken = self.sweeps[name].ask("leases.take", cells)
        free = set(cells) - self.written - self.leased["one"] - self.leased["two"]
        assert set(taken) == free
        assert len(taken) == len(free)
        self.leased[name] |= free
        self.in_hand[name] |= free

    @precondition(lambda self: not self.damaged)
    @rule(name=sweeps, data=st.data())
    def write(self, name, data):
        if not self.in_hand[name]:
            return
        cells = data.draw(st.lists(st.sampled_from(sorted(self.in_hand[name])), min_size=1, unique=True))
        assert self.sweeps[name].ask("write", list(map(fit, cells))) == len(set(cells) - self.written)
        self.written |= set(cells)
        self.in_hand[name] -= set(cells)
        for leased in self.leased.values():
            leased -= set(cells)

    @rule(name=sweeps)
    def give_up(self, name):
        self.sweeps[name].ask("leases.release")
        self.leased[name] = set()

    @rule(name=sweeps)
    def fall_silent(self, name):
        """Stopped for more than a minute: the leases are void, the results still in hand."""
        sweep, other = self.sweeps[name], self.sweeps[self.other(name)]
        change = "UPDATE owners SET heard = heard - 61 WHERE owner = ?"
        sweep.ask("database.connection.execute", change, (sweep.ask("leases.owner"),))
        assert not other.ask("leases.under_way") & self.leased[name]
        other.ask("leases.take", CELLS[:1])  # finds out
        other.ask("leases.release")
        self.leased = {each: set() for each in SWEEPS}

    # -------------------------------------------------------------- what happens to them

    @rule(name=sweeps)
    def crash(self, name):
        """Killed: nothing is given back, nothing in hand is left, and another starts."""
        self.sweeps[name].crash()
        self.start_one_again(name)

    @precondition(lambda self: not self.damaged)
    @rule(name=sweeps, cells=some_cells)
    def crash_while_writing(self, name, cells):
        self.sweeps[name].crash_while_writing(list(map(fit, cells)))
        self.start_one_again(name)

    def start_one_again(self, name):
        self.sweeps[name] = SWEEPS[name](self.path)
        self.leased[name], self.in_hand[name] = set(), set()

    @precondition(lambda self: not self.damaged and self.written)
    @rule(name=sweeps, data=st.data())
    def write_something_else(self, name, data):
        """The same fit with other numbers, together with one that would be new."""
        cell = data.draw(st.sampled_from(sorted(self.written)))
        new = [fit(each) for each in CELLS if each not in self.written][:1]
        with pytest.raises(StoreError, match="holds another result"):
            self.sweeps[name].ask("write", [*new, replace(fit(cell), data_hash="1")])

    @precondition(lambda self: self.written - self.damaged)
    @rule(
        data=st.data(),
        table=st.sampled_from(["results", "promises"]),
        change=st.sampled_from(["SET checksum = 'x'", "SET split = split + 100", None]),
    )
    def damage(self, data, table, change):
        cell = data.draw(st.sampled_from(sorted(self.written - self.damaged)))
        where = "WHERE dataset = ? AND method = ? AND cost = ? AND split = ?"
        statement = f"DELETE FROM {table}" if change is None else f"UPDATE {table} {change}"
        self.sweeps["one"].ask("database.connection.execute", f"{statement} {where}", cell.key)
        self.damaged.add(cell)

    @precondition(lambda self: self.damaged)
    @rule()
    def mend(self):
        """Both sweeps are ended, and the store is repaired."""
        self.end_both()
        done = repair(self.path)
        assert set(done.lost) == self.damaged
        assert done.kept == len(self.written - self.damaged)
        self.start_again()

    @precondition(lambda self: not self.damaged)
    @rule(promises=st.booleans())
    def come_from_before(self, promises):
        """Both sweeps are ended, and the store is as an older version would have left it."""
        self.end_both()
        make_older(self.path, promises=promises)
        with Store(self.path, read_only=True) as store:
            assert store.results() == [fit(cell) for cell in sorted(self.written)]
        self.start_again()

    def start_again(self):
        self.sweeps = {name: started(self.path) for name, started in SWEEPS.items()}
        self.written -= self.damaged
        self.damaged = set()
        self.leased = {name: set() for name in SWEEPS}
        self.in_hand = {name: set() for name in SWEEPS}  # fitted, perhaps after the lease was lost

    # -------------------------------------------------------------- what is always so

    @invariant()
    def nothing_is_lost_twice_there_or_another(self):
        for sweep in self.sweeps.values():
            if self.damaged:
                with pytest.raises(StoreError, match="is damaged"):
                    sweep.ask("results")
            else:
                assert sweep.ask("results") == [fit(cell) for cell in sorted(self.written)]
                assert sweep.ask("done") == self.written

    @invariant()
    def what_is_under_way_is_leased_by_one(self):
        assert not self.leased["one"] & self.leased["two"]
        for sweep in self.sweeps.values():
            assert sweep.ask("leases.under_way") == self.leased["one"] | self.leased["two"]


def test_whatever_two_sweeps_do_and_suffer_nothing_is_lost_and_nothing_there_twice():
    long = STORIES > 30
    run_state_machine_as_test(
        TwoSweeps, settings=settings(max_examples=STORIES, stateful_step_count=60 if long else 25, deadline=None)
    )
