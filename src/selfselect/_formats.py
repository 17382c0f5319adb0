"""Numbers as text, the same everywhere: terminal, report, and the script inside the report.

Rounding is by floor(x + 1/2) on doubles, which every language does alike; the usual formatting functions of Python and
JavaScript disagree about ties. ``report/scripts/numbers.js`` has the same functions. ``tests/report/cases.json`` lists
inputs and texts for both.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

UNDEFINED = "none"
#: Amounts are written to thousandths: a finer cost or subsidy is meaningless.
PLACES = 3
THOUSAND = 10**PLACES
#: Of an amount, at least so many places are written, as of money.
MIN_PLACES = 2
#: Tolerance, in thousandths, of rounding up and down. It is half of behaviour.SLACK, so that a group that is said to
#: apply at 62% does.
SPARE = THOUSAND * 1e-12 / 2
#: More names than this are counted, not listed.
MAX_NAMED = 5


def percent(value: float) -> str:
    """Share of one, with one decimal."""
    return _decimal(value * 1000, _nearest, places=1, fewest=1, unit="%")


def or_dash(value: float, form: Callable[[float], str] = percent) -> str:
    """A number as text; a dash for NaN."""
    return "-" if math.isnan(value) else form(value)


def short_percent(value: float) -> str:
    """A cost as a share of what being selected is worth, with a decimal where needed."""
    return _decimal(value * 1000, _nearest, places=1, fewest=0, unit="%")


def short_percent_down(value: float) -> str:
    """The same, rounded down."""
    return _decimal(value * 1000 + SPARE, math.floor, places=1, fewest=0, unit="%")


def level(value: float) -> str:
    """A level of confidence, rounded down."""
    return _decimal(value * 100 * THOUSAND + 100 * SPARE, math.floor, PLACES, fewest=0, unit="%")


def amount(value: float) -> str:
    """A cost or a utility: two decimals, or three where needed."""
    return _decimal(value * THOUSAND, _nearest, PLACES, MIN_PLACES)


def amount_up(value: float) -> str:
    """A subsidy that is needed, rounded up: paying what is written is enough."""
    return _decimal(value * THOUSAND - SPARE, math.ceil, PLACES, MIN_PLACES)


def amount_down(value: float) -> str:
    """A cost that a group would accept, rounded down: at what is written it applies."""
    return _decimal(value * THOUSAND + SPARE, math.floor, PLACES, MIN_PLACES)


def count(value: float) -> str:
    """People, with commas between thousands; sums of weights to thousandths."""
    if math.isfinite(value) and value == math.floor(value):
        return f"{int(value):,}"  # exact, however large
    if 0 < value < 1 / THOUSAND:
        return "under 0.001"  # somebody is there: 0 would be untrue
    return _decimal(value * THOUSAND, _nearest, PLACES, fewest=0, commas=True)


def listed(names: Iterable[str], most: int = MAX_NAMED) -> str:
    """Names as in a sentence: a, b and c."""
    items = list(names)
    if len(items) > most:
        return f"{', '.join(items[:most])} and {len(items) - most} more"
    return " and ".join([", ".join(items[:-1]), items[-1]]) if len(items) > 1 else "".join(items)


def _nearest(value: float) -> int:
    return math.floor(value + 0.5)


def _decimal(
    units: float, rounded: Callable[[float], int], places: int, fewest: int, *, commas: bool = False, unit: str = ""
) -> str:
    """Decimal number of so many units of the last place, rounded, with at least the fewest places."""
    if not math.isfinite(units):
        return UNDEFINED
    whole_units = rounded(units)
    whole, rest = divmod(abs(whole_units), 10**places)
    decimals = f"{rest:0{places}d}"
    decimals = decimals[:fewest] + decimals[fewest:].rstrip("0")
    text = f"{whole:,}" if commas else str(whole)
    return ("-" if whole_units < 0 else "") + text + ("." if decimals else "") + decimals + unit
