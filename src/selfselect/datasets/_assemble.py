"""Common form of all data sets, and the options of every loader."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import Bunch


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


def min_max(frame: pd.DataFrame) -> pd.DataFrame:
    """Scale each column to [0, 1]; a constant column becomes 0."""
    low, width = frame.min(), frame.max() - frame.min()
    return (frame - low) / width.where(width > 0, 1.0)
