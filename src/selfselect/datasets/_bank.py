"""The Bank Marketing table: who subscribes to a term deposit, by job."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from .._validation import check_fraction
from ._assemble import Population, min_max
from ._raw import read_raw

_NUMERIC = "age default balance housing loan duration campaign pdays previous".split()
_YES_NO = ["default", "housing", "loan"]
_CATEGORICAL = ["marital", "education", "contact", "poutcome"]
_JOBS_DROPPED = ["unknown", "housemaid"]

_DESCR = """\
Bank Marketing, prepared as in "Classification Under Strategic Self-Selection" (ICML 2024)
------------------------------------------------------------------------------------------
Label: the client subscribes to a term deposit. Group: job (ten; unknown and housemaid are dropped: 43,683 rows remain).
Numbers are scaled to [0, 1]; day and month are left out. With negatives_removed = 0.3, the paper's main variant, that
share of the negatives of each group is removed at random (with a fixed seed): 32,125 rows.

Warning: duration is the length of the call in which the client decides. It is known only afterwards, so a model that
uses it cannot screen anybody. It is kept to reproduce the paper; drop it for any other use.

Licence: CC BY 4.0. Moro, S., Rita, P. and Cortez, P. (2014). Bank Marketing. UCI Machine Learning Repository.
https://doi.org/10.24432/C5K306
"""


@lru_cache(maxsize=1)
def _population() -> Population:
    table = pd.read_csv(read_raw("bank-full.csv"), sep=";")
    table = table[~table["job"].isin(_JOBS_DROPPED)].reset_index(drop=True)
    numbers = table[_NUMERIC].copy()
    numbers[_YES_NO] = numbers[_YES_NO] == "yes"
    return Population(
        readable=table[_NUMERIC + _CATEGORICAL],
        encoded=pd.concat([min_max(numbers.astype(float)), pd.get_dummies(table[_CATEGORICAL], dtype=float)], axis=1),
        target=(table["y"] == "yes").to_numpy(dtype=np.int64),
        group=table["job"].astype("category"),
        target_name="subscribes",
        descr=_DESCR,
    )


def _without_negatives(population: Population, share: float) -> Population:
    keep = np.ones(len(population.target), dtype=bool)
    codes = population.group.cat.codes.to_numpy()
    for code in range(len(population.group.cat.categories)):
        negatives = np.flatnonzero((codes == code) & (population.target == 0))
        # the published subsample used 1 - (1 - share), whose rounding can leave out one row
        n_removed = int(len(negatives) * (1 - (1 - share)))
        keep[np.random.RandomState(0).choice(negatives, n_removed, replace=False)] = False
    return population.take(np.flatnonzero(keep))


def fetch_bank(
    *,
    negatives_removed: float = 0.3,
    return_X_y_group: bool = False,
    as_frame: bool = True,
    encoded: bool = True,
    drop_group: bool = False,
) -> Any:
    """Load the Bank Marketing table as in the paper: 10 groups by job. It ships with the package.

    The feature ``duration`` (length of the call in which the client decides) leaks the label. It is kept to reproduce
    the paper; drop it for any other use.

    Parameters
    ----------
    negatives_removed : float in [0, 1), default=0.3
        Share of each group's negatives to remove: 0.3 for the paper's main variant (32,125 rows), 0.0 for the original
        (43,683 rows).
    return_X_y_group, as_frame, encoded, drop_group
        As in :func:`fetch_adult`.

    Returns
    -------
    Bunch
        As in :func:`fetch_adult`.

    Examples
    --------
    >>> bank = fetch_bank(negatives_removed=0.3)
    >>> bank.data.shape, round(float(bank.target.mean()), 4)
    ((32125, 33), 0.1602)
    """
    share = check_fraction(negatives_removed, "negatives_removed")
    if share == 1:
        raise ValueError("negatives_removed must be below 1: without negatives there is nothing to classify.")
    population = _population()
    if share > 0:
        population = _without_negatives(population, share)
    return population.deliver(
        return_X_y_group=return_X_y_group, as_frame=as_frame, encoded=encoded, drop_group=drop_group
    )
