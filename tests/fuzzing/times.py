"""Damaged Parquet files whose groups are days, times, spans or decimals, also far beyond the years that Python has."""

import datetime
import io
from collections import Counter
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq

from fuzzing.damage import damaged, tried
from fuzzing.tables import counted
from selfselect.tabular.errors import TableError

#: Parts of a second, and days after which the calendar repeats itself, in 400 years.
PARTS, CYCLE = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}, 146_097
EPOCH, DAY = datetime.datetime(1970, 1, 1), 86_400
#: Days that Python has, and those that Arrow has words for: years of two bytes.
FIRST, LAST = datetime.date.min.toordinal() - EPOCH.toordinal(), datetime.date.max.toordinal() - EPOCH.toordinal()
FAR = range((-32_767 - 1970) * CYCLE // 400, (32_767 - 1970) * CYCLE // 400)
#: Time zones: known, known by their offset, unknown, and none.
ZONES = [None, "UTC", "Europe/Berlin", "America/St_Johns", "+05:30", "-11:00", "Nowhere/City"]
#: Numbers that mean nothing, in most units.
ODD = [-1, 10**5, -800_000, 3_000_000, 2**31 - 1, -(2**31), 10**12, -(10**13), 10**15, 10**18, -(10**18), 2**63 - 1]


# ---------------------------------------------------------------------- files


def column(rng, which):
    """Cells of one of the types, few of them different, and some of them odd."""
    unit = str(rng.choice(["s", "ms", "us", "ns"]))
    kinds = {
        0: lambda: (pa.date32(), 40_000),
        1: lambda: (pa.time32(unit if unit in ("s", "ms") else "ms"), DAY),
        2: lambda: (pa.time64(unit if unit in ("us", "ns") else "us"), DAY * 10**6),
        3: lambda: (pa.timestamp(unit, ZONES[int(rng.integers(len(ZONES)))]), 4 * 10**9 * PARTS[unit]),
        4: lambda: (pa.duration(unit), 10**6 * PARTS[unit]),
        5: lambda: (pa.decimal128(12, int(rng.integers(0, 4))), 10**5),
    }
    kind, most = kinds[int(rng.integers(len(kinds)))]()
    known = [int(rng.integers(most)) for _ in range(3)]
    if rng.random() < 0.3:
        known[0] = ODD[int(rng.integers(len(ODD)))]
    if pa.types.is_decimal(kind):
        return pa.array([Decimal(known[i] % 10**9).scaleb(-kind.scale) for i in which], kind)
    stored = pa.int32() if kind.bit_width == 32 else pa.int64()
    # what is stored: seconds as thousandths
    most = 2**31 - 1 if kind.bit_width == 32 else 2**63 // 1000 if pa.types.is_timestamp(kind) else 2**63 - 1
    return pa.array([max(-most, min(most, known[i])) for i in which], stored).view(kind)


def parquet_bytes(rng):
    """A Parquet file of people by day, time, span or decimal, with another such column that nobody asks for."""
    n = int(rng.integers(3, 200))
    y, p, g, other = (rng.integers(0, most, n) for most in (2, 2, 3, 3))
    table = pa.table({"y": pa.array(y), "p": pa.array(p), "g": column(rng, g), "other": column(rng, other)})
    out = io.BytesIO()
    pq.write_table(
        table,
        out,
        compression=str(rng.choice(["none", "snappy"])),
        row_group_size=int(rng.integers(2, 100)),
        use_dictionary=bool(rng.random() < 0.5),
        store_schema=bool(rng.random() < 0.8),
        allow_truncated_timestamps=True,
    )
    return out.getvalue()


# ---------------------------------------------------------------------- an independent reading


def clock(seconds, fraction=""):
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}{fraction}"


def digits(part, unit):
    """Part of a second as Python writes it: nothing, millionths, or (seldom) all there are."""
    if part == 0:
        return ""
    return f".{part:09d}" if unit == "ns" and part % 1000 else f".{part * 10**6 // PARTS[unit]:06d}"


