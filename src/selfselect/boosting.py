"""Gradient boosting (LightGBM, XGBoost) on the strategic objective.

:func:`strategic_objective` makes a custom objective from :class:`~selfselect.StrategicObjective`.
:class:`ScoreClassifier` passes a boosted score on to :class:`~selfselect.SemiStrategicClassifier` or
:class:`~selfselect.GroupThresholdClassifier`, which choose a threshold and publish on people that the score has not
seen. Neither library is imported here; ``pip install selfselect[boosting]`` installs LightGBM.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from .behaviour import Behaviour
from .constraints import Constraint
from .counting import GroupCodes, encode_groups
from .learning import StrategicObjective

#: Least curvature of a person of weight 1. The log-loss has this curvature at a probability of 0.001. It keeps steps
#: small where nobody applies, so that gradient and curvature are both almost 0.
MIN_CURVATURE = 1e-3


def strategic_objective(
    group: Any = None,
    cost: Any = 0.7,
    *,
    behaviour: Behaviour | None = None,
    constraints: Sequence[Constraint] = (),
    temperature: float = 1.0,
    precision_temperature: float = 2.5,
    **settings: Any,
) -> BoostingObjective:
    """Custom objective of LightGBM and XGBoost: loss among those who apply.

    Parameters
    ----------
    group : array-like, Series, DataFrame or dict of columns, optional
        Group of each training row, in the order of the rows. Boosting libraries do not pass groups to an objective, so
        every training set (a fold of a cross-validation, for example) needs an objective of its own.
        :class:`ScoreClassifier` makes one for each ``fit``, from an objective without groups.
    cost : float, mapping from group to float, or ndarray of shape (n_groups,), default=0.7
        Cost that each group faces, in [0, 1].
    behaviour : Behaviour, optional
        How people respond; by default :class:`~selfselect.behaviour.BestResponse`.
    constraints : sequence of Constraint, default=()
        Their penalties are added. Only constraints that have a penalty change the training, such as
        :class:`~selfselect.constraints.DemographicParity`.
    temperature, precision_temperature : float, default=1, 2.5
        Half of the paper's temperatures, so that scores are log-odds as in ordinary boosting, and training can continue
        from an ordinary model.
    **settings
        Other parameters of :class:`~selfselect.StrategicObjective`.

    Returns
    -------
    BoostingObjective
        For the scikit-learn classes, ``objective=objective``. For the function ``train`` of both libraries,
        ``objective.native``.

    Notes
    -----
    **Start from an ordinary model** (``init_model`` of LightGBM) and add about 100 rounds at a learning rate of 0.1.
    From scores of 0, training favours the groups with the highest base rates, and may never leave them: so on
    :func:`~selfselect.datasets.make_ordering_constraint`, where the other group would be far easier to predict. After
    several hundred rounds, precision on the training data is much higher than on new people. Always publish on people
    that the score has not seen.

    **What to expect.** The example "Should gradient boosting know who will apply?" of the gallery measures this on
    Adult. With one threshold for all groups, continued training is more accurate among applicants than an ordinary
    score, because it shuts groups out. An ordinary score with a threshold for each group does the same, and was as
    accurate in all our experiments. Under a parity constraint and one threshold, training helps without more people
    staying away. Without the group among the features there was no clear gain.

    **XGBoost** starts at ``base_score``, by default 0.5: set it to 0. To continue from an ordinary model, pass its
    scores as ``base_margin`` to both ``fit`` and ``predict``; ``xgb_model`` loses the intercept when the objective
    changes.

    Examples
    --------
    An ordinary model comes first, and training continues from it. Use a regressor: its prediction is the score. ::

        from lightgbm import LGBMClassifier, LGBMRegressor

        plain = LGBMClassifier(n_estimators=60).fit(X, y)
        objective = strategic_objective(z, cost=0.8)
        boosted = LGBMRegressor(objective=objective, n_estimators=100).fit(X, y, init_model=plain)

    To choose a threshold, and publish on people that the score has not seen, let :class:`ScoreClassifier` repeat both
    steps in every fold; or only look at the outcome at threshold 0::

        boosting = LGBMRegressor(objective=strategic_objective(cost=0.8), n_estimators=100)
        score = ScoreClassifier(boosting, start=LGBMClassifier(n_estimators=60))
        SemiStrategicClassifier(score, cost=0.8).fit(X, y, sensitive_features=z)
        objective.strategic.hard(boosted.predict(X_new), y_new, z_new).outcome

    What a library gets from the objective:

    >>> objective = strategic_objective(["A", "A", "A", "B"], cost=0.7)
    >>> gradient, curvature = objective(np.array([1, 1, 0, 1]), np.array([1.0, 0.5, -1.0, -0.5]))
    >>> gradient.round(2), bool((curvature > 0).all())
    (array([-0.36, -0.38,  0.27, -0.83]), True)
    """
    strategic = StrategicObjective(
        cost,
        behaviour,
        tuple(constraints),
        temperature=temperature,
        precision_temperature=precision_temperature,
        **settings,
    )
    return BoostingObjective(strategic, None if group is None else encode_groups(group))


class BoostingObjective:
    """A strategic objective that boosting libraries can call; made by :func:`strategic_objective`.

    Gradient and curvature are multiplied by the total weight of all people. So they have the size of those of the
    ordinary log-loss, and settings such as ``min_child_weight`` mean what they usually mean.

    Attributes
    ----------
    strategic : StrategicObjective
        The objective for any people: ``strategic.hard(score, y, group)`` is the outcome of selecting positive scores.
    group : GroupCodes or None
        Group of each training row.
    """

    def __init__(self, strategic: StrategicObjective, group: GroupCodes | None = None) -> None:
        self.strategic = strategic
        self.group = group
        self._rows: Any = None

    def __call__(
        self, y_true: ArrayLike, y_pred: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Gradient and curvature with respect to each score.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
            Labels, 1 = qualified.
        y_pred : array-like of shape (n_rows,)
            Scores.
        sample_weight : array-like of shape (n_rows,), optional
            Weights.

        Returns
        -------
        gradient, curvature : ndarray of shape (n_rows,)
            The curvature is positive, except for people of weight 0.
        """
        y = np.asarray(y_true)
        weight = np.ones(len(y)) if sample_weight is None else np.array(sample_weight)
        gradient, curvature = self._on_rows(y, weight).gradient_and_curvature(y_pred)
        total = weight.sum(dtype=np.float64)
        return total * gradient, total * curvature + MIN_CURVATURE * weight

    def native(self, y_pred: ArrayLike, data: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        """The same for the function ``train`` of LightGBM (a Dataset) or XGBoost (a DMatrix)."""
        weight = data.get_weight()
        return self(data.get_label(), y_pred, weight if np.size(weight) else None)

    def _on_rows(self, y: NDArray[Any], weight: NDArray[Any]) -> Any:
        """The objective for labels and weights; the last one is kept, because they are the same in every round."""
        if self.group is None or len(y) != len(self.group):
            known = 0 if self.group is None else len(self.group)
            raise ValueError(
                f"The objective was made with the groups of {known} people, but is used with {len(y)}. Make it with "
                "the groups of exactly the rows that the model is trained on: strategic_objective(group, ...). "
                "Every fold of a cross-validation needs an objective of its own."
            )
        if self._rows is None or not all(map(np.array_equal, self._rows[1:], (y, weight))):
            self._rows = self.strategic.on_rows(y, self.group, weight), y.copy(), weight
        return self._rows[0]

    def __getstate__(self) -> dict[str, Any]:
        """A copy or a saved model keeps the groups, but not labels and weights."""
        return {**self.__dict__, "_rows": None}


class ScoreClassifier(ClassifierMixin, BaseEstimator):
    """A boosted model whose prediction is a score, as a classifier: a positive score is selected.

    Use it as ``estimator`` of :class:`~selfselect.SemiStrategicClassifier` or
    :class:`~selfselect.GroupThresholdClassifier`, which pass it the groups of each fold; with ``prefit=True`` for a
    model that is fitted already. Labels are 0 and 1.

    Parameters
    ----------
    model : regressor
        ``model.predict(X)`` is the score, as for LGBMRegressor and XGBRegressor with a :func:`strategic_objective`.
    start : classifier, optional
        Ordinary model of LightGBM from which training continues.

    Attributes
    ----------
    model_ : regressor
        The fitted model.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> X = np.array([[-1.0], [0.0], [1.0], [2.0]])
    >>> ScoreClassifier(LinearRegression().fit(X, [-1, -1, 1, 1])).predict(X)
    array([0, 0, 1, 1])
    """

    def __init__(self, model: Any, start: Any = None) -> None:
        self.model = model
        self.start = start

    @property
    def classes_(self) -> NDArray[np.int64]:
        """Labels."""
        return np.array([0, 1])

    def fit(self, X: Any, y: Any, sensitive_features: Any = None) -> ScoreClassifier:
        """Fit a copy of the model for the groups of these people."""
        objective = self.model.get_params().get("objective")
        if not isinstance(objective, BoostingObjective):
            raise TypeError(f"model must have objective=strategic_objective(...), got objective={objective!r}.")
        if not np.isin(y, (0, 1)).all():
            raise ValueError("Labels must be 0 and 1.")
        bound = BoostingObjective(objective.strategic, encode_groups(sensitive_features, n_rows=len(y)))
        given = {} if self.start is None else {"init_model": clone(self.start).fit(X, y)}
        self.model_ = clone(self.model).set_params(objective=bound).fit(X, y, **given)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score of each row."""
        return np.asarray(getattr(self, "model_", self.model).predict(X), dtype=np.float64)

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Whether each row has a positive score, as 0 or 1."""
        return (self.decision_function(X) > 0).astype(np.int64)
