"""Where the people of an experiment come from: the bundled tables, or a table of one's own."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from .._validation import FloatArray, some_of
from ..datasets import fetch_adult, fetch_bank
from ..datasets._assemble import min_max, one_hot
from ..groups import encode_groups

#: Share of the people that is kept for testing, in every split.
TEST_SHARE = 0.3


@dataclass(frozen=True, eq=False)
class Table:
    """People as numbers.

    Attributes
    ----------
    features : ndarray of shape (n_rows, n_features)
        The first ``n_group_columns`` of them say which group a person is in, one column per group.
    y : ndarray of shape (n_rows,)
        Labels of 0 and 1.
    codes : ndarray of shape (n_rows,)
        Position of each person's group in ``groups``.
    groups : tuple of str
        Names of the groups.
    """

    features: FloatArray
    n_group_columns: int
    y: NDArray[np.int64]
    codes: NDArray[np.intp]
    groups: tuple[str, ...]

    def fingerprint(self) -> str:
        """SHA-256 of everything in the table, to tell whether two results came from the same people."""
        digest = hashlib.sha256(repr((self.features.shape, self.n_group_columns, self.groups)).encode())
        for array in (self.features, self.y, self.codes.astype(np.int64)):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()


@dataclass(frozen=True, eq=False)
class Split:
    """Training and test people of one table.

    Attributes
    ----------
    train, test : Table
        Both know all groups, also those of which they hold nobody.
    """

    train: Table
    test: Table


def split_table(table: Table, split: int) -> Split:
    """Split people at random into 70% for training and 30% for testing, by the number of the split.

    Examples
    --------
    >>> halves = split_table(load_bundled("adult"), 0)
    >>> len(halves.train.y), len(halves.test.y)
    (11231, 4814)
    """
    parts = train_test_split(np.arange(len(table.y)), test_size=TEST_SHARE, random_state=split)
    train, test = (
        Table(table.features[rows], table.n_group_columns, table.y[rows], table.codes[rows], table.groups)
        for rows in parts
    )
    return Split(train, test)


class Source(Protocol):
    """Something that has a name and can load its table, here or in another process."""

    @property
    def name(self) -> str:
        """Name under which results are stored."""
        ...

    def load(self) -> Table:
        """Read the table."""
        ...


@dataclass(frozen=True)
class BundledSource:
    """One of the tables of the paper, which every installation has.

    Attributes
    ----------
    name : str
        A key of :data:`BUNDLED`.
    """

    name: str

    def load(self) -> Table:
        """Read the table; once per process."""
        return load_bundled(self.name)


@dataclass(frozen=True)
class CsvSource:
    """A table of one's own.

    Attributes
    ----------
    name : str
        Name under which results are stored.
    path : str
        The CSV file.
    label, group : str
        Its columns of labels (0 and 1, or two values of which the last in sorted order counts as 1) and of groups.
    """

    name: str
    path: str
    label: str
    group: str

    def load(self) -> Table:
        """Read the table; once per process."""
        return _load_csv(self.path, self.label, self.group)


@dataclass(frozen=True, eq=False)
class LoadedSource:
    """A table that travels with its name, for machines that do not have the file.

    Attributes
    ----------
    name : str
        Name under which results are stored.
    table : Table
        The people.
    """

    name: str
    table: Table

    def load(self) -> Table:
        """The table itself."""
        return self.table


#: The tables of the paper, by the name under which results are stored, with the name that people read.
BUNDLED = {
    "adult": "Adult",
    "bank_30": "Bank (30% of negatives removed)",
    "bank_original": "Bank (original)",
}


@lru_cache(maxsize=len(BUNDLED))
def load_bundled(name: str) -> Table:
    """Load one of the tables of the paper by name.

    Examples
    --------
    >>> load_bundled("adult").groups
    ('Asian-Pac-Islander', 'Black', 'Other', 'White')
    """
    if name not in BUNDLED:
        raise ValueError(f"No bundled data set {name!r}; there are {', '.join(BUNDLED)}.")
    people = fetch_adult() if name == "adult" else fetch_bank(negatives_removed=0.3 if name == "bank_30" else 0.0)
    return Table(
        features=people.data.to_numpy(dtype=np.float64),
        n_group_columns=len(people.group_columns),
        y=people.target.to_numpy(dtype=np.int64),
        codes=people.group.cat.codes.to_numpy(dtype=np.intp),
        groups=tuple(map(str, people.group.cat.categories)),
    )


@lru_cache(maxsize=1)
def _load_csv(path: str, label: str, group: str) -> Table:
    try:
        frame = pd.read_csv(path)
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} cannot be read as CSV: {error}.") from error
    for column in (label, group):
        if column not in frame.columns:
            raise ValueError(f"{path} has no column {column!r}; it has {some_of(frame.columns, most=20)}.")
    if label == group:
        raise ValueError(f"--label and --group both name the column {label!r}; they must differ.")
    rows = frame.isna().any(axis=1).to_numpy()
    if rows.any():
        columns = frame.columns[frame.isna().any()]
        raise ValueError(
            f"{path} has missing values in {rows.sum()} of {len(frame)} rows, in column(s) {some_of(columns)}. "
            "Drop or fill them first."
        )
    values = np.sort(frame[label].unique())
    if len(values) != 2:
        raise ValueError(f"Column {label!r} of {path} must hold two values, found {some_of(values)}.")
    encoded = encode_groups(frame[group].astype(str))
    if len(encoded.labels) < 2:
        raise ValueError(f"Column {group!r} of {path} holds one group only; there must be at least two.")
    rest = frame.drop(columns=[label, group])
    numeric = rest.select_dtypes(include=["number", "bool"])
    words = rest.drop(columns=numeric.columns)
    if len(numeric.columns) + len(words.columns) == 0:
        raise ValueError(f"{path} has no column besides the label and the group; there is nothing to learn from.")
    crowded = [column for column in words.columns if words[column].nunique() > 100]
    if crowded:
        raise ValueError(
            f"Column(s) {some_of(crowded)} of {path} hold more than 100 different values each; drop or coarsen them."
        )
    parts = [np.eye(len(encoded.labels))[encoded.codes], min_max(numeric.astype(float)).to_numpy()]
    if len(words.columns):
        parts.append(one_hot(words).to_numpy())
    return Table(
        features=np.hstack(parts),
        n_group_columns=len(encoded.labels),
        y=(frame[label] == values[1]).to_numpy(dtype=np.int64),
        codes=encoded.codes,
        groups=tuple(map(str, encoded.labels)),
    )


def own_table(path: str | Path, label: str, group: str) -> CsvSource:
    r"""Table of one's own, named after its file; read at once, so that mistakes show before any work.

    Parameters
    ----------
    path : str or Path
        CSV file. Columns of numbers are scaled to [0, 1], all others one-hot encoded.
    label, group : str
        Its columns of labels and groups.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "applicants.csv"
    ...     _ = path.write_text("years,town,hired,sex\n1,A,0,f\n4,B,1,m\n7,A,1,f\n")
    ...     source = own_table(path, "hired", "sex")
    >>> source.name, source.load().features.shape
    ('applicants', (3, 5))
    """
    full = Path(path).resolve()
    source = CsvSource(full.stem, str(full), label, group)
    if source.name in BUNDLED:
        raise ValueError(f"{full.name} has the name of a bundled data set; rename the file.")
    source.load()
    return source
