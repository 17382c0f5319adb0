"""The Adult census table: who earns more than 50,000 dollars, by race."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from ._assemble import Population, min_max
from ._raw import read_raw

_COLUMNS = (
    "age work_class final_weight education education_num marital_status occupation relationship race sex "
    "capitol_gain capitol_loss hours_per_week native_country income"
).split()
_NUMERIC = ["age", "final_weight", "education_num", "capitol_gain", "capitol_loss", "hours_per_week"]
_CATEGORICAL = ["work_class", "marital_status", "relationship", "sex", "occupation"]
_OCCUPATIONS = {
    "Professional_Managerial": ["Exec-managerial", "Prof-specialty", "Protective-serv"],
    "Sales_Administrative": ["Sales", "Adm-clerical"],
    "Service_Care": ["Other-service", "Priv-house-serv", "Handlers-cleaners", "Farming-fishing"],
    "Skilled_Technical": ["Craft-repair", "Machine-op-inspct", "Tech-support", "Transport-moving"],
    "Unclassified Occupations": ["Armed-Forces"],
}
_WHITE_ROWS_DROPPED = 29177  # three quarters of them

_DESCR = """\
Adult (census income), prepared as in "Classification Under Strategic Self-Selection" (ICML 2024)
-------------------------------------------------------------------------------------------------
Label: income above 50,000 dollars. Group: race (Asian-Pac-Islander, Black, Other, White; Amer-Indian-Eskimo counts as
Other). Rows with any missing value are dropped (45,222 remain) and numbers scaled to [0, 1]; then three quarters of
the White rows are dropped at random (with a fixed seed) to balance the groups: 16,045 rows. education and
native_country are left out, occupation is reduced to five values.

Licence: CC BY 4.0. Becker, B. and Kohavi, R. (1996). Adult. UCI Machine Learning Repository.
https://doi.org/10.24432/C5XW20
"""


@lru_cache(maxsize=1)
def _population() -> Population:
    parts = [
        pd.read_csv(read_raw(name), names=_COLUMNS, skipinitialspace=True, skiprows=header)
        for name, header in (("adult.data", 0), ("adult.test", 1))
    ]
    table = pd.concat(parts, ignore_index=True)
    table = table[(table != "?").all(axis=1)].reset_index(drop=True)
    table["occupation"] = table["occupation"].map({job: name for name, jobs in _OCCUPATIONS.items() for job in jobs})
    race = table["race"].replace({"Amer-Indian-Eskimo": "Other"})
    indicators = pd.get_dummies(table[_CATEGORICAL], dtype=float)
    everyone = Population(
        readable=table[_NUMERIC + _CATEGORICAL],
        encoded=pd.concat([min_max(table[_NUMERIC].astype(float)), indicators], axis=1),
        target=table["income"].str.startswith(">50K").to_numpy(dtype=np.int64),
        group=race.astype("category"),
        target_name="income_above_50k",
        descr=_DESCR,
    )
    white = np.flatnonzero(race == "White")
    dropped = np.random.RandomState(1).choice(white, _WHITE_ROWS_DROPPED, replace=False)
    return everyone.take(np.setdiff1d(np.arange(len(table)), dropped))


def fetch_adult(
    *,
    return_X_y_group: bool = False,
    as_frame: bool = True,
    encoded: bool = True,
    drop_group: bool = False,
) -> Any:
    """Load the Adult table as in the paper: 16,045 rows, 4 groups by race. It ships with the package.

    Parameters
    ----------
    return_X_y_group : bool, default=False
        Return ``(data, target, group)`` instead of a Bunch.
    as_frame : bool, default=True
        Return pandas objects instead of numpy arrays.
    encoded : bool, default=True
        Scale numbers to [0, 1] and encode categories one-hot, instead of the original columns.
    drop_group : bool, default=False
        Leave the group columns out of ``data``.

    Returns
    -------
    Bunch
        data, target (0/1), group, frame, group_columns, feature_names, target_name, group_name, DESCR (with licence and
        citation).

    Examples
    --------
    >>> adult = fetch_adult()
    >>> adult.data.shape, int(adult.target.sum())
    ((16045, 37), 3586)
    """
    return _population().deliver(
        return_X_y_group=return_X_y_group, as_frame=as_frame, encoded=encoded, drop_group=drop_group
    )
