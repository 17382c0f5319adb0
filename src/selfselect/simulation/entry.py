"""New people who join the pool between rounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
import pandas as pd

from .._frames import take_rows
from .._validation import check_choice, check_nonnegative
from ..counting import encode_groups
from .counted import CountedPopulation


class Entry(Protocol):
    """Who joins the pool after a round."""

    def enter(self, outcome: pd.DataFrame, pool: Any, rng: np.random.Generator) -> Any:
        """New people in the form of the pool: ``(X, y, group)`` or a CountedPopulation; None for nobody.

        ``outcome`` is the table of the round, indexed by group.
        """
        ...


@dataclass(frozen=True)
class Growth:
    """The pool of each group grows by people like those in it.

    Parameters
    ----------
    rate : float
        Number of new people, as a share of ``by``.
    by : {"pool", "applicants", "hired"}, default="pool"
        What a group grows by: its size, the people who applied, or those who were hired. The last two let groups grow
        that succeed.
    """

    rate: float
    by: Literal["pool", "applicants", "hired"] = "pool"

    def __post_init__(self) -> None:
        check_nonnegative(self.rate, "rate")
        check_choice(self.by, "by", ("pool", "applicants", "hired"))

    def enter(self, outcome: pd.DataFrame, pool: Any, rng: np.random.Generator) -> Any:
        """Copies of people in the pool, drawn at random in each group."""
        wanted = self.rate * outcome[self.by]
        if isinstance(pool, CountedPopulation):
            share = wanted.reindex(pool.groups).to_numpy() / np.maximum(outcome["pool"].reindex(pool.groups), 1e-300)
            return pool.times(share.to_numpy()[pool.codes])
        X, y, group = pool
        groups = encode_groups(group)
        rows = [np.flatnonzero(groups.codes == code) for code in range(groups.n_groups)]
        number = wanted.reindex(groups.labels).round().astype(int)
        drawn = np.concatenate([rng.choice(own, size) for own, size in zip(rows, number, strict=True)])
        return (take_rows(X, drawn), np.asarray(y)[drawn], group.take(drawn)) if len(drawn) else None
