"""Damaged CSV and Parquet files: refused in our words, or counted as an independent, slow reading counts them."""

import csv
import gzip
import io
from collections import Counter
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from selfselect.tabular.reading import open_table

from fuzzing.damage import damaged, tried
from selfselect.tabular.errors import TableError
from selfselect.tabular.loading import DecisionColumn, PeopleColumns, read_screening_result

GROUPS = ["A", "B", "a b", "Käse", "山", "x;y", "x,y", 'say "so"', "two\nlines", "'", "0", "1.0", "=1"]


@dataclass
class Tally:
    """What became of the files that were tried."""

    tried: int = 0
    refused: int = 0
    read: int = 0
    compared: int = 0


def csv_bytes(rng):
    """A table of people as some program writes it."""
    n = int(rng.integers(3, 25))
    names = rng.choice(GROUPS, size=int(rng.integers(1, 5)), replace=False)
    rows = [[str(int(rng.random() < 0.5)), str(int(rng.random() < 0.5)), str(rng.choice(names))] for _ in range(n)]
    out = io.StringIO(newline="")
    end = rng.choice(["\n", "\r\n"])
    quoting = csv.QUOTE_ALL if rng.random() < 0.3 else csv.QUOTE_MINIMAL
    csv.writer(out, lineterminator=str(end), quoting=quoting).writerows([["y", "p", "g"], *rows])
    return out.getvalue().encode("utf-8-sig" if rng.random() < 0.2 else "utf-8")


def slowly(data):
    """People by label, decision and group, if the csv module can read the table as it was meant; None if not."""
    try:
        text = data.decode("utf-8-sig")
        if "\0" in text:
            return None
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row]
    except (UnicodeError, csv.Error):
        return None
    if not rows or [cell.strip() for cell in rows[0]] != ["y", "p", "g"] or any(len(row) != 3 for row in rows):
        return None
    people = [tuple(cell.strip() for cell in row) for row in rows[1:]]
    if any(y not in ("0", "1") or p not in ("0", "1") or not g for y, p, g in people):
        return None
    return Counter(people)


def counted(path, **options):
    """The same by our reader: people by label, decision and group."""
    with open_table(path, **options) as table:
        found = read_screening_result(table, PeopleColumns("y", ("g",), "1"), DecisionColumn("p", "1"))
    frame, seen = found.table.to_frame(), Counter()
    for group, row in frame.iterrows():
        hits, selected, positives, n = (int(row[k]) for k in ("true_positives", "selected", "positives", "n"))
        seen["1", "1", str(group)] = hits
        seen["0", "1", str(group)] = selected - hits
        seen["1", "0", str(group)] = positives - hits
        seen["0", "0", str(group)] = n - selected - positives + hits
    return +seen


def try_csv(rng, folder, tally):
    """One damaged CSV file, plain or gzipped, its writing told or found out."""
    zipped = rng.random() < 0.25
    data = csv_bytes(rng)
    within = zipped and rng.random() < 0.5
    if within:
        data = damaged(data, rng)
    stored = gzip.compress(data, mtime=0) if zipped else data
    if not within:
        stored = damaged(stored, rng)
    path = folder / ("fuzz.csv.gz" if zipped else "fuzz.csv")
    path.write_bytes(stored)
    told = {"delimiter": ",", "encoding": "utf-8", "decimal": "."} if rng.random() < 0.5 else {}
    tally.tried += 1
    ours, refusal = tried(lambda: counted(path, **told), TableError)
    if refusal is not None:
        assert "\n" not in refusal
        tally.refused += 1
        return
    tally.read += 1
    try:
        plain = gzip.decompress(stored) if stored[:2] == b"\x1f\x8b" else stored
    except (OSError, EOFError):
        return
    theirs = slowly(plain)
    if theirs is not None:
        assert ours == theirs, (told, ours, theirs)
        tally.compared += 1


def parquet_bytes(rng):
    """A Parquet file of people, in one of the types that people use for each column."""
    n = int(rng.integers(3, 200))
    y, p = (rng.integers(0, 2, n) for _ in range(2))
    g = rng.integers(0, 3, n)
    groups = {
        0: lambda: pa.array([f"g{i}" for i in g]),
        1: lambda: pa.array([f"g{i}" for i in g]).dictionary_encode(),
        2: lambda: pa.array(g),
        3: lambda: pa.array([None if i == 2 else f"g{i}" for i in g]),
    }[int(rng.integers(4))]()
    labels = pa.array(y.astype(bool)) if rng.random() < 0.3 else pa.array(y)
    table = pa.table({"y": labels, "p": pa.array(p), "g": groups})
    out = io.BytesIO()
    pq.write_table(
        table, out, compression=str(rng.choice(["none", "snappy", "gzip"])), row_group_size=int(rng.integers(2, 100))
    )
    return out.getvalue()


def try_parquet(rng, folder, tally):
    """One damaged Parquet file."""
    data = parquet_bytes(rng)
    if rng.random() < 0.95:
        data = damaged(data, rng)
    path = folder / "fuzz.parquet"
    path.write_bytes(data)
    tally.tried += 1
    ours, refusal = tried(lambda: counted(path), TableError)
    if refusal is not None:
        assert "fuzz.parquet" in refusal
        tally.refused += 1
        return
    tally.read += 1
    try:
        rows = pq.read_table(path, columns=["y", "p", "g"]).to_pylist()
    except (pa.ArrowException, OSError):
        return
    # whatever is not the label that was named means that somebody is not qualified, or does not pass
    people = [(str(int(row["y"] == 1)), str(int(row["p"] == 1)), str(row["g"]).strip()) for row in rows]
    assert ours == Counter(people), (ours, Counter(people))
    tally.compared += 1


def generator(seed):
    return np.random.default_rng(seed)
