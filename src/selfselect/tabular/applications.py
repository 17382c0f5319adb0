"""Logs of applications, and counts of the people who could have applied."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from .._text import quote
from ..auditing import group_names
from .columns import GroupRules, as_numbers, encode_frame, group_frame, is_missing, normalise_decimals
from .errors import TableError
from .table import Table

#: Name of the column of counts, if a table of the pool has several others.
POOL = "pool"


def read_applications(
    table: Table, groups: Sequence[str], period: str | None, numbers: dict[str, str | None]
) -> pd.DataFrame:
    """Columns of a log as the estimation takes them, with the numbers of rows as labels.

    ``numbers`` names a column for each input (published, applicants, pool). Cells that are no numbers stay texts, so
    that all problems are found together.
    """
    wanted = [(name, "group") for name in groups] + ([] if period is None else [(period, "period")])
    wanted += [(name, named_by) for named_by, name in numbers.items() if name is not None]
    names = [name for name, _ in wanted]
    twice = [name for i, name in enumerate(names) if name in names[:i]]
    if twice:
        raise TableError(f"column {quote(twice[0])} is named twice; each column has one meaning")
    columns = table.columns([table.position(name, named_by) for name, named_by in wanted])
    frame = {}
    for column, (name, named_by) in zip(columns, wanted, strict=True):
        cells = normalise_decimals(table, column) if named_by in numbers else column.cells()
        texts = pd.Series([str(cell).strip() for cell in cells], dtype=object)
        frame[name] = texts.mask(texts.eq("") if named_by not in numbers else is_missing(cells))
    return pd.DataFrame(frame).set_axis(pd.Index(columns[0].rows))


def read_pool(table: Table, groups: Sequence[str], rules: GroupRules | None = None) -> pd.Series:
    """How many people of each group could have applied, by the name of the group; other columns of groups add up.

    The table has the columns of the groups and one more, or one called ``pool``.
    """
    positions = [table.position(name, "group") for name in groups]
    others = [at for at in range(len(table.header)) if at not in positions]
    named = [at for at in others if table.header[at].strip().casefold() == POOL]
    if len(named) != 1 and len(others) != 1:
        problem = f"which column holds the counts of people? It should be called {quote(POOL)}"
        raise table.error(problem, row=1, advice="Or leave only the columns of the groups and one column of counts.")
    *parts, counts = table.columns([*positions, (named if len(named) == 1 else others)[0]])
    numbers = as_numbers(table, counts)
    wrong = np.flatnonzero(numbers < 0)
    if wrong.size:
        raise table.error("a count of people is negative", row=counts.rows[int(wrong[0])], column=counts.name)
    rules = GroupRules() if rules is None else rules
    codes = encode_frame(group_frame(table, parts, rules), rules)
    sums = np.bincount(codes.codes, numbers, codes.n_groups)
    return pd.Series(sums, index=pd.Index(group_names(codes.labels), dtype=object))
