"""Sweeps that have a store open, in this process or in another one, and what can happen to them."""

import multiprocessing
import os
import signal
from operator import attrgetter

from selfselect.reproduction import Store

#: Processes are forked from one that has loaded everything, and no thread.
FORKS = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
PROCESSES = multiprocessing.get_context(FORKS)
PROCESSES.set_forkserver_preload(["selfselect.reproduction"])


def opened(path):
    """A store that does not wait for the disk: no power is cut here."""
    store = Store(path)
    store.database.connection.execute("PRAGMA synchronous = OFF")
    return store


class Here:
    """A sweep of this process."""

    def __init__(self, path):
        self.store = opened(path)

    def ask(self, name, *arguments):
        """What something of the store is, or gives."""
        return answer_of(self.store, name, arguments)

    def crash(self):
        """Killed, as far as that goes: its notes say that its process is no more."""
        dead = "UPDATE owners SET process = 'gone' WHERE owner = ?"
        self.store.database.connection.execute(dead, (self.store.leases.owner,))
        self.store.database.close()

    def crash_while_writing(self, results):
        """Interrupted when all is written but not yet stored."""

        def until_interrupted():
            yield from results
            raise KeyboardInterrupt

        try:
            self.store.write(until_interrupted())
        except KeyboardInterrupt:
            self.crash()
        else:
            raise AssertionError("the interruption was lost")

    def end(self):
        """Give everything back and leave."""
        self.store.close()


class Elsewhere:
    """A sweep of a process of its own."""

    def __init__(self, path):
        self.wire, theirs = PROCESSES.Pipe()
        self.process = PROCESSES.Process(target=_serve, args=(theirs, os.fspath(path)), daemon=True)
        self.process.start()
        theirs.close()
        self.wire.recv()  # it has the store open

    def ask(self, name, *arguments):
        """What something of the store is, or gives."""
        self.wire.send((name, arguments))
        answer = self.wire.recv()
        if isinstance(answer, Exception):
            raise answer
        return answer

    def crash(self):
        """Killed."""
        os.kill(self.process.pid, signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)
        self._left()

    def crash_while_writing(self, results):
        """Killed by its own hand when all is written but not yet stored."""
        self.wire.send(("crash while writing", (results,)))
        self._left()
        if self.process.exitcode != -signal.SIGKILL:
            raise AssertionError(f"the process ended with {self.process.exitcode}")

    def end(self):
        """Give everything back and leave."""
        self.ask("close")
        self.wire.send(("end", ()))
        self._left()

    def _left(self):
        self.process.join(60)
        self.wire.close()


def answer_of(store, name, arguments):
    """Value of an attribute of a store, or what it returns; of a statement nothing."""
    found = attrgetter(name)(store)
    if not callable(found):
        return found
    answer = found(*arguments)
    return None if name.endswith(".execute") else answer


def _serve(wire, path):
    store = opened(path)
    wire.send("ready")
    while True:
        name, arguments = wire.recv()
        if name == "end":
            return
        if name == "crash while writing":
            store.write(_until_killed(*arguments))
        try:
            wire.send(answer_of(store, name, arguments))
        except Exception as error:
            wire.send(error)


def _until_killed(results):
    yield from results
    os.kill(os.getpid(), signal.SIGKILL)
