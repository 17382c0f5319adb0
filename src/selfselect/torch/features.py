"""Features of any shape as rows that can be selected, hashed and passed to a module."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import check_array
from torch.utils.data import Dataset, IterableDataset, default_collate

from .._validation import check_same_length
from .checks import as_array

#: Rows with more values are hashed as a whole, not column by column.
MAX_COLUMNS = 512
#: Name of an array that is passed to the module by itself.
ALONE = ""


class Features:
    """Rows of arrays of any shape, by name; ``features[rows]`` selects rows.

    Examples
    --------
    >>> images = Features({"image": np.zeros((5, 8, 8)), "age": np.arange(5)})
    >>> images.shape, images[np.array([0, 3])].arrays["age"].tolist()
    ((5, 65), [0, 3])
    """

    def __init__(self, arrays: dict[str, NDArray[Any]]) -> None:
        self.arrays = arrays

    @property
    def layout(self) -> dict[str, tuple[int, ...]]:
        """Shape of one row, by the name of the array."""
        return {name: tuple(array.shape[1:]) for name, array in self.arrays.items()}

    def __len__(self) -> int:
        return len(next(iter(self.arrays.values())))

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows, and of values in a row."""
        return len(self), sum(int(np.prod(shape)) for shape in self.layout.values())

    def __getitem__(self, rows: Any) -> Features:
        return Features({name: array[rows] for name, array in self.arrays.items()})

    def flat(self) -> NDArray[np.float64]:
        """All values of a row in one row of a table."""
        columns = [array.reshape(len(self), -1).astype(np.float64, copy=False) for array in self.arrays.values()]
        return columns[0] if len(columns) == 1 else np.hstack(columns)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Table by which rows are hashed; rows with many values have one column."""
        table = self.flat()
        if table.shape[1] <= MAX_COLUMNS:
            return table
        odd = 2 * pd.util.hash_array(np.arange(table.shape[1])) + np.uint64(1)
        hashes = pd.util.hash_array(table.ravel()).reshape(table.shape) * odd
        return np.asarray(hashes.sum(axis=1, dtype=np.uint64)[:, None])

    def tensors(self) -> Any:
        """The arrays as tensors: whole numbers as int64, all other numbers as float32."""
        tensors = {
            name: torch.from_numpy(array.astype(np.int64 if array.dtype.kind in "iu" else np.float32))
            for name, array in self.arrays.items()
        }
        return tensors.get(ALONE, tensors)


def unwrap(X: Any) -> Any:
    """Tensors as arrays, and a Dataset as the batch of all its items; of items that are tuples, the first entry."""
    if isinstance(X, Dataset):
        items = X if isinstance(X, IterableDataset) else (X[i] for i in range(len(X)))
        X = default_collate([item[0] if isinstance(item, tuple | list) else item for item in items])
    if isinstance(X, Mapping) and not issparse(X):  # a sparse matrix may be a dict of its cells
        return {str(name): unwrap(part) for name, part in X.items()}
    return as_array(X)


def check_parts(X: dict[str, Any]) -> Features:
    """A dict of arrays as features: finite numbers, and as many rows in each."""
    if not X:
        raise ValueError("X is an empty dict: pass at least one array, by the name of an argument of the module.")
    parts = {
        name: check_array(part, ensure_2d=False, allow_nd=True, input_name=f"X[{name!r}]") for name, part in X.items()
    }
    check_same_length(**{f"X[{name!r}]": part for name, part in parts.items()})
    return Features(parts)
