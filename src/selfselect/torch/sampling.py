"""Stratified minibatches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch.utils.data import Sampler

from .._validation import check_whole


class GroupBatchSampler(Sampler[list[int]]):
    """Batches in which every group has about its share of all people; ``batch_sampler`` of a DataLoader.

    In each epoch everybody is in one batch. A group of fewer people than there are batches is spread over the epoch.

    Parameters
    ----------
    group : tensor or array of shape (n_rows,)
        Group of each person, as codes or labels. Codes such as ``2 * group + y`` balance labels as well.
    batch_size : int
        People in a batch; the last batch may have fewer.
    seed : int, default=0
        Seed of all epochs. Two samplers with the same seed return the same batches.
    drop_last : bool, default=False
        Whether to leave out the last batch of an epoch if it has fewer people.

    Notes
    -----
    Of a group with the share ``s`` of all people, a full batch has ``s * batch_size`` people, give or take
    ``1 + 2 K s``, for K groups.

    Examples
    --------
    >>> sampler = GroupBatchSampler(torch.tensor([0, 0, 0, 0, 1, 1]), batch_size=3)
    >>> len(sampler), sorted(sum(sampler, []))
    (2, [0, 1, 2, 3, 4, 5])
    """

    def __init__(self, group: Any, batch_size: int, *, seed: int = 0, drop_last: bool = False) -> None:
        codes = group.detach().cpu().numpy() if isinstance(group, torch.Tensor) else np.asarray(group)
        if codes.ndim != 1 or not len(codes):
            raise ValueError(f"group has shape {codes.shape}; pass the group of each person in one dimension.")
        self.batch_size = check_whole(batch_size, "batch_size", 1)
        self.drop_last = drop_last
        _, self._codes, self._sizes = np.unique(codes, return_inverse=True, return_counts=True)
        self._random = np.random.default_rng(check_whole(seed, "seed", 0))

    def __len__(self) -> int:
        n_rows = len(self._codes)
        return n_rows // self.batch_size if self.drop_last else -(-n_rows // self.batch_size)

    def __iter__(self) -> Iterator[list[int]]:
        order = self._epoch().tolist()
        for i in range(len(self)):
            yield order[i * self.batch_size : (i + 1) * self.batch_size]

    def _epoch(self) -> np.ndarray[Any, np.dtype[np.intp]]:
        """Everybody in an order in which each group, itself in random order, is spread evenly."""
        shuffled = self._random.permutation(len(self._codes))
        by_group = shuffled[np.argsort(self._codes[shuffled], kind="stable")]
        rank = np.arange(len(by_group)) - np.repeat(np.cumsum(self._sizes) - self._sizes, self._sizes)
        offset = self._random.uniform(size=len(self._sizes))
        position = (rank + np.repeat(offset, self._sizes)) / np.repeat(self._sizes, self._sizes)
        return np.asarray(by_group[np.argsort(position, kind="stable")])
