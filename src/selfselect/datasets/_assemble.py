"""One shape for all data sets: features, label, group, and the options of every loader."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import Bunch


@dataclass(frozen=True)
class Population:
    """People with readable and encoded features, before a loader's options are applied.

    Attributes
    ----------
    readable, encoded : DataFrame of shape (n_rows, n_features)
        Features without the group: as people read them, and as numbers.
    target : ndarray of shape (n_rows,)
        Labels of 0 and 1.
    group : Series of shape (n_rows,)
        Group of each row, a categorical whose name is the group's column.
    """

    readable: pd.DataFrame
    encoded: pd.DataFrame
    target: np.ndarray[Any, Any]
    group: pd.Series
    target_name: str
    descr: str

    def take(self, rows: np.ndarray[Any, Any]) -> Population:
        """Keep some rows, numbered anew."""
        return Population(
            self.readable.iloc[rows].reset_index(drop=True),
            self.encoded.iloc[rows].reset_index(drop=True),
            self.target[rows],
            self.group.iloc[rows].reset_index(drop=True),
            self.target_name,
            self.descr,
        )

    def deliver(
        self,
        *,
        return_X_y_group: bool = False,
        as_frame: bool = True,
        encoded: bool = True,
        drop_group: bool = False,
        **extra: Any,
    ) -> Bunch | tuple[Any, Any, Any]:
        """Apply a loader's options."""
        if encoded:
            features, group_part = (
                self.encoded,
                pd.get_dummies(self.group, prefix=self.group.name, dtype=float),
            )
        else:
            features, group_part = self.readable, self.group.to_frame()
        data = features.copy() if drop_group else pd.concat([group_part, features], axis=1)
        target = pd.Series(self.target.astype(np.int64), name=self.target_name)
        group = self.group.copy()
        if return_X_y_group:
            if as_frame:
                return data, target, group
            return data.to_numpy(), target.to_numpy(), group.astype(object).to_numpy()
        frame = pd.concat([data, target], axis=1)
        if group.name not in frame.columns:
            frame.insert(0, group.name, group)
        return Bunch(
            data=data if as_frame else data.to_numpy(),
            target=target if as_frame else target.to_numpy(),
            group=group if as_frame else group.astype(object).to_numpy(),
            frame=frame if as_frame else None,
            group_columns=[] if drop_group else list(group_part.columns),
            feature_names=list(data.columns),
            target_name=self.target_name,
            group_name=group.name,
            DESCR=self.descr,
            **extra,
        )


def min_max(frame: pd.DataFrame) -> pd.DataFrame:
    """Scale each column to [0, 1]; a constant column becomes 0."""
    low, width = frame.min(), frame.max() - frame.min()
    return (frame - low) / width.where(width > 0, 1.0)


def one_hot(frame: pd.DataFrame) -> pd.DataFrame:
    """One column of 0 and 1 per value of each column, named column_value."""
    return pd.get_dummies(frame, dtype=float)
