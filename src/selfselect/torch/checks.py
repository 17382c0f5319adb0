"""Checks of tensors: each error names the argument, what is wrong and what to do."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from .._validation import BoolArray, FloatArray


def check_score(score: Any, n_rows: int) -> FloatArray:
    """Finite scores of shape (n_rows,) or (n_scores, n_rows), as an array in double precision."""
    if not isinstance(score, Tensor) or not score.is_floating_point():
        raise TypeError(f"score must be a tensor of floating-point numbers, got {_kind(score)}.")
    shape = tuple(score.shape)
    if shape[-1:] != (n_rows,) or score.ndim > 2:
        if shape == (n_rows, 1):
            remedy = "Pass score.squeeze(-1)."
        elif score.ndim == 2 and shape[0] == n_rows:
            remedy = "The module must have one output per person: end it with Linear(..., 1), and pass score[:, 0]."
        else:
            remedy = "Pass one score per person, or several scores in the shape (n_scores, n_rows)."
        raise ValueError(f"score has shape {shape}, but y has {n_rows} entries. {remedy}")
    numbers: FloatArray = score.detach().cpu().double().numpy()
    wrong = ~np.isfinite(numbers)
    if wrong.any():
        row = wrong.nonzero()[-1][0]
        raise ValueError(
            f"score is NaN or infinite for {wrong.sum()} of {wrong.size} entries, first at row {row}. "
            "Look for missing features; if the training diverged, lower the learning rate or clip gradients."
        )
    return numbers


def check_labels(y: Any) -> BoolArray:
    """Labels of 0 and 1 as a boolean array."""
    y = _as_row(y, "y")
    if y.dtype != bool and not np.logical_or(y == 0, y == 1).all():
        wrong = y[(y != 0) & (y != 1)][0]
        raise ValueError(f"y must hold only 0 and 1 (or False and True), found {wrong}. Convert the labels first.")
    return np.asarray(y, dtype=bool)


def check_codes(group: Any, n_rows: int, n_groups: int) -> NDArray[np.intp]:
    """Codes of groups from 0 to ``n_groups - 1``, one per row."""
    codes = _as_row(group, "group", n_rows)
    if codes.dtype.kind not in "iu":
        raise TypeError(
            f"group must hold whole numbers from 0 to {n_groups - 1}, got {codes.dtype}. Convert codes by group.long() "
            "and labels by selfselect.encode_groups(labels).codes."
        )
    if codes.min() < 0 or codes.max() >= n_groups:
        wrong = codes[(codes < 0) | (codes >= n_groups)][0]
        raise ValueError(
            f"group has the code {wrong}, but n_groups={n_groups} allows 0 to {n_groups - 1}. Set n_groups to the "
            "number of groups of all data, and use the same codes for training and validation."
        )
    return codes.astype(np.intp, copy=False)


def check_weight(weight: Any, n_rows: int) -> FloatArray | None:
    """Weights as an array; the objective checks their values."""
    return None if weight is None else _as_row(weight, "sample_weight", n_rows).astype(np.float64, copy=False)


def _as_row(values: Any, name: str, n_rows: int | None = None) -> NDArray[Any]:
    """A one-dimensional tensor (or what can be made one) as an array."""
    try:
        tensor = torch.as_tensor(values).detach()
    except (TypeError, ValueError, RuntimeError) as error:
        raise TypeError(
            f"{name} must be a tensor, or numbers of which one can be made ({error}). Make codes of labels by "
            "selfselect.encode_groups(labels).codes."
        ) from error
    if tensor.dtype in (torch.float16, torch.bfloat16):
        tensor = tensor.float()
    if tensor.ndim != 1 or not len(tensor) or n_rows not in (None, len(tensor)):
        expected = "(n_rows,) with at least one row" if n_rows is None else f"({n_rows},), as y has"
        raise ValueError(
            f"{name} has shape {tuple(tensor.shape)}; it must have shape {expected}: one entry per person."
        )
    array: NDArray[Any] = tensor.cpu().numpy()
    return array


def _kind(value: Any) -> str:
    return f"a tensor of {value.dtype}" if isinstance(value, Tensor) else type(value).__name__
