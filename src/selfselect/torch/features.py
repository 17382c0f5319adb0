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
from torch.utils.data import Dataset, default_collate

from .._validation import check_same_length

#: Rows with more values are hashed as a whole, not column by column.
MAX_COLUMNS = 512


class Features:
    """Rows of one array of any shape, or of a dict of arrays; ``features[rows]`` selects rows.

    Examples
    --------
    >>> images = Features({"image": np.zeros((5, 8, 8)), "age": np.arange(5)})
    >>> images.shape, images[np.array([0, 3])].parts["age"].tolist()
    ((5, 65), [0, 3])
    """

    def __init__(self, parts: Any) -> None:
        self.parts = parts

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """All arrays by name; a single array is called X."""
        return self.parts if isinstance(self.parts, dict) else {"X": self.parts}

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
        if isinstance(self.parts, dict):
            return Features({name: array[rows] for name, array in self.parts.items()})
        return Features(self.parts[rows])

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
        """The parts as tensors: whole numbers as int64, all other numbers as float32."""

        def tensor(array: NDArray[Any]) -> torch.Tensor:
            return torch.from_numpy(array.astype(np.int64 if array.dtype.kind in "iu" else np.float32))

        return {k: tensor(v) for k, v in self.parts.items()} if isinstance(self.parts, dict) else tensor(self.parts)


def unwrap(X: Any) -> Any:
    """Tensors as arrays, and a Dataset as the batch of all its items; of items that are tuples, the first entry."""
    if isinstance(X, Dataset):
        items = [X[i] for i in range(len(X))]
        X = default_collate([item[0] if isinstance(item, tuple | list) else item for item in items])
    if isinstance(X, Mapping) and not issparse(X):  # a sparse matrix may be a dict of its cells
        return {str(name): unwrap(part) for name, part in X.items()}
    if isinstance(X, torch.Tensor):
        X = X.detach().cpu()
        return X.float().numpy() if X.dtype == torch.bfloat16 else X.numpy()
    return X


def check_parts(X: dict[str, Any]) -> Features:
    """A dict of arrays as features: finite numbers, and as many rows in each."""
    if not X:
        raise ValueError("X is an empty dict: pass at least one array, by the name of an argument of the module.")
    parts = {
        name: check_array(part, ensure_2d=False, allow_nd=True, input_name=f"X[{name!r}]") for name, part in X.items()
    }
    check_same_length(**{f"X[{name!r}]": part for name, part in parts.items()})
    return Features(parts)
