import socket
import subprocess
import sys
import time

from invented import SMALL_COSTS
from selfselect.reproduction import Cell, Store
from selfselect.reproduction.sweep.leases import LEASE_SECONDS


def test_a_fit_is_leased_once_and_comes_back_when_given_up(tmp_path):
    cells = [Cell("adult", "naive", cost, 0) for cost in SMALL_COSTS]
    with Store(tmp_path / "a.sqlite") as first, Store(tmp_path / "a.sqlite") as second:
        assert first.leases.take(cells[:1]) == cells[:1]
        assert second.leases.take(cells) == cells[1:]
        assert second.leases.under_way() == set(cells)
        first.leases.release()
        assert second.leases.take(cells) == cells[:1]


def test_leases_of_a_dead_process_are_void_at_once_and_those_of_a_silent_host_after_their_time(tmp_path):
    cells = [Cell("adult", "naive", 0.7, split) for split in range(2)]
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    child.wait()
    with Store(tmp_path / "a.sqlite") as store:
        row = "INSERT INTO owners VALUES (?, ?, ?, ?, ?)"
        store.database.connection.execute(row, ("dead", socket.gethostname(), child.pid, "1", time.time()))
        store.database.connection.execute(row, ("away", "another-host", 1, "1", time.time()))
        for owner, cell in zip(("dead", "away"), cells, strict=True):
            store.database.connection.execute("INSERT INTO leases VALUES (?, ?, ?, ?, ?)", (*cell.key, owner))
        assert store.leases.take(cells) == cells[:1]
        store.database.connection.execute(
            "UPDATE owners SET heard = ? WHERE owner = 'away'", (time.time() - LEASE_SECONDS - 1,)
        )
        assert store.leases.take(cells) == cells[1:]


def test_a_lease_of_nobody_keeps_nobody_waiting(tmp_path):
    cell = Cell("adult", "naive", 0.7, 0)
    with Store(tmp_path / "a.sqlite") as store:
        store.database.connection.execute("INSERT INTO leases VALUES (?, ?, ?, ?, ?)", (*cell.key, "nobody"))
        assert store.leases.under_way() == set()
        assert store.leases.take([cell]) == [cell]
        assert store.leases.under_way() == {cell}
