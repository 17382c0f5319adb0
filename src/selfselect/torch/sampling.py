"""Stratified minibatches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils.data import Sampler

from .._validation import check_whole
from ..counting import encode_groups
from .checks import as_array


class GroupBatchSampler(Sampler[list[int]]):
    """Batches in which every group has about its share of all people; ``batch_sampler`` of a DataLoader.

    In each epoch everybody is in a batch, and every group is spread over the epoch.

    Parameters
    ----------
    group : tensor, array-like or DataFrame of n_rows rows
        Group of each person, as codes or labels. Codes such as ``2 * group + y`` balance labels as well.
    batch_size : int
        People in a batch; the last batch may have fewer.
    min_per_group : int, default=0
        People of each group in a batch, on average. People of groups that would have fewer are drawn several times in
        an epoch, and :attr:`weight` makes up for it.
    seed : int, default=0
        Seed of all epochs. Two samplers with the same seed return the same batches.
    drop_last : bool, default=False
        Whether to leave out the last batch of an epoch if it has fewer people.

    Attributes
    ----------
    weight : tensor of shape (n_rows,)
        One over the number of times that each person is drawn in an epoch: ``sample_weight`` of the loss.

    Notes
    -----
    Of a group with the share ``s`` of all people that are drawn, a full batch has ``s * batch_size`` people, give or
    take ``1 + 2 K s``, for K groups. To continue an interrupted training with the same batches, load ``state_dict``.

    Examples
    --------
    >>> group = torch.tensor([0, 0, 0, 0, 1, 1])
    >>> sampler = GroupBatchSampler(group, batch_size=3)
    >>> len(sampler), sorted(sum(sampler, []))
    (2, [0, 1, 2, 3, 4, 5])
    >>> GroupBatchSampler(group, batch_size=5, min_per_group=2).weight
    tensor([1.0000, 1.0000, 1.0000, 1.0000, 0.6667, 0.6667])
    """

    def __init__(
        self, group: Any, batch_size: int, *, min_per_group: int = 0, seed: int = 0, drop_last: bool = False
    ) -> None:
        self._codes = encode_groups(as_array(group)).codes
        self._sizes = np.bincount(self._codes)
        self.batch_size = check_whole(batch_size, "batch_size", 1)
        if check_whole(min_per_group, "min_per_group", 0) * len(self._sizes) >= batch_size:
            raise ValueError(
                f"min_per_group={min_per_group} of {len(self._sizes)} groups leaves no room for others in a batch of "
                f"{batch_size}. Set batch_size above {min_per_group * len(self._sizes)}, or lower min_per_group."
            )
        drawn = self._sizes.astype(np.float64)
        # people that are drawn more often make an epoch longer, and so others rarer
        while (least := min_per_group * drawn.sum() / batch_size) > drawn.min() + 1e-6:
            drawn = np.maximum(drawn, least)
        self._drawn = np.ceil(drawn - 1e-6).astype(np.intp)
        self.weight = torch.from_numpy((self._sizes / self._drawn)[self._codes]).float()
        self.drop_last = drop_last
        if not len(self):
            raise ValueError(
                f"drop_last=True leaves no batch: batch_size={batch_size} exceeds {len(self._codes)} people."
            )
        self._random = np.random.default_rng(check_whole(seed, "seed", 0))

    def __len__(self) -> int:
        n_drawn = int(self._drawn.sum())
        return n_drawn // self.batch_size if self.drop_last else -(-n_drawn // self.batch_size)

    def __iter__(self) -> Iterator[list[int]]:
        order = self._epoch().tolist()
        for i in range(len(self)):
            yield order[i * self.batch_size : (i + 1) * self.batch_size]

    def _epoch(self) -> NDArray[np.intp]:
        """Everybody in an order in which each group, itself in random order, is spread evenly."""
        shuffled = self._random.permutation(len(self._codes))
        by_group = shuffled[np.argsort(self._codes[shuffled], kind="stable")]
        sizes, drawn = (np.repeat(numbers, self._drawn) for numbers in (self._sizes, self._drawn))
        first = np.repeat(np.cumsum(self._sizes) - self._sizes, self._drawn)
        rank = np.arange(len(drawn)) - np.repeat(np.cumsum(self._drawn) - self._drawn, self._drawn)
        offset = np.repeat(self._random.uniform(size=len(self._sizes)), self._drawn)
        # after its last person a group starts again with the first
        return np.asarray(by_group[first + rank % sizes][np.argsort((rank + offset) / drawn, kind="stable")])

    def state_dict(self) -> dict[str, Any]:
        """Random state, from which the next epoch follows."""
        return {"random": self._random.bit_generator.state}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue with the next epoch after ``state_dict`` was called."""
        self._random.bit_generator.state = state["random"]
