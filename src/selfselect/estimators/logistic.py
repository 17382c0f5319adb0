"""The paper's naive score: logistic regression by a fixed number of steps of gradient descent."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from .._threads import one_thread
from ..learning import DescentSettings, FeatureBlock, logistic_by_descent
from .docs import estimator_class
from .training_data import two_classes


@estimator_class
class GradientDescentLogisticRegression(ClassifierMixin, BaseEstimator):
    """Logistic regression without penalty, trained by full-batch gradient descent from a Gaussian start.

    It minimises the mean log-loss of ``sigma(temperature * score)`` for a fixed number of steps, whether or not it
    converges: the paper's naive and semi-strategic learners are trained so. Use it as the ``estimator`` of
    :class:`NaiveClassifier` or :class:`SemiStrategicClassifier`.

    Parameters
    ----------
    temperature : float, default=2.0
        Sharpness of predictions.
    learning_rate : float, default=0.1
        Step size.
    max_iter : int, default=30_000
        Number of steps.
    dtype : {"float64", "float32"}, default="float64"
        Floating-point type; the paper's released code uses the second.
    random_state : int, RandomState or None, default=None
        Seed of the start.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
    intercept_ : ndarray of shape (1,)
    n_iter_ : int
        Number of steps.
    max_gradient_ : float
        Largest absolute component of the last gradient; near 0 after convergence.
    classes_ : ndarray of shape (2,)

    Examples
    --------
    >>> from selfselect.datasets import make_base_rate_groups
    >>> X, y, _ = make_base_rate_groups((0.5, 0.3), n_per_group=200, random_state=0, return_X_y_group=True)
    >>> model = GradientDescentLogisticRegression(max_iter=500, random_state=0).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.84
    """

    temperature: float = 2.0
    learning_rate: float = 0.1
    max_iter: int = 30_000
    dtype: str = "float64"
    random_state: int | np.random.RandomState | None = None

    def __sklearn_tags__(self) -> Any:
        """Tags of scikit-learn: two classes only."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X: Any, y: ArrayLike, sample_weight: Any = None) -> Self:
        """Fit by gradient descent.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
        y : array-like of shape (n_rows,)
            Labels of two kinds.
        sample_weight : array-like of shape (n_rows,), optional
            Weights.
        """
        X, y = validate_data(self, X, y, dtype=np.float64)
        self.classes_, codes = two_classes(np.asarray(y))
        weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        settings = DescentSettings(
            temperature=self.temperature,
            learning_rate=self.learning_rate,
            steps=self.max_iter,
            starts=1,
            dtype=self.dtype,
        )
        block = FeatureBlock.from_unsorted(X, codes == 1, np.zeros(len(codes), dtype=np.intp), weight, 1)
        with one_thread():
            parameters, self.max_gradient_ = logistic_by_descent(block, check_random_state(self.random_state), settings)
        if not np.isfinite(parameters).all():
            raise ValueError("Gradient descent diverged: scale the features, or lower learning_rate.")
        self.coef_, self.intercept_ = parameters[None, :-1], parameters[-1:]
        self.n_iter_ = self.max_iter
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score of each row, positive for the second class."""
        check_is_fitted(self, "coef_")
        X = validate_data(self, X, reset=False, dtype=np.float64)
        return np.asarray(X @ self.coef_[0] + self.intercept_[0])

    def predict(self, X: Any) -> NDArray[Any]:
        """Label of each row."""
        selected = self.decision_function(X) > 0  # raises if not fitted
        return np.asarray(self.classes_[selected.astype(np.intp)])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of both classes; ``sigma(temperature * score)`` for the second."""
        second = expit(self.temperature * self.decision_function(X))
        return np.column_stack([1 - second, second])
