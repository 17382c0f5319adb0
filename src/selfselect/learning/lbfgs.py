"""L-BFGS for several functions at a time: their evaluations are one matrix product."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._validation import BoolArray, FloatArray

#: Steps that the approximation of curvature remembers.
MEMORY = 10
#: A step must lower the value by this part of what the slope promises, and leave no more than this part of the slope.
DECREASE, CURVATURE = 1e-3, 0.9
#: Trials of one line search.
MAX_TRIALS = 20
#: A function is minimised when no derivative is larger, or when a step lowers the value by a smaller part.
GRADIENT_TOLERANCE, VALUE_TOLERANCE = 1e-5, 2e-9

#: From points of some of the functions, one per row, and which these are, to values and gradients.
Functions: TypeAlias = Callable[[FloatArray, NDArray[np.intp]], tuple[FloatArray, FloatArray]]


def minimise(
    functions: Functions, start: FloatArray, iterations: int, tolerance: float = GRADIENT_TOLERANCE
) -> tuple[FloatArray, NDArray[np.intp]]:
    """Points of shape (n_functions, n_parameters) after at most so many steps each, and the steps that were made.

    Each function goes its own way: steps, curvature and line search (weak Wolfe conditions, by bisection) are its own.
    """
    n, everyone = len(start), np.arange(len(start))
    x = np.array(start, dtype=np.float64)
    value, gradient = functions(x, everyone)
    steps, changes = (np.zeros((MEMORY, *x.shape)) for _ in range(2))
    inverse = np.zeros((MEMORY, n))  # 1 / (step . change), 0 where nothing is remembered
    scale = 1 / np.maximum(np.linalg.norm(gradient, axis=1), 1.0)
    direction, length = -gradient * scale[:, None], np.ones(n)
    low, high, trials, made = np.zeros(n), np.full(n, np.inf), np.zeros(n, dtype=int), np.zeros(n, dtype=np.intp)
    active = np.isfinite(value) & (np.abs(gradient).max(axis=1) > tolerance) & (iterations > 0)
    while active.any():
        which = np.flatnonzero(active)
        trial = x[which] + length[which, None] * direction[which]
        with np.errstate(over="ignore", invalid="ignore"):
            new_value, new_gradient = functions(trial, which)
        slope = _dot(gradient[which], direction[which])
        promised = DECREASE * length[which] * slope
        fell = np.isfinite(new_value) & np.isfinite(new_gradient).all(axis=1) & (new_value <= value[which] + promised)
        flat = fell & (_dot(new_gradient, direction[which]) >= CURVATURE * slope)
        trials[which] += 1
        accepted = flat | (fell & (trials[which] >= MAX_TRIALS))
        active[which[~fell & (trials[which] >= MAX_TRIALS)]] = False
        _search(which[~accepted], fell[~accepted], length, low, high)
        done = which[accepted]
        if not len(done):
            continue
        step, change = trial[accepted] - x[done], new_gradient[accepted] - gradient[done]
        lowered = (value[done] - new_value[accepted]) / np.maximum(
            np.maximum(np.abs(value[done]), np.abs(new_value[accepted])), 1.0
        )
        x[done], value[done], gradient[done] = trial[accepted], new_value[accepted], new_gradient[accepted]
        _remember(done, step, change, steps, changes, inverse)
        made[done] += 1
        ended = (made[done] >= iterations) | (lowered <= VALUE_TOLERANCE)
        active[done[ended | (np.abs(gradient[done]).max(axis=1) <= tolerance)]] = False
        direction[done] = _direction(gradient[done], steps[:, done], changes[:, done], inverse[:, done])
        length[done], low[done], high[done], trials[done] = 1.0, 0.0, np.inf, 0
    return x, made


def _dot(one: FloatArray, other: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("ij,ij->i", one, other))


def _search(which: NDArray[np.intp], fell: BoolArray, length: FloatArray, low: FloatArray, high: FloatArray) -> None:
    """Next trial of line searches: further where the value fell enough but the slope is still steep, else nearer."""
    now = length[which]
    low[which] = np.where(fell, now, low[which])
    high[which] = np.where(fell, high[which], now)
    bounded = np.isfinite(high[which])
    length[which] = np.where(bounded, (low[which] + np.where(bounded, high[which], 0.0)) / 2, 2 * now)


def _remember(
    done: NDArray[np.intp],
    step: FloatArray,
    change: FloatArray,
    steps: FloatArray,
    changes: FloatArray,
    inverse: FloatArray,
) -> None:
    """Put a step and the change of the gradient last in the memory of each function, if their curvature is positive."""
    curvature = _dot(step, change)
    useful = curvature > np.finfo(float).eps * _dot(change, change)
    done = done[useful]
    for memory, latest in ((steps, step), (changes, change)):
        memory[:-1, done] = memory[1:, done]
        memory[-1, done] = latest[useful]
    inverse[:-1, done] = inverse[1:, done]
    inverse[-1, done] = 1 / curvature[useful]


def _direction(gradient: FloatArray, steps: FloatArray, changes: FloatArray, inverse: FloatArray) -> FloatArray:
    """Minus the gradient times the approximate inverse of the second derivatives (two loops over the memory)."""
    result, weights = -gradient, np.zeros(inverse.shape)
    some = np.flatnonzero(inverse.any(axis=1))
    for i in some[::-1]:
        weights[i] = inverse[i] * _dot(steps[i], result)
        result = result - weights[i][:, None] * changes[i]
    square = _dot(changes[-1], changes[-1])
    known = inverse[-1] > 0
    scale = np.where(known, 1 / np.where(known, inverse[-1] * square, 1.0), 1.0)
    scale = np.where(known, scale, 1 / np.maximum(np.linalg.norm(gradient, axis=1), 1.0))
    result = result * scale[:, None]
    for i in some:
        correction = weights[i] - inverse[i] * _dot(changes[i], result)
        result = result + correction[:, None] * steps[i]
    return np.asarray(result)
