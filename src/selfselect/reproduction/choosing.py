"""A setting that training data choose: the one that is most accurate on applicants whom the classifier had not seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from .people import People

#: Folds of the choice.
FOLDS = 5


def chosen_by_folds(model: Any, name: str, values: Sequence[Any], features: Any, people: People) -> Any:
    """Of several values of a setting, the one with the highest induced accuracy on people left out.

    In each fold the classifier publishes what its own training people say, the people left out decide by that, and are
    counted if they apply; accuracy is taken over the applicants of all folds together. The same is later done with the
    test set, which has no part in the choice.

    Parameters
    ----------
    model : classifier of this package
        Cloned, with ``name`` set.
    name : str
        A setting.
    values : sequence
        What it may be; of equally good ones, and if nobody ever applies, the first is taken.
    features : ndarray of shape (n_people, n_features)
        What the classifier learns from.
    people : People
        Labels and groups of the training set.

    Examples
    --------
    >>> from selfselect import StrategicClassifier
    >>> from selfselect.datasets import make_ordering_constraint
    >>> X, y, z = make_ordering_constraint(random_state=0, return_X_y_group=True)
    >>> codes, names = z.factorize()
    >>> X, y = X.to_numpy(), y.to_numpy()
    >>> people = People(X, 0, y, codes, tuple(names))
    >>> chosen_by_folds(StrategicClassifier(cost=0.8, publish="train"), "l2", [10.0, 0.0], X, people)
    0.0
    """
    correct, applicants = np.zeros(len(values)), np.zeros(len(values))
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    for fitted, left in folds.split(features, 2 * people.codes + (people.y == 1)):
        for place, value in enumerate(values):
            tried = clone(model).set_params(**{name: value})
            tried.fit(features[fitted], people.y[fitted], sensitive_features=people.codes[fitted])
            outcome = tried.audit(features[left], people.y[left], people.codes[left]).outcome
            came = outcome.application_rate * len(left)
            correct[place] += np.nan_to_num(outcome.induced_accuracy) * came
            applicants[place] += came
    accuracy = np.divide(correct, applicants, out=np.zeros(len(values)), where=applicants > 0)
    return values[int(np.argmax(accuracy))]
