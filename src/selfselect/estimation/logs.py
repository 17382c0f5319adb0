"""Logs of applications: checked as a whole, so that all problems are named at once."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from .._errors import InputError
from .._frames import to_pandas
from .._validation import BoolArray, FloatArray, list_some
from ..counting import GroupCodes, encode_groups

NO_POOL = (
    "Without the pool (how many people of each group could have applied), the number of applicants is known, but not "
    "the share that applies. Costs cannot be estimated from it: a group twice as large would have the same applicants "
    "at a much higher cost. Count or estimate the potential applicants of each row, from a register, a census or the "
    "people who were invited."
)


@dataclass(frozen=True, eq=False)
class ApplicationLog:
    """Rows of a log as arrays, with the code of each row's group; each row is a period if no periods are named."""

    groups: GroupCodes
    published: FloatArray
    applicants: FloatArray
    pool: FloatArray
    periods: pd.Series


def read_log(
    log: Any,
    group: Hashable | Sequence[Hashable],
    period: Hashable | None,
    published: Hashable,
    applicants: Hashable,
    pool: Hashable | None,
) -> ApplicationLog:
    """Check a log. Rows are named by the labels of the frame's index."""
    frame = to_pandas(log)
    if not isinstance(frame, pd.DataFrame):
        raise TypeError(f"log must be a table with a row per group and period, got {type(log).__name__}.")
    by = list(group) if isinstance(group, list | tuple) else [group]
    wanted = [*by, *([] if period is None else [period]), published, applicants, *([] if pool is None else [pool])]
    absent = [name for name in wanted if name not in frame.columns]
    if absent:
        raise InputError(f"The log has no column {list_some(absent)}. Its columns: {list_some(frame.columns, 20)}.")
    if frame.empty:
        raise InputError("The log has no rows.")
    if pool is None:
        raise InputError(NO_POOL, key="no_pool")
    problems: list[str] = []

    def refuse(wrong: BoolArray, text: str) -> None:
        if wrong.any():
            problems.append(f"row(s) {list_some(frame.index[wrong])}: {text}")

    numbers = {}
    for name in (published, applicants, pool):
        column = frame[name]
        numbers[name] = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
        empty = column.isna() | (column.astype(str).str.strip() == "")
        wrong = ~np.isfinite(numbers[name]) & ~empty.to_numpy()
        refuse(wrong, f"{name} is not a number: {list_some(column[wrong].tolist())}.")
        advice = " Leave out rows for which nothing was published." if name == published else ""
        refuse(empty.to_numpy(), f"{name} is empty.{advice}")
    q, applied, potential = (numbers[name] for name in (published, applicants, pool))
    outside = f"{published} must lie between 0 and 1 (a share: 0.62, not 62)"
    refuse((q < 0) | (q > 1), f"{outside}, found {list_some(q[(q < 0) | (q > 1)])}.")
    refuse(applied < 0, f"{applicants} must not be negative.")
    refuse(potential <= 0, f"{pool} must be above 0; leave out rows without potential applicants.")
    refuse(
        (applied > potential) & (potential > 0),
        f"{applicants} is larger than {pool}. The pool holds everybody who could have applied, also those who did.",
    )
    missing = frame[by].isna().any(axis=1).to_numpy()
    refuse(missing, "the group is empty; fill or drop such rows.")
    twice = np.zeros(len(frame), dtype=bool)
    if period is not None:
        refuse(frame[period].isna().to_numpy(), f"{period} is empty.")
        twice = frame.duplicated([*by, period], keep=False).to_numpy() & ~missing
    refuse(twice, f"several rows are about the same group and {period}; add them up, or split the {period}.")
    if problems:
        lines = "".join(f"\n  {text}" for text in problems)
        raise InputError(f"The log cannot be used:{lines}", key="log")
    groups = encode_groups(frame[by[0]] if len(by) == 1 else frame[by])
    periods = pd.Series(range(len(frame))) if period is None else frame[period]
    return ApplicationLog(groups, q, applied, potential, periods)
