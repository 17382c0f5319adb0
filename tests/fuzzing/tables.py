"""Damaged CSV files: each is refused with a clear error, or read as an independent slow reader reads it."""

import csv
import gzip
import io
import zlib
from dataclasses import dataclass

import numpy as np

from fuzzing.damage import damaged
from selfselect.tabular.columns import as_numbers
from selfselect.tabular.errors import TableError
from selfselect.tabular.read import open_table

GROUPS = [
    "A", "a", "a b", "Käse", "x;y", "x,y", 'say "so"', "two\nlines", "'", "0", "1.0", "1", "01", "=1", "NA", "null",
    "9007199254740993", "9007199254740992",
]  # fmt: skip
HEADER = ["y", "p", "g", "s"]


@dataclass
class Tally:
    """How many files were tried, refused, read, and compared with a slow reading."""

    tried: int = 0
    refused: int = 0
    read: int = 0
    compared: int = 0


def generator(seed):
    return np.random.default_rng(seed)


def some(rng, values):
    return values[int(rng.integers(len(values)))]


def read_cells(path, **options):
    """Header and rows by our reader, with the scores as numbers."""
    with open_table(path, **options) as table:
        columns = table.columns(range(len(table.header)))
        rows = [list(row) for row in zip(*(column.cells() for column in columns), strict=True)]
        scores = as_numbers(table, columns[3]).tolist() if table.header == HEADER else []
    return table.header, rows, scores


def try_file(path, tally, read):
    """What our reader makes of a file; None if it refuses it, in one line that names the file."""
    tally.tried += 1
    try:
        result = read()
        tally.read += 1
        return result
    except TableError as error:
        refusal = str(error)
    assert path.name in refusal, refusal
    assert "\n" not in refusal
    tally.refused += 1
    return None


def people(rng):
    """Rows of people: label, decision, group, score."""
    groups = rng.permutation(GROUPS)[: int(rng.integers(1, 5))].tolist()
    return [
        [str(rng.integers(2)), str(rng.integers(2)), some(rng, groups), repr(round(float(rng.random()), 3))]
        for _ in range(int(rng.integers(3, 25)))
    ]


def csv_file(rng):
    """Bytes of a table as some program writes it, its delimiter and its encoding."""
    delimiter = some(rng, [",", ",", ",", ";", "\t", "|"])
    encoding = some(rng, ["utf-8", "utf-8", "utf-8-sig", "utf-16", "cp1252"])
    rows = people(rng)
    if delimiter != "," and rng.random() < 0.5:
        rows = [[*row[:3], row[3].replace(".", ",")] for row in rows]
    out = io.StringIO(newline="")
    quoting = csv.QUOTE_ALL if rng.random() < 0.3 else csv.QUOTE_MINIMAL
    end = some(rng, ["\n", "\r\n"])
    csv.writer(out, lineterminator=end, quoting=quoting, delimiter=delimiter).writerows([HEADER, *rows])
    return out.getvalue().encode(encoding), delimiter, encoding


def read_slowly(data, delimiter, encoding):
    """Header and rows by the csv module, if it can read the table as it was meant; None if not."""
    try:
        text = data.decode("utf-8-sig" if encoding == "utf-8" else encoding)
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True) if row]
    except (UnicodeError, csv.Error):
        return None
    if "\0" in text or not rows[1:] or rows[0] != HEADER or any(len(row) != len(HEADER) for row in rows):
        return None
    return rows[0], rows[1:]


def try_csv(rng, folder, tally):
    """One CSV file, plain or gzipped, mostly damaged; its delimiter and encoding are given or detected."""
    data, delimiter, encoding = csv_file(rng)
    zipped, way = rng.random() < 0.25, rng.random()
    data = damaged(data, rng, most=2) if way < 0.4 else data
    stored = gzip.compress(data, mtime=0) if zipped else data
    stored = damaged(stored, rng, most=2) if way > 0.6 else stored
    path = folder / ("fuzz.csv.gz" if zipped else "fuzz.csv")
    path.write_bytes(stored)
    options = {"delimiter": delimiter, "encoding": encoding} if rng.random() < 0.5 else {}
    ours = try_file(path, tally, lambda: read_cells(path, **options))
    try:
        plain = gzip.decompress(stored) if stored[:2] == b"\x1f\x8b" else stored
    except (OSError, EOFError, zlib.error):
        return
    theirs = read_slowly(plain, delimiter, encoding)
    if ours is None or theirs is None or (not options and encoding == "cp1252" and not plain.isascii()):
        return  # another encoding than cp1252 may be detected
    assert ours[:2] == theirs, (options, ours, theirs)
    points = [float(row[3].replace(",", ".")) for row in theirs[1]]
    assert ours[2] in (points, []), (ours, points)
    tally.compared += 1
