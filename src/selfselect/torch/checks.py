"""Checks of tensors: each error names the argument, what is wrong and what to do."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from .._validation import BoolArray, FloatArray, check_binary


def as_array(values: Any) -> Any:
    """A tensor as an array; anything else as it is."""
    if not isinstance(values, Tensor):
        return values
    values = values.detach().cpu()
    return (values.float() if values.dtype == torch.bfloat16 else values).numpy()  # numpy has no bfloat16


def check_labels(y: Any) -> BoolArray:
    """Labels of 0 and 1 as a boolean array."""
    labels = np.asarray(as_array(y))
    qualified = labels == 1
    if labels.ndim == 1 and labels.size and (qualified | (labels == 0)).all():
        return np.asarray(qualified, dtype=bool)
    return check_binary(labels, "y")  # slower; says what is wrong


def check_score(score: Any, n_rows: int) -> FloatArray:
    """Finite scores of shape (n_rows,) or (n_scores, n_rows), as an array in double precision."""
    if not isinstance(score, Tensor) or not score.is_floating_point():
        kind = f"a tensor of {score.dtype}" if isinstance(score, Tensor) else type(score).__name__
        raise TypeError(f"score must be a tensor of floating-point numbers, got {kind}.")
    shape = tuple(score.shape)
    if shape[-1:] != (n_rows,) or score.ndim > 2:
        remedy = "Pass one score per person, or several scores in the shape (n_scores, n_rows)."
        if shape == (n_rows, 1):
            remedy = "Pass score.squeeze(-1)."
        elif shape[:1] == (n_rows,):
            remedy = "The module must have one output per person: end it with Linear(..., 1)."
        raise ValueError(f"score has shape {shape}, but y has {n_rows} entries. {remedy}")
    numbers: FloatArray = as_array(score).astype(np.float64, copy=False)
    if not np.isfinite(numbers).all():
        wrong = np.argwhere(~np.isfinite(numbers))
        raise ValueError(
            f"score is NaN or infinite for {len(wrong)} of {numbers.size} entries, first at row {wrong[0, -1]}. "
            "Look for missing features; if the training diverged, lower the learning rate or clip gradients."
        )
    return numbers


def check_codes(group: Any, n_rows: int, n_groups: int) -> NDArray[np.intp]:
    """Codes of groups from 0 to ``n_groups - 1``, one per row."""
    codes = np.asarray(as_array(group))
    if codes.dtype.kind not in "iu":
        raise TypeError(
            f"group must hold whole numbers from 0 to {n_groups - 1}, got {codes.dtype}. Convert codes by group.long() "
            "and labels by selfselect.encode_groups(labels).codes."
        )
    if codes.shape != (n_rows,):
        raise ValueError(f"group has shape {codes.shape}, but y has {n_rows} entries. Pass one code per person.")
    if codes.min() < 0 or codes.max() >= n_groups:
        wrong = codes[(codes < 0) | (codes >= n_groups)][0]
        raise ValueError(
            f"group has the code {wrong}, but n_groups={n_groups} allows 0 to {n_groups - 1}. Set n_groups to the "
            "number of groups of all data, and use the same codes for training and validation."
        )
    return codes.astype(np.intp, copy=False)
