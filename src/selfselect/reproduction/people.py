"""Where the people of an experiment come from: the bundled tables, or a table of one's own."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from .._validation import FloatArray
from ..counting import encode_groups
from ..datasets import fetch_adult, fetch_bank
from ..tabular.encoding import TableEncoder
from ..tabular.reading import TwoValues, open_table

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
        Its columns of labels and of groups.
    positive : str, optional
        The label that means qualified, if not 1 or true.
    """

    name: str
    path: str
    label: str
    group: str
    positive: str | None = None

    def load(self) -> Table:
        """Read the table; once per process."""
        return _load_csv(self.path, self.label, self.group, self.positive)


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
def _load_csv(path: str, label: str, group: str, positive: str | None) -> Table:
    if label == group:
        raise ValueError(f"--label and --group both name the column {label!r}; they must differ.")
    labels = TwoValues(label, positive, "qualified")
    with open_table(path) as table:
        used = [name for name in table.header if name not in (label, group)]
        where = [table.position(label, "--label"), table.position(group, "--group")]
        where += [table.position(name, "to learn from") for name in used]
        qualified, cells = [], []
        for chunk in table.chunks(where):
            qualified.append(labels(table, chunk, 0))
            if "" in chunk.columns[1]:
                row = chunk.rows[chunk.columns[1].index("")]
                raise table.error("the group is empty; fill or drop such rows.", row=row, column=group)
            cells.append([np.array(column, dtype=object) for column in chunk.columns[1:]])
        if not qualified:
            raise table.error("there is a header but no row.")
        labels.finish(table)
    columns = [np.concatenate(parts) for parts in zip(*cells, strict=True)]
    y = np.concatenate(qualified)
    if y.all() or not y.any():
        raise ValueError(f"Column {label!r} of {path} holds one value only; there must be two.")
    encoded = encode_groups(columns[0])
    if len(encoded.labels) < 2:
        raise ValueError(f"Column {group!r} of {path} holds one group only; there must be at least two.")
    if not used:
        raise ValueError(f"{path} has no column besides the label and the group; there is nothing to learn from.")
    rest = dict(zip(used, columns[1:], strict=True))
    features = TableEncoder.fit(rest).transform(rest)
    return Table(
        features=np.hstack([np.eye(len(encoded.labels))[encoded.codes], features]),
        n_group_columns=len(encoded.labels),
        y=y.astype(np.int64),
        codes=encoded.codes,
        groups=tuple(map(str, encoded.labels)),
    )


def own_table(path: str | Path, label: str, group: str, positive: str | None = None) -> CsvSource:
    r"""Table of one's own, named after its file; read at once, so that mistakes show before any work.

    Parameters
    ----------
    path : str or Path
        CSV file, read and encoded as by ``selfselect train``.
    label, group : str
        Its columns of labels and groups.
    positive : str, optional
        The label that means qualified, if not 1 or true.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "applicants.csv"
    ...     _ = path.write_text("years,town,hired,sex\n1,A,0,f\n4,B,1,m\n7,A,1,f\n")
    ...     source = own_table(path, "hired", "sex")
    >>> source.name, source.load().features.shape
    ('applicants', (3, 4))
    """
    full = Path(path).resolve()
    source = CsvSource(full.stem, str(full), label, group, positive)
    if source.name in BUNDLED:
        raise ValueError(f"{full.name} has the name of a bundled data set; rename the file.")
    source.load()
    return source
