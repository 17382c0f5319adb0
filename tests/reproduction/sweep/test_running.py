import threading

import pytest

from selfselect.reproduction import InProcess, Store, run_sweep


# filters of warnings are shared by all threads: what one has put aside, another may bring back
@pytest.mark.filterwarnings("ignore::selfselect.ApplicationWarning")
def test_two_sweeps_on_one_store_do_no_work_twice(small_plan, reference, tmp_path):
    done = {}

    def sweep(name):
        with Store(tmp_path / "shared.sqlite") as store:
            done[name] = run_sweep(small_plan, store, InProcess(), poll=0.05)

    threads = [threading.Thread(target=sweep, args=(name,)) for name in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(done.values()) == len(reference)
    assert min(done.values()) > 0
    with Store(tmp_path / "shared.sqlite") as store:
        assert store.contents() == reference
