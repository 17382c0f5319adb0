"""Stratified batches."""

import numpy as np
import pytest

from extras import skip_module_without

skip_module_without("torch")

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.utils.data import DataLoader, TensorDataset

from selfselect.torch import GroupBatchSampler


@given(st.lists(st.integers(1, 80), min_size=1, max_size=6), st.integers(1, 60), st.integers(0, 5))
def test_everybody_is_in_one_batch_and_every_batch_has_its_share_of_every_group(sizes, batch_size, seed):
    group = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(sizes)), sizes))
    sampler = GroupBatchSampler(torch.tensor(group), batch_size, seed=seed)
    batches = list(sampler)
    assert len(batches) == len(sampler)
    assert sorted(np.concatenate(batches)) == list(range(len(group)))
    share = np.array(sizes) / len(group)
    for batch in batches:
        counts = np.bincount(group[batch], minlength=len(sizes))
        assert (np.abs(counts - len(batch) * share) <= 1 + 2 * len(sizes) * share).all()


def test_a_seed_repeats_all_epochs_and_epochs_differ():
    group = torch.arange(100) % 3
    one, other = (GroupBatchSampler(group, 10, seed=7) for _ in range(2))
    epochs = [list(one), list(one)]
    assert epochs == [list(other), list(other)]
    assert epochs[0] != epochs[1]
    assert epochs[0] != list(GroupBatchSampler(group, 10, seed=8))


@given(st.lists(st.integers(1, 80), min_size=1, max_size=6), st.integers(1, 60), st.integers(1, 10), st.integers(0, 5))
def test_small_groups_are_drawn_again_until_batches_have_enough_and_weights_undo_it(sizes, batch_size, least, seed):
    if least * len(sizes) >= batch_size:
        with pytest.raises(ValueError, match=f"Set batch_size above {least * len(sizes)}"):
            GroupBatchSampler(np.repeat(np.arange(len(sizes)), sizes), batch_size, min_per_group=least)
        return
    group = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(sizes)), sizes))
    sampler = GroupBatchSampler(group, batch_size, min_per_group=least, seed=seed)
    batches = list(sampler)
    assert len(batches) == len(sampler)
    drawn = np.bincount(np.concatenate(batches), minlength=len(group))
    by_group = np.bincount(group, drawn)
    np.testing.assert_allclose(np.bincount(group, drawn * sampler.weight.numpy()), sizes, rtol=1e-5)
    assert (by_group * batch_size / drawn.sum() > least - len(sizes) * least / drawn.sum() - 1e-4).all()
    for size, times in zip(sizes, (drawn[group == code] for code in range(len(sizes))), strict=True):
        assert times.min() >= 1  # everybody, and all about as often
        assert times.max() - times.min() <= 1
        assert times.sum() == size or times.sum() * batch_size / drawn.sum() < least + 1


def test_without_a_minimum_nobody_is_drawn_twice():
    assert (GroupBatchSampler([0] * 90 + [1], 10).weight == 1).all()


def test_a_loaded_state_continues_with_the_next_epoch():
    one, other = (GroupBatchSampler(torch.arange(100) % 3, 10, seed=seed) for seed in (0, 1))
    list(one)
    other.load_state_dict(one.state_dict())
    assert list(one) == list(other)


def test_labels_and_their_codes_give_the_same_batches():
    assert list(GroupBatchSampler(["b", "a", "b", "a"], 2)) == list(GroupBatchSampler(torch.tensor([1, 0, 1, 0]), 2))


def test_the_last_batch_can_be_left_out():
    sampler = GroupBatchSampler(torch.arange(25) % 2, 10, drop_last=True)
    assert [len(batch) for batch in sampler] == [10, 10]
    assert len(sampler) == 2


def test_to_leave_out_the_only_batch_is_refused():
    with pytest.raises(ValueError, match="drop_last=True leaves no batch"):
        GroupBatchSampler([0, 1], 3, drop_last=True)


def test_a_data_loader_takes_the_batches():
    group = torch.arange(20) % 2
    data = TensorDataset(torch.arange(20.0), group)
    for _, codes in DataLoader(data, batch_sampler=GroupBatchSampler(group, 4)):
        assert codes.sum() == 2


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ((torch.zeros(0), 2), "is empty"),
        ((torch.zeros(3), 0), "batch_size must be a whole number of at least 1"),
    ],
)
def test_bad_arguments_are_named(arguments, match):
    with pytest.raises(ValueError, match=match):
        GroupBatchSampler(*arguments)
