"""Damaged CSV and Parquet files: each is refused with a clear error, or read as an independent slow reader reads it."""

import csv
import gzip
import io
import zlib
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from fuzzing.damage import damaged, tried
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
    result, refusal = tried(read, TableError)
    if refusal is None:
        tally.read += 1
        return result
    assert path.name in refusal, refusal
    assert "\n" not in refusal
    tally.refused += 1
    return None


# ---------------------------------------------------------------------- CSV


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


# ---------------------------------------------------------------------- Parquet

#: Numbers that are odd as days or times, and time zones, one of which is nowhere.
ODD = [-1, 10**5, -800_000, 3_000_000, 2**31 - 1, 10**12, -(10**13), 10**15, 10**18, 2**63 - 1]
ZONES = [None, "UTC", "Europe/Berlin", "+05:30", "Nowhere/City"]


def group_array(rng, which):
    """Groups in one of the types that people use, few of them different, and some of them odd."""
    unit = some(rng, ["s", "ms", "us", "ns"])
    kind = some(
        rng,
        [
            *(pa.string(), pa.dictionary(pa.int32(), pa.string()), pa.int64(), pa.float32(), pa.decimal128(20, 2)),
            *(pa.date32(), pa.timestamp(unit, some(rng, ZONES)), pa.duration(unit), pa.time64("ns"), pa.bool_()),
        ],
    )
    if pa.types.is_string(kind) or pa.types.is_dictionary(kind):
        known = [*rng.permutation(GROUPS)[:3].tolist(), None]
    elif pa.types.is_floating(kind):
        known = [0.1, 1.0, None]
    elif pa.types.is_decimal(kind):
        known = [Decimal("1.50"), Decimal("1.5") + rng.integers(2).item(), None]
    elif pa.types.is_boolean(kind):
        known = [True, False, None]
    else:
        known = [int(value) for value in rng.integers(0, 20_000, 2)]
        known += [some(rng, ODD) % 2 ** (31 if kind.bit_width == 32 else 53)] if rng.random() < 0.3 else [None]
        stored = pa.int32() if kind.bit_width == 32 else pa.int64()
        return pa.array([known[i % len(known)] for i in which], stored).view(kind)
    return pa.array([known[i % len(known)] for i in which], kind)


def parquet_bytes(rng):
    """A Parquet file of people, with nested columns that are not used."""
    n = int(rng.integers(3, 200))
    y, p, which = (rng.integers(0, most, n) for most in (2, 2, 4))
    labels = pa.array(y.astype(bool)) if rng.random() < 0.3 else pa.array(y)
    content = {"y": labels, "p": p, "g": group_array(rng, which), "other": [{"a": [1, None]}] * n}
    out = io.BytesIO()
    pq.write_table(
        pa.table(content),
        out,
        compression=some(rng, ["none", "snappy", "gzip"]),
        row_group_size=int(rng.integers(2, 100)),
        use_dictionary=bool(rng.random() < 0.5),
        write_page_checksum=bool(rng.random() < 0.5),
        allow_truncated_timestamps=True,
    )
    return out.getvalue()


def stored_value(scalar):
    """A value that identifies a group: the number that is stored, or the text without blanks around it."""
    if isinstance(scalar, pa.DictionaryScalar):
        scalar = scalar.value
    if not scalar.is_valid:
        return None
    value = scalar.value if pa.types.is_temporal(scalar.type) else scalar.as_py()
    return (value.strip() or None) if isinstance(value, str) else None if value != value else str(value)


def try_parquet(rng, folder, tally):
    """One Parquet file, mostly damaged. No two values of a group become one, and no value becomes two."""
    data = parquet_bytes(rng)
    path = folder / "fuzz.parquet"
    path.write_bytes(damaged(data, rng) if rng.random() < 0.8 else data)

    def read():
        with open_table(path) as table:
            columns = table.columns([table.position(name) for name in ("y", "p", "g")])
        return list(zip(*(column.cells().tolist() for column in columns), strict=True))

    ours = try_file(path, tally, read)
    try:
        table = pq.read_table(path, columns=["y", "p", "g"])
        theirs = [(str(row["y"]), str(row["p"])) for row in table.select(["y", "p"]).to_pylist()]
        values = [stored_value(scalar) for scalar in table["g"]]
    except (pa.ArrowException, OSError, ValueError):
        return
    if ours is None:
        return
    as_text = ["" if cell == "None" else cell for row in theirs for cell in row]
    assert [cell for row in ours for cell in row[:2]] == as_text
    texts = [row[2].strip() or None for row in ours]
    assert len(set(zip(texts, values, strict=True))) == len(set(texts)) == len(set(values)), (texts, values)
    if not pa.types.is_temporal(table["g"].type):
        assert texts == values
    tally.compared += 1
