"""Numbers as people read them, the same everywhere: terminal, report, and the script inside the report.

Rounding is by floor(x + 1/2) on doubles, which every language does alike; the usual formatting functions of Python and
JavaScript disagree about ties. ``report/page.js`` repeats these functions line by line.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

UNDEFINED = "undefined"


def percent(value: float) -> str:
    """Share of one, with one decimal.

    Examples
    --------
    >>> percent(0.6225), percent(0.0005), percent(float("nan"))
    ('62.3%', '0.1%', 'undefined')
    """
    if math.isnan(value):
        return UNDEFINED
    tenths = math.floor(value * 1000 + 0.5)
    return f"{tenths // 10}.{tenths % 10}%"


def _thousandths(count: int) -> str:
    text = f"{count // 1000}.{count % 1000:03d}".rstrip("0")
    whole, _, decimals = text.partition(".")
    return f"{whole}.{decimals.ljust(2, '0')}"


def amount(value: float) -> str:
    """A cost or a utility: two decimals, or three where needed.

    Examples
    --------
    >>> amount(0.7), amount(0.725), amount(float("nan"))
    ('0.70', '0.725', 'undefined')
    """
    return UNDEFINED if math.isnan(value) else _thousandths(math.floor(value * 1000 + 0.5))


def amount_up(value: float) -> str:
    """A subsidy that is needed, rounded up: paying what is written is enough.

    Examples
    --------
    >>> amount_up(0.08), amount_up(0.0801)
    ('0.08', '0.081')
    """
    return UNDEFINED if math.isnan(value) else _thousandths(math.ceil(value * 1000 - 1e-6))


def amount_down(value: float) -> str:
    """A cost that a group would accept, rounded down: at what is written it applies.

    Examples
    --------
    >>> amount_down(0.6249), amount_down(0.62)
    ('0.624', '0.62')
    """
    return UNDEFINED if math.isnan(value) else _thousandths(math.floor(value * 1000 + 1e-6))


def count(value: float) -> str:
    """People, with commas between thousands.

    Examples
    --------
    >>> count(1234567), count(2.5)
    ('1,234,567', '2.5')
    """
    return f"{int(value):,}" if float(value).is_integer() else f"{value:,g}"


def listed(names: Iterable[str], most: int = 5) -> str:
    """Names as in a sentence: a, b and c.

    Examples
    --------
    >>> listed(["a", "b", "c"]), listed(["a"]), listed("abcdefg")
    ('a, b and c', 'a', 'a, b, c, d, e and 2 more')
    """
    items = list(names)
    if len(items) > most:
        return f"{', '.join(items[:most])} and {len(items) - most} more"
    return " and ".join([", ".join(items[:-1]), items[-1]]) if len(items) > 1 else "".join(items)
