"""Accuracy among applicants against social cost, over classifiers trained under limits on social cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import clone
from tqdm import tqdm

from .._frames import to_pandas
from .._validation import check_fraction, check_same_rows
from ..constraints import InfeasibleError, MaxSocialCost, check_constraints
from ..counting import encode_groups
from ..estimators import StrategicClassifier


def accuracy_social_cost_frontier(
    X: Any,
    y: ArrayLike,
    *,
    sensitive_features: Any,
    limits: Sequence[float] | None = None,
    sample_weight: ArrayLike | None = None,
    person: ArrayLike | None = None,
    evaluate: tuple[Any, Any, Any] | None = None,
    estimator: Any = None,
    progress: bool = True,
    **settings: Any,
) -> pd.DataFrame:
    """Train one classifier per limit on social cost, and compare accuracy among applicants.

    Parameters
    ----------
    X, y, sensitive_features
        Training data, as in :meth:`StrategicClassifier.fit`.
    limits : sequence of float, optional
        Limits on social cost; by default 1, .9, ... 0.
    sample_weight : array-like, optional
        Weights of the training data.
    person : array-like, optional
        Who each row of the training data is about, if people have several rows.
    evaluate : tuple (X, y, sensitive_features), optional
        New people to evaluate on; by default the training data.
    estimator : classifier, optional
        Any classifier that takes constraints; by default :class:`StrategicClassifier`. Limits come on top of its own
        constraints.
    progress : bool, default=True
        Show a progress bar on a terminal.
    **settings
        Parameters (cost, subsidies, ...) in place of those of ``estimator``.

    Returns
    -------
    DataFrame, indexed by max_social_cost
        feasible, induced_accuracy, social_cost, application_rate, applying_groups, who (the groups that apply),
        efficient (no other row is better in one and no worse in the other). Numbers are NaN where the limit
        cannot be met.

    Examples
    --------
    >>> from selfselect.datasets import make_base_rate_groups
    >>> X, y, z = make_base_rate_groups((0.5, 0.15), n_per_group=500, random_state=0, return_X_y_group=True)
    >>> frontier = accuracy_social_cost_frontier(X, y, sensitive_features=z, cost=0.7, limits=[1, 0])
    >>> frontier["who"].tolist()
    [('z1',), ('z0', 'z1')]
    """
    if limits is not None and (np.ndim(limits) != 1 or len(limits) == 0):
        raise ValueError(f"limits must be a list of at least one limit on social cost, got {limits!r}.")
    chosen = np.linspace(1, 0, 11) if limits is None else [check_fraction(limit, "limits") for limit in limits]
    base = clone(StrategicClassifier() if estimator is None else estimator).set_params(**settings)
    if "constraints" not in base.get_params(deep=False):
        raise TypeError(
            f"{type(base).__name__} takes no constraints, and so no limit on social cost; StrategicClassifier, "
            "SemiStrategicClassifier and GroupThresholdClassifier do."
        )
    own = check_constraints(base.constraints)
    rows = {"sample_weight": sample_weight, "person": person}
    check_same_rows(X=X, y=y, sensitive_features=sensitive_features, **rows)
    groups = encode_groups(sensitive_features, n_rows=len(to_pandas(y)))
    people = (X, y, groups) if evaluate is None else evaluate
    points = []
    for limit in tqdm(chosen, desc="social cost", disable=None if progress else True, leave=False):
        model = clone(base).set_params(constraints=[*own, MaxSocialCost(float(limit))])
        row: dict[str, Any] = {"max_social_cost": float(limit), "feasible": True}
        try:
            model.fit(X, y, sensitive_features=groups, **rows)
        except InfeasibleError:
            points.append(row | {"feasible": False, "who": ()})
            continue
        applies = model.applies()
        result = model.audit(*people, **(rows if evaluate is None else {})).outcome.to_dict()
        points.append(row | result | {"who": tuple(applies.index[applies])})
    columns = ["feasible", "induced_accuracy", "social_cost", "application_rate", "applying_groups", "who"]
    frame = pd.DataFrame(points).set_index("max_social_cost").reindex(columns=columns)
    cost, accuracy = frame["social_cost"].to_numpy(float), frame["induced_accuracy"].to_numpy(float)
    no_worse = (cost[None, :] <= cost[:, None]) & (accuracy[None, :] >= accuracy[:, None])
    better = no_worse & ((cost[None, :] < cost[:, None]) | (accuracy[None, :] > accuracy[:, None]))
    frame["efficient"] = ~np.isnan(accuracy) & ~better.any(axis=1)
    return frame
