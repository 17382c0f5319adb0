"""Synthetic populations that show the effects of self-selection. Second parameters of Gaussians are deviations.

All functions take the options ``return_X_y_group``, ``as_frame`` and ``drop_group`` of :func:`fetch_adult` as keywords.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import check_random_state

from .._validation import check_fraction, check_whole
from ._tables import Population

RandomState = int | np.random.RandomState | None


def _bunch(
    make: Callable[..., Any], features: dict[str, Any], y: Any, codes: Any, options: dict[str, Any], **extra: Any
) -> Any:
    frame = pd.DataFrame(features)
    labels = [f"z{code}" for code in range(codes.max() + 1)]
    group = pd.Series(pd.Categorical.from_codes(codes, labels), name="group")
    population = Population(frame, frame, np.asarray(y, dtype=np.int64), group, "qualified", str(make.__doc__))
    return population.deliver(**options, extra=extra)


def make_base_rate_groups(
    base_rates: Sequence[float] = (0.5, 0.15),
    *,
    n_per_group: int = 10_000,
    random_state: RandomState = None,
    **options: bool,
) -> Any:
    """Groups that differ only in their base rate: assumed against induced accuracy (Figure 10 of the paper).

    ``x | y=0 ~ N(-.5, .5)`` and ``x | y=1 ~ N(.5, .5)`` in every group. Depending on base rates and cost, the induced
    accuracy of a logistic regression is equal to, below or above the assumed one: with base rates (.5, .5) and cost .8
    both groups apply, with (.5, .15) and .8 only the first, with (.5, .85) and .9 only the second.

    Parameters
    ----------
    base_rates : sequence of float, default=(0.5, 0.15)
        Share of qualified people in each group.
    n_per_group : int, default=10_000
        Rows per group.
    random_state : int, RandomState or None
        Seed.
    **options
        ``return_X_y_group``, ``as_frame`` and ``drop_group`` of :func:`fetch_adult`.

    Examples
    --------
    >>> make_base_rate_groups((0.5, 0.5, 0.15), n_per_group=100, random_state=0).data.shape
    (300, 4)
    """
    rates = np.asarray([check_fraction(rate, "base_rates") for rate in base_rates])
    if not len(rates):
        raise ValueError("base_rates is empty: there must be at least one group.")
    size = check_whole(n_per_group, "n_per_group", 1)
    random = check_random_state(random_state)
    codes = np.repeat(np.arange(len(rates)), size)
    y = random.uniform(size=len(codes)) < rates[codes]
    x = random.normal(np.where(y, 0.5, -0.5), 0.5)
    return _bunch(make_base_rate_groups, {"x": x}, y, codes, options)


def make_ordering_constraint(
    n_samples: tuple[int, int] = (1_000, 9_000), *, random_state: RandomState = None, **options: bool
) -> Any:
    """Two groups whose best classifier is not a threshold on a naive score (Figure 11 of the paper).

    Base rates are .3 (z0) and .7 (z1), the cost is .8. ``x2 | y ~ N(-.35, .3)`` or ``N(.25, .3)`` is weakly informative
    about everybody. ``x1`` is highly informative about z0 (``N(-.3, .1)`` or ``N(.2, .1)``) and not at all about z1
    (``N(0, .2)``). A naive score relies on x2, so that z1 applies before z0 at any threshold: the induced accuracy is
    at most about .86. With x1 alone z0 applies and z1 does not: about .99.

    Parameters
    ----------
    n_samples : tuple of two ints, default=(1_000, 9_000)
        Rows of z0 and z1.
    random_state, **options
        As in :func:`make_base_rate_groups`.

    Examples
    --------
    >>> make_ordering_constraint((10, 90), random_state=0).data.columns.tolist()
    ['group_z0', 'group_z1', 'x1', 'x2']
    """
    if not isinstance(n_samples, tuple | list) or len(n_samples) != 2:
        raise ValueError(f"n_samples must hold the rows of both groups, got {n_samples!r}.")
    codes = np.repeat([0, 1], [check_whole(size, "n_samples", 1) for size in n_samples])
    random = check_random_state(random_state)
    y = random.uniform(size=len(codes)) < np.array([0.3, 0.7])[codes]
    first = codes == 0
    x1 = random.normal(np.where(first, np.where(y, 0.2, -0.3), 0.0), np.where(first, 0.1, 0.2))
    x2 = random.normal(np.where(y, 0.25, -0.35), 0.3)
    return _bunch(make_ordering_constraint, {"x1": x1, "x2": x2}, y, codes, options, cost=0.8)


def make_precision_curves(
    n_groups: int = 10, *, n_per_group: int = 1_000, random_state: RandomState = 0, **options: bool
) -> Any:
    """Random groups whose precision curves cross the cost at different thresholds, or never (Figure 4 of the paper).

    Drawn for each group, in this order: base rate ``U(0, 1)``; mean ``U(.5, 1)`` and deviation ``U(.2, .5)`` of x among
    the qualified; mean ``U(0, .5)`` and deviation ``U(.2, .5)`` among the others; labels; x. The cost is .8. Ten groups
    and seed 0 are the paper's.

    Parameters
    ----------
    n_groups : int, default=10
        Number of groups.
    n_per_group : int, default=1_000
        Rows per group.
    random_state, **options
        As in :func:`make_base_rate_groups`.

    Examples
    --------
    >>> make_precision_curves(n_groups=3, n_per_group=50).data.shape
    (150, 4)
    """
    groups, size = check_whole(n_groups, "n_groups", 1), check_whole(n_per_group, "n_per_group", 1)
    random = check_random_state(random_state)
    labels, values, base_rates = [], [], []
    for _ in range(groups):
        base_rate = random.uniform(0, 1)
        mean_1, std_1 = random.uniform(0.5, 1), random.uniform(0.2, 0.5)
        mean_0, std_0 = random.uniform(0, 0.5), random.uniform(0.2, 0.5)
        y = random.binomial(1, base_rate, size)
        labels.append(y)
        values.append(np.where(y, random.normal(mean_1, std_1, size), random.normal(mean_0, std_0, size)))
        base_rates.append(base_rate)
    features, codes = {"x": np.concatenate(values)}, np.repeat(np.arange(groups), size)
    extra = {"cost": 0.8, "base_rates": np.array(base_rates)}
    return _bunch(make_precision_curves, features, np.concatenate(labels), codes, options, **extra)


def make_calibrated_score(n_samples: int = 10_000, *, random_state: RandomState = None, **options: bool) -> Any:
    """One group with a score that is calibrated but not monotone (Lemma 4 and Figure 8 of the paper).

    ``x ~ U(0, 1)`` is the score, and ``P(y=1 | x) = (x - 1/3)^2 + 1/3``, which falls up to 1/3. The precision above t
    is ``(4 + 3 t^2) / 9``, which never falls.

    Parameters
    ----------
    n_samples : int, default=10_000
        Rows.
    random_state, **options
        As in :func:`make_base_rate_groups`.

    Examples
    --------
    >>> make_calibrated_score(100, random_state=0).data.shape
    (100, 2)
    """
    size = check_whole(n_samples, "n_samples", 1)
    random = check_random_state(random_state)
    x = random.uniform(size=size)
    y = random.uniform(size=size) < (x - 1 / 3) ** 2 + 1 / 3
    return _bunch(make_calibrated_score, {"x": x}, y, np.zeros(size, dtype=int), options)
