"""Results as a table that a repository can keep."""

import gzip
import random
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest

from invented import invented
from selfselect.reproduction import Cell, Store, StoreError
from selfselect.reproduction.sweep import exchange
from selfselect.reproduction.sweep.exchange import exported, read_results
from selfselect.reproduction.sweep.results import metrics_from_counts
from selfselect.tabular import csv_files, text_blocks


@pytest.mark.parametrize("name", ["results.csv", "results.csv.gz"])
def test_what_is_exported_is_read_again_as_it_was_stored(small_store, small_results, tmp_path, name):
    path = tmp_path / name
    path.write_bytes(exported(small_results, compress=name.endswith(".gz")))
    assert read_results(path) == small_results  # seconds apart, which are rounded and not compared
    assert read_results(small_store) == small_results  # a store is read by the same name


def test_equal_results_make_equal_files_in_any_order(small_results):
    assert exported(small_results, compress=True) == exported(reversed(small_results), compress=True)


def test_what_was_published_on_other_people_comes_back_with_who_applies_by_it(small_results, tmp_path):
    path, first = tmp_path / "r.csv", small_results[0]
    published = {name: [count - count % 2 for count in counts] for name, counts in first.train_counts.items()}
    applies = tuple(not each for each in first.applies)
    on_train, on_test = metrics_from_counts(
        first.groups, published, first.train_counts, first.test_counts, list(applies)
    )
    told = replace(
        first,
        cell=Cell("adult", "naive_honest", 0.7, 0),
        published_counts=published,
        applies=applies,
        train_metrics=on_train,
        test_metrics=on_test,
    )
    assert published != first.train_counts
    path.write_bytes(exported([told]))
    assert read_results(path) == [told]


def test_files_that_are_none_of_ours_are_refused_by_name_and_line(small_results, tmp_path):
    path = tmp_path / "r.csv"
    with pytest.raises(StoreError, match="Cannot read results"):
        read_results(path)
    path.write_text("dear diary\n")
    with pytest.raises(StoreError, match="its columns are others"):
        read_results(path)
    lines = exported(small_results[:2]).decode().splitlines()
    path.write_text("\n".join([lines[0], lines[1], lines[2].replace("[", "", 1)]))
    with pytest.raises(StoreError, match="row 3: the row is damaged"):
        read_results(path)


def test_a_file_that_grows_without_end_is_refused_while_it_is_read(small_results, tmp_path, monkeypatch):
    packed, header = tmp_path / "r.csv.gz", exported([])
    for module in (csv_files, text_blocks):
        monkeypatch.setattr(module, "LONGEST_LINE", 2**18)
    monkeypatch.setattr(csv_files, "BLOCK_BYTES", 2**18)
    packed.write_bytes(gzip.compress(header + b"9" * 2**25))
    tracemalloc.start()
    try:
        with pytest.raises(StoreError, match=r"r\.csv\.gz, row 2: a line of more than 262,144 characters"):
            read_results(packed)
        assert tracemalloc.get_traced_memory()[1] < 2**24  # half of what it holds
    finally:
        tracemalloc.stop()
    content = exported(small_results)
    monkeypatch.setattr(exchange, "MOST_BYTES", len(content))
    packed.write_bytes(gzip.compress(content))
    assert read_results(packed) == small_results
    packed.write_bytes(gzip.compress(content + b"\n"))
    with pytest.raises(StoreError, match=rf"r\.csv\.gz: decompressed, it holds more than {len(content):,} bytes"):
        read_results(packed)


def test_an_exported_file_that_is_damaged_is_refused_by_name(small_results, tmp_path):
    path = tmp_path / "r.csv"
    (header, row) = exported(small_results[:1]).decode().splitlines()
    for damaged in (row.replace("[", "[-", 4), row.replace("]", ",5]", 3), row.replace('"', "", 1), row[:40], "\0"):
        path.write_text(f"{header}\n{damaged}\n")
        with pytest.raises(StoreError, match=r"r\.csv, row 2: "):
            read_results(path)
    packed, content, chance = tmp_path / "r.csv.gz", exported(small_results, compress=True), random.Random(0)
    for place in chance.sample(range(8 * 10, 8 * len(content)), 40):  # after the head, which holds no results
        damaged = bytearray(content)
        damaged[place // 8] ^= 1 << place % 8
        packed.write_bytes(damaged)
        with pytest.raises(StoreError, match=r"r\.csv\.gz(, row \d+)?: "):
            read_results(packed)


KEPT = Path(__file__).parents[3] / "docs" / "reproduction"


@pytest.mark.skipif(not KEPT.exists(), reason="only the repository has them")
@pytest.mark.parametrize("name", ["descent", "parity", "promises", "splits"])
def test_the_files_that_the_repository_keeps_are_read(name):
    assert len(read_results(KEPT / f"{name}.csv.gz")) > 100


def test_metrics_follow_from_the_counts_again(small_results, tmp_path):
    made = invented(small_results[0], Cell("adult", "strat_x_descent", 0.7, 3), [40, 0], [30, 0])
    path = tmp_path / "r.csv"
    path.write_bytes(exported([made]))
    (read,) = read_results(path)
    assert read == made
    with Store(tmp_path / "s.sqlite") as store:
        store.write([read])
        assert store.results() == [made]
