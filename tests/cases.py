"""The one table of numbers and sentences that the library and the page must agree on: tests/report/cases.json."""

import json
import math
from pathlib import Path

TABLE = Path(__file__).parent / "report" / "cases.json"
#: JSON has no such numbers; the table writes them as JavaScript does.
SPECIAL = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def all_cases():
    """(function, arguments, options, expected text) of each case."""
    table = json.loads(TABLE.read_text(encoding="utf-8"))
    return [
        (name, revived(case["given"]), revived(case.get("options", {})), case["text"])
        for name, cases in table.items()
        for case in cases
    ]


def revived(value):
    if isinstance(value, list):
        return [revived(item) for item in value]
    if isinstance(value, dict):
        return {name: revived(item) for name, item in value.items()}
    return SPECIAL.get(value, value) if isinstance(value, str) else value