def all_digits(part, unit):
    """Part of a second as Arrow writes it."""
    return f".{part:0{len(str(PARTS[unit])) - 1}d}" if unit != "s" else ""


def day(days):
    """A day of the calendar as if it had always been, in any year."""
    cycles, rest = divmod(days, CYCLE)
    known = (EPOCH + datetime.timedelta(days=rest)).date()
    year = known.year + 400 * cycles
    return f"{year:0{5 if year < 0 else 4}d}-{known.month:02d}-{known.day:02d}"


def in_zone(name):
    """A time zone, from where pyarrow has them; UTC if there is none of this name."""
    try:
        return pa.lib.string_to_tzinfo(name)
    except (ValueError, KeyError, OSError):
        return datetime.UTC


def point(value, unit, zone):
    """A point of time."""
    seconds, part = divmod(value, PARTS[unit])
    days = seconds // DAY
    far = f"{day(days)} {clock(seconds % DAY, all_digits(part, unit))}" if days in FAR else out_of_range(value)
    if zone is None:
        near = f"{day(days)} {clock(seconds % DAY, digits(part, unit))}"
        return near if FIRST <= days <= LAST else far
    try:
        local = (EPOCH + datetime.timedelta(seconds=seconds)).replace(tzinfo=datetime.UTC).astimezone(in_zone(zone))
        wall = value + int(local.utcoffset().total_seconds()) * PARTS[unit]
        if unit == "ns" and not -(2**63) < wall < 2**63:
            raise OverflowError
    except OverflowError:
        return f"{far}+00:00"
    written = str(local)
    return f"{written[:19]}{digits(part, unit)}{written[19:]}"


def span(value, unit):
    """A span of time, as Python writes it and (nanoseconds) as pandas does."""
    seconds, part = divmod(value, PARTS[unit])
    days, rest = divmod(seconds, DAY)
    if unit == "ns":
        return f"{days} days {'+' if days < 0 else ''}{clock(rest, digits(part, unit))}"
    try:
        return str(datetime.timedelta(days=days, seconds=rest, microseconds=part * 10**6 // PARTS[unit]))
    except OverflowError:
        return str(value)


def out_of_range(value):
    return f"<value out of range: {value}>"


def in_words(one):
    """A cell as text, by arithmetic on the number that it is."""
    kind = one.type
    if not one.is_valid or not pa.types.is_temporal(kind):
        return str(one.as_py())
    value = one.value
    if pa.types.is_date(kind):
        days = value if pa.types.is_date32(kind) else value // (DAY * 1000)
        return day(days) if days in FAR else out_of_range(value)
    if pa.types.is_time(kind):
        seconds, part = divmod(value, PARTS[kind.unit])
        write = digits if pa.types.is_time32(kind) else all_digits
        return clock(seconds, write(part, kind.unit)) if 0 <= seconds < DAY else out_of_range(value)
    if kind.unit == "ns" and value == -(2**63):
        return ""  # not a time, says pandas
    return span(value, kind.unit) if pa.types.is_duration(kind) else point(value, kind.unit, kind.tz)


def try_times(rng, folder, tally):
    """One damaged Parquet file of such groups."""
    data = parquet_bytes(rng)
    if rng.random() < 0.7:
        data = damaged(data, rng, most=2)
    path = folder / "fuzz.parquet"
    path.write_bytes(data)
    tally.tried += 1
    ours, refusal = tried(lambda: counted(path), TableError)
    if refusal is not None:
        assert "fuzz.parquet" in refusal, refusal
        tally.refused += 1
        return
    tally.read += 1
    try:
        table = pq.read_table(path, columns=["y", "p", "g"])
    except (pa.ArrowException, OSError):
        return
    labels, decisions = (table[name].to_pylist() for name in ("y", "p"))
    people = [
        (str(int(label == 1)), str(int(decision == 1)), in_words(one))
        for label, decision, one in zip(labels, decisions, table["g"], strict=True)
    ]
    assert ours == Counter(people), (ours, Counter(people))
    tally.compared += 1
