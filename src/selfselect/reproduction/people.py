"""The people of an experiment, and the data sets they come from: the bundled ones, or a table of one's own."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from .._errors import InputError
from .._validation import FloatArray
from ..auditing import group_names
from ..datasets import fetch_adult, fetch_bank
from ..tabular.data_checks import Finding
from ..tabular.encoding import TableEncoder
from ..tabular.loading import PeopleColumns, read_for_training
from ..tabular.read import open_table
from .marks import FileMark

#: Share of the people that is kept for testing, in every split.
TEST_SHARE = 0.3
#: The data sets of the paper, by the name under which results are stored, with the name that people read.
BUNDLED = {
    "adult": "Adult",
    "bank_30": "Bank (30% of negatives removed)",
    "bank_original": "Bank (original)",
}


@dataclass(frozen=True, eq=False)
class People:
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

    def take(self, rows: NDArray[np.intp]) -> People:
        """Some of them; all groups stay known, also those of which nobody is left."""
        return People(self.features[rows], self.n_group_columns, self.y[rows], self.codes[rows], self.groups)

    def fingerprint(self) -> str:
        """SHA-256 of everything about them, to tell whether two results came from the same people."""
        digest = hashlib.sha256(repr((self.features.shape, self.n_group_columns, self.groups)).encode())
        for array in (self.features, self.y, self.codes.astype(np.int64)):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()


@dataclass(frozen=True, eq=False)
class Split:
    """The same people, some to train on and some to test on.

    Attributes
    ----------
    train, test : People
        Both know all groups, also those of which they hold nobody.
    """

    train: People
    test: People


def split_people(people: People, split: int) -> Split:
    """Split people at random into 70% for training and 30% for testing, by the number of the split.

    Examples
    --------
    >>> halves = split_people(BundledDataset("adult").load(), 0)
    >>> len(halves.train.y), len(halves.test.y)
    (11231, 4814)
    """
    train, test = train_test_split(np.arange(len(people.y)), test_size=TEST_SHARE, random_state=split)
    return Split(people.take(train), people.take(test))


class Dataset(Protocol):
    """Something that has a name and can load its people, here or in another process."""

    @property
    def name(self) -> str:
        """Name under which results are stored."""
        ...

    def load(self) -> People:
        """Read its people."""
        ...


@dataclass(frozen=True)
class BundledDataset:
    """One of the data sets of the paper, which every installation has.

    Attributes
    ----------
    name : str
        A key of :data:`BUNDLED`.

    Examples
    --------
    >>> BundledDataset("adult").load().groups
    ('Asian-Pac-Islander', 'Black', 'Other', 'White')
    """

    name: str

    def __post_init__(self) -> None:
        if self.name not in BUNDLED:
            raise InputError(f"No bundled data set {self.name!r}; there are {', '.join(BUNDLED)}.", key="dataset")

    def load(self) -> People:
        """Read its people; once per process."""
        return _load_bundled(self.name)


@dataclass(frozen=True)
class CsvDataset:
    """A table of one's own; see :func:`own_dataset`.

    Attributes
    ----------
    name : str
        Name under which results are stored.
    path : str
        The file.
    columns : PeopleColumns
        Its columns of labels and of groups.
    ignore : tuple of str
        Columns not to learn from.
    written : tuple of pairs
        How the file is written, as :func:`selfselect.tabular.read.open_table` takes it.
    mark : FileMark, optional
        How the file was at first: whoever reads it, in whatever process, must find it so.
    """

    name: str
    path: str
    columns: PeopleColumns
    ignore: tuple[str, ...] = ()
    written: tuple[tuple[str, Any], ...] = ()
    mark: FileMark | None = None

    def load(self) -> People:
        """Read its people; once per process."""
        return _load_csv(self)[0]

    def check(self) -> None:
        """Refuse a file that has changed since it was first read."""
        if self.mark is not None:
            self.mark.check(self.path)

    def findings(self) -> list[Finding]:
        """What looks wrong with it."""
        return list(_load_csv(self)[1])

    def notes(self) -> list[str]:
        """What was found out about how it is written."""
        return list(_load_csv(self)[2])


@dataclass(frozen=True, eq=False)
class LoadedDataset:
    """People who travel with their name, for machines that do not have the file.

    Attributes
    ----------
    name : str
        Name under which results are stored.
    people : People
        The people.
    """

    name: str
    people: People

    def load(self) -> People:
        """The people themselves."""
        return self.people


@lru_cache(maxsize=len(BUNDLED))
def _load_bundled(name: str) -> People:
    bunch = fetch_adult() if name == "adult" else fetch_bank(negatives_removed=0.3 if name == "bank_30" else 0.0)
    return People(
        features=bunch.data.to_numpy(dtype=np.float64),
        n_group_columns=len(bunch.group_columns),
        y=bunch.target.to_numpy(dtype=np.int64),
        codes=bunch.group.cat.codes.to_numpy(dtype=np.intp),
        groups=tuple(map(str, bunch.group.cat.categories)),
    )


@lru_cache(maxsize=1)
def _load_csv(own: CsvDataset) -> tuple[People, tuple[Finding, ...], tuple[str, ...]]:
    found: list[Finding] = []
    with open_table(own.path, **dict(own.written)) as table:
        read = read_for_training(table, own.columns, ignore=own.ignore, learn_from_groups=False, findings=found)
        n_groups = read.groups.n_groups
        if n_groups < 2:
            raise table.error("there is one group only; there must be at least two", column=own.columns.groups[0])
    own.check()  # also a file that changed while it was read
    features = TableEncoder.fit(read.columns).transform(read.columns)
    people = People(
        features=np.hstack([np.eye(n_groups)[read.groups.codes], features]),
        n_group_columns=n_groups,
        y=read.y.astype(np.int64),
        codes=read.groups.codes,
        groups=tuple(group_names(read.groups.labels)),
    )
    return people, tuple(found), tuple(table.notes)


def own_dataset(
    path: str | Path,
    label: str,
    group: str | Sequence[str],
    positive: str | Sequence[str] | None = None,
    *,
    missing: str = "error",
    ignore: Sequence[str] = (),
    **written: Any,
) -> CsvDataset:
    r"""Data set of one's own, named after its file; read at once, so that mistakes show before any work.

    Parameters
    ----------
    path : str or Path
        File, read and encoded as by ``selfselect train``.
    label : str
        Its column of labels.
    group : str or sequence of str
        Its column of groups, or several whose combinations are the groups.
    positive : str or sequence of str, optional
        The labels that mean qualified, if not 1 or true.
    missing : {"error", "own_group"}, default="error"
        What to do with rows whose group is empty.
    ignore : sequence of str, optional
        Columns not to learn from.
    **written
        How the file is written, as :func:`selfselect.tabular.read.open_table` takes it; by default found out.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "applicants.csv"
    ...     _ = path.write_text("years,town,hired,sex\n1,A,0,f\n4,B,1,m\n7,A,1,f\n")
    ...     own = own_dataset(path, "hired", "sex")
    ...     own.name, own.load().features.shape
    ('applicants', (3, 4))
    """
    full = Path(path).resolve()
    named = (positive,) if isinstance(positive, str) else tuple(positive or ())
    groups = (group,) if isinstance(group, str) else tuple(group)
    columns = PeopleColumns(label, groups, named or None, missing)
    mark = FileMark.of(str(full)) if full.is_file() else None  # whoever opens it says what is wrong
    own = CsvDataset(full.stem, str(full), columns, tuple(ignore), tuple(sorted(written.items())), mark)
    if own.name in BUNDLED:
        raise InputError(f"{full.name} has the name of a bundled data set; rename the file.")
    _load_csv.cache_clear()  # the file may have changed since it was read last
    own.load()
    return own
