"""The two passes over scores that a descent makes in every step, for many scores of the same people at once.

Written as plain loops: numba (an extra) makes machine code of them, in which a pass over a score costs about as much as
reading it. Without numba the same is done by numpy, with the same results to rounding.

Rows are sorted by group and, within a group, by label: segment ``2 z`` holds the unqualified of group z and segment
``2 z + 1`` its qualified. Sums are kept in double precision whatever the scores are in.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Rows that are looked at together: little enough to stay in the nearest cache between loops.
CHUNK = 512
#: Terms of the series of exp around 0 (to ln(2) / 2) and of the logarithm (as an area tangent, to 1 / 3).
EXP_TERMS, LOG_TERMS = 14, 18
#: What the compiler may do: sum in any order and contract products; it may not assume that numbers are finite.
LIBERTIES = frozenset({"reassoc", "contract", "nsz", "arcp"})

#: Which sum is where, in the first axis of what :meth:`Passes.forward` gives.
LOSS, PASSES, ACCEPTED, SELECTED = range(4)


@dataclass(frozen=True, eq=False)
class Constants:
    """Constants of the exponential and the logarithm, in one precision.

    Attributes
    ----------
    exp, log : ndarray
        Coefficients of the series: ``1 / k!`` and ``2 / (2 k + 1)``.
    binary : ndarray
        Least exponent; ``1 / ln 2``; ln 2 in two parts; bias and unit of the exponent in a floating-point number; 0;
        one half.
    bits, power : ndarray of shape (CHUNK,)
        Room for powers of two: the same memory as whole numbers and as floating-point ones.
    """

    exp: NDArray[Any]
    log: NDArray[Any]
    binary: NDArray[Any]
    bits: NDArray[Any]
    power: NDArray[Any]

    @classmethod
    def of(cls, dtype: Any) -> Constants:
        """Constants for single or double precision."""
        if np.dtype(dtype) == np.float32:
            lowest, high, low, bias, unit = -87.0, 0.693359375, -2.12194440e-4, 127, 2.0**23
        else:
            lowest, high, low, bias, unit = (
                -708.0,
                6.93147180369123816490e-01,
                1.90821492927058770002e-10,
                1023,
                2.0**52,
            )
        bits = np.empty(CHUNK, dtype=np.int32 if np.dtype(dtype) == np.float32 else np.int64)
        return cls(
            np.array([1 / math.factorial(k) for k in range(EXP_TERMS)], dtype=dtype),
            np.array([2 / (2 * k + 1) for k in range(LOG_TERMS)], dtype=dtype),
            np.array([lowest, 1 / math.log(2), high, low, bias, unit, 0, 0.5], dtype=dtype),
            bits,
            bits.view(dtype),
        )


# ---------------------------------------------------------------------- loops, for the compiler


def _forward_loops(
    score: Any,
    weight: Any,
    first: Any,
    exp: Any,
    log: Any,
    binary: Any,
    bits: Any,
    power: Any,
    temperature: Any,
    sharpness: Any,
    soft: Any,
    proxy: Any,
    sums: Any,
    top: Any,
) -> None:
    """Fill smooth predictions, sums per segment and the row of the largest score; see :meth:`Passes.forward`.

    With ``u = exp(-t |s|)``, in (0, 1] whatever the score: ``sigma(t s)`` is ``1 / (1 + u)`` or ``u / (1 + u)``, and
    the log-loss is ``log(1 + u)``, plus ``t |s|`` where the sign of s is wrong.
    """
    c0, c1, c2, c3, c4, c5, c6 = exp[0], exp[1], exp[2], exp[3], exp[4], exp[5], exp[6]
    c7, c8, c9, c10, c11, c12, c13 = exp[7], exp[8], exp[9], exp[10], exp[11], exp[12], exp[13]
    l0, l1, l2, l3, l4, l5, l6, l7, l8 = log[0], log[1], log[2], log[3], log[4], log[5], log[6], log[7], log[8]
    l9, l10, l11, l12, l13, l14 = log[9], log[10], log[11], log[12], log[13], log[14]
    l15, l16, l17 = log[15], log[16], log[17]
    lowest, per_two, high, low, bias, unit = binary[0], binary[1], binary[2], binary[3], binary[4], binary[5]
    zero, half, one, two = binary[6], binary[7], c0, l0
    for b in range(score.shape[0]):
        for g in range(len(first) - 1):
            wrong = -temperature if g % 2 else temperature
            all_loss = all_passes = all_accepted = all_selected = 0.0
            best, at = score[b, first[g]] if first[g] < first[g + 1] else zero, -1
            for begin in range(first[g], first[g + 1], CHUNK):
                n = min(begin + CHUNK, first[g + 1]) - begin
                s, v = score[b, begin : begin + n], weight[begin : begin + n]
                a, p = soft[b, begin : begin + n], proxy[b, begin : begin + n]
                for i in range(n):
                    x = max(-temperature * abs(s[i]), lowest)
                    k = np.floor(x * per_two + half)
                    r = x - k * high - k * low
                    e = c7 + r * (c8 + r * (c9 + r * (c10 + r * (c11 + r * (c12 + r * c13)))))
                    a[i] = c0 + r * (c1 + r * (c2 + r * (c3 + r * (c4 + r * (c5 + r * (c6 + r * e))))))
                    bits[i] = (k + bias) * unit
                loss = accepted = selected = passes = zero
                for i in range(n):
                    u = a[i] * power[i]
                    t = u / (two + u)
                    z = t * t
                    f = l9 + z * (l10 + z * (l11 + z * (l12 + z * (l13 + z * (l14 + z * (l15 + z * (l16 + z * l17)))))))
                    f = l1 + z * (l2 + z * (l3 + z * (l4 + z * (l5 + z * (l6 + z * (l7 + z * (l8 + z * f)))))))
                    loss += v[i] * (max(wrong * s[i], zero) + t * (l0 + z * f))
                    q = one / (one + u)
                    q = q if s[i] > zero else u * q
                    a[i] = q
                    accepted += v[i] * q
                    selected += v[i] if s[i] > zero else zero
                for i in range(n):
                    x = max(-sharpness * abs(s[i]), lowest)
                    k = np.floor(x * per_two + half)
                    r = x - k * high - k * low
                    e = c7 + r * (c8 + r * (c9 + r * (c10 + r * (c11 + r * (c12 + r * c13)))))
                    p[i] = c0 + r * (c1 + r * (c2 + r * (c3 + r * (c4 + r * (c5 + r * (c6 + r * e))))))
                    bits[i] = (k + bias) * unit
                for i in range(n):
                    u = p[i] * power[i]
                    q = one / (one + u)
                    q = q if s[i] > zero else u * q
                    p[i] = q
                    passes += v[i] * q
                m0 = m1 = m2 = m3 = s[0]  # four at a time: a single running maximum is one long wait
                for i in range(0, n - 3, 4):
                    m0, m1 = max(m0, s[i]), max(m1, s[i + 1])
                    m2, m3 = max(m2, s[i + 2]), max(m3, s[i + 3])
                for i in range(n - n % 4, n):
                    m0 = max(m0, s[i])
                m0 = max(max(m0, m1), max(m2, m3))
                if at < 0 or m0 > best:
                    best, at = m0, begin
                all_loss += loss
                all_passes += passes
                all_accepted += accepted
                all_selected += selected
            if at >= 0:
                while score[b, at] != best and at < first[g + 1] - 1:
                    at += 1
            sums[0, b, g], sums[1, b, g], sums[2, b, g] = all_loss, all_passes, all_accepted
            sums[3, b, g], top[b, g] = all_selected, at


def _backward_loops(
    soft: Any, proxy: Any, weight: Any, first: Any, slopes: Any, temperature: Any, sharpness: Any, one: Any, out: Any
) -> None:
    """Fill slopes per score; see :meth:`Passes.backward`. Constants come in the precision of the scores."""
    for b in range(soft.shape[0]):
        for g in range(len(first) - 1):
            per_loss, per_accepted = temperature * slopes[0, b, g], temperature * slopes[2, b, g]
            per_pass = sharpness * slopes[1, b, g]
            qualified = per_loss if g % 2 else one - one
            a, p = soft[b, first[g] : first[g + 1]], proxy[b, first[g] : first[g + 1]]
            v, o = weight[first[g] : first[g + 1]], out[b, first[g] : first[g + 1]]
            for i in range(len(a)):
                x, q = a[i], p[i]
                o[i] = v[i] * (x * per_loss - qualified + x * (one - x) * per_accepted + q * (one - q) * per_pass)


@lru_cache(maxsize=1)
def _compiled() -> tuple[Any, Any] | None:
    """Both passes as machine code, or None without numba."""
    try:
        import numba
    except ImportError:
        return None
    translate = numba.njit(cache=True, fastmath=set(LIBERTIES), error_model="numpy")
    return translate(_forward_loops), translate(_backward_loops)


# ---------------------------------------------------------------------- for everybody else


class Passes:
    """Forward over scores to sums per segment, and back from slopes in these to slopes per score.

    Parameters
    ----------
    weight : ndarray of shape (n_rows,)
        In the precision that everything is done in.
    first : ndarray of shape (n_segments + 1,)
        First row of each segment, and the number of rows.
    n_scores : int
        Scores that are passed over at once.
    temperature, sharpness : float
        ``t`` of ``y~ = sigma(t s)`` (loss and penalties) and ``t'`` of ``p = sigma(t' s)`` (precision proxy).
    with_numba : bool
        Whether to use numba where it is installed.

    Attributes
    ----------
    soft, proxy : ndarray of shape (n_scores, n_rows)
        ``y~`` and ``p`` of the last pass forward.
    """

    def __init__(
        self,
        weight: NDArray[Any],
        first: NDArray[np.intp],
        n_scores: int,
        temperature: float,
        sharpness: float,
        *,
        with_numba: bool = True,
    ) -> None:
        number = weight.dtype.type
        self.weight, self.first = weight, first
        self.temperature, self.sharpness, self._one = number(temperature), number(sharpness), number(1)
        self.soft, self.proxy, self._out = (np.empty((n_scores, len(weight)), dtype=number) for _ in range(3))
        self._sums = np.zeros((4, n_scores, len(first) - 1))
        self._top = np.zeros((n_scores, len(first) - 1), dtype=np.intp)
        self._loops = _compiled() if with_numba else None
        self._constants = Constants.of(number)
        self._present = np.flatnonzero(np.diff(first))  # reduceat has no empty sums
        qualified = np.repeat(np.arange(len(first) - 1) % 2, np.diff(first)) > 0
        self._qualified, self._wrong = qualified, np.where(qualified, -self.temperature, self.temperature)

    def forward(self, score: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """Sums per segment, and where its largest score is; both are overwritten by the next pass.

        Parameters
        ----------
        score : ndarray of shape (n_scores, n_rows)

        Returns
        -------
        sums : ndarray of shape (4, n_scores, n_segments)
            ``sum v log-loss(y, y~)``, ``sum v p``, ``sum v y~`` and ``sum v 1{s > 0}``.
        top : ndarray of shape (n_scores, n_segments)
            The first row of the largest score, -1 in an empty segment.
        """
        if self._loops is None:
            self._forward_by_numpy(score)
        else:
            c = self._constants
            self._loops[0](
                score,
                self.weight,
                self.first,
                c.exp,
                c.log,
                c.binary,
                c.bits,
                c.power,
                self.temperature,
                self.sharpness,
                self.soft,
                self.proxy,
                self._sums,
                self._top,
            )
        return self._sums, self._top

    def backward(self, slopes: NDArray[Any]) -> NDArray[Any]:
        """Slope of a value with respect to each score; overwritten by the next pass.

        Parameters
        ----------
        slopes : ndarray of shape (3, n_scores, n_segments)
            With respect to the first three sums, in the precision of the scores.
        """
        if self._loops is None:
            self._backward_by_numpy(slopes)
        else:
            self._loops[1](
                self.soft,
                self.proxy,
                self.weight,
                self.first,
                slopes,
                self.temperature,
                self.sharpness,
                self._one,
                self._out,
            )
        return self._out

    def _forward_by_numpy(self, score: NDArray[Any]) -> None:
        size, u = np.abs(score), self._out
        np.exp(np.multiply(size, -self.temperature, out=u), out=u)
        self._add_up(LOSS, np.log1p(u) + np.maximum(score * self._wrong, 0))
        self._sigmoid(score, u, self.soft)
        self._add_up(ACCEPTED, self.soft)
        np.exp(np.multiply(size, -self.sharpness, out=u), out=u)
        self._sigmoid(score, u, self.proxy)
        self._add_up(PASSES, self.proxy)
        self._add_up(SELECTED, score > 0)
        self._top[:] = -1
        for segment in self._present:
            begin = self.first[segment]
            self._top[:, segment] = begin + score[:, begin : self.first[segment + 1]].argmax(axis=1)

    def _sigmoid(self, score: NDArray[Any], u: NDArray[Any], out: NDArray[Any]) -> None:
        np.divide(self._one, self._one + u, out=out)
        np.multiply(out, u, out=out, where=score <= 0)

    def _add_up(self, which: int, values: NDArray[Any]) -> None:
        weighted = (values * self.weight).astype(np.float64)
        self._sums[which][:, self._present] = np.add.reduceat(weighted, self.first[self._present], axis=1)

    def _backward_by_numpy(self, slopes: NDArray[Any]) -> None:
        size = np.diff(self.first)
        per_loss, per_pass, per_accepted = (np.repeat(part, size, axis=1) for part in slopes)
        out = self.temperature * ((self.soft - self._qualified) * per_loss)
        out += self.temperature * (self.soft * (self._one - self.soft) * per_accepted)
        out += self.sharpness * (self.proxy * (self._one - self.proxy) * per_pass)
        np.multiply(out, self.weight, out=self._out)
