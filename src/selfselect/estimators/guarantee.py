"""Guarantee for a finished classifier: it is chosen on some people, and tested on the people set aside.

The score, its threshold or thresholds, and the groups that should apply are chosen on the fitted people by
cross-fitting, with a margin that makes the test likely to pass. Then these groups are tested together on the people set
aside; see :mod:`selfselect.publishing.guarantee`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri

from .._frames import take_rows
from .._notices import captured_warnings
from .._validation import FloatArray, list_some
from ..constraints import Constraints, InfeasibleError
from ..counting import position_of, ratio
from ..publishing import CrossFit, LowerBound, guarantee_groups
from ..publishing.splits import as_publishing
from ..statistics import SLACK
from .training_data import TrainingPeople, groups_for

#: Probability that the test of a group passes, where thresholds can be chosen so.
POWER = 0.8
#: Highest confidence among the fitted people.
MAX_CONFIDENCE = 1 - 1e-9


def fit_with_guarantee(model: Any, people: TrainingPeople) -> None:
    """Fit a classifier to a part of the people, and test on the others which groups reach their cost."""
    fitted, evaluated = people.splits.final, people.splits.evaluated
    labels, fitted_groups = people.groups.labels, people.groups.take(fitted)
    chosen = _choose(model, fitted_groups.labels, people)
    model.__dict__.pop("feature_names_in_", None)  # of an earlier fit
    model.__dict__.update({name: value for name, value in vars(chosen).items() if name.endswith("_")})
    tested = np.zeros(len(labels), dtype=bool)
    confidence = _confidence(model)
    applies = chosen.set_params(publish=CrossFit(statistic=LowerBound(confidence))).applies().to_numpy()
    tested[position_of(fitted_groups.labels, labels, "The fitted", "the training data")] = applies
    score, in_sample = (_scores(chosen, *people.take(rows)) for rows in (evaluated, fitted))
    costs = model._terms().effective_cost(labels)
    counts = people.counts(evaluated, score > 0)
    model.promise_level_, promised = guarantee_groups(counts, tested, costs, 1 - confidence)
    model.promised_ = pd.Series(promised, index=labels, name="promised")
    model._publish(people, score, in_sample)
    _check_limits(model)


def _scores(chosen: Any, X: Any, groups: Any) -> FloatArray:
    """Scores, positive for the selected; 1 and -1 if the classifier has no score that agrees with its predictions."""
    selected = np.asarray(chosen._predict_with_groups(X, groups)) == chosen.positive_
    if hasattr(chosen, "decision_function"):
        decided = chosen.decision_function(X, **groups_for(chosen, "decision_function", groups))
        score = np.asarray(chosen._for_second_class(decided), dtype=np.float64)
        if ((score > 0) == selected).all():
            return score
    return np.where(selected, 1.0, -1.0)


def _choose(model: Any, labels: pd.Index, people: TrainingPeople) -> Any:
    """Classifier to be tested: one that is likely to pass if there is one, else one that may pass."""
    rows, likely = people.splits.final, confidence_for_power(_confidence(model), as_publishing(model.publish).size)
    (X, groups), y = people.take(rows), take_rows(people.y, rows)
    weight, person = take_rows(people.given_weights, rows), take_rows(people.person, rows)
    for confidence in (likely, _confidence(model)):
        chosen = _without_guarantee(model, labels, confidence)
        with captured_warnings():  # they are about counts that are not published
            try:
                chosen.fit(X, y, sensitive_features=groups, sample_weight=weight, person=person)
            except InfeasibleError:
                if confidence == likely:
                    continue
                raise
        if chosen.applies().any():
            break
    return chosen


def confidence_for_power(confidence: float, holdout: float) -> float:
    """Confidence among the fitted people with which a group passes the test with probability :data:`POWER`.

    The test on ``n`` people needs a margin of ``ndtri(confidence) + ndtri(POWER)`` of their standard errors. In
    standard errors of the fitted people, who are ``(1 - holdout) / holdout`` times as many, that is a larger number.
    """
    errors = (ndtri(confidence) + ndtri(POWER)) * np.sqrt((1 - holdout) / holdout)
    return float(np.clip(ndtr(errors), confidence, max(MAX_CONFIDENCE, confidence)))


def _without_guarantee(model: Any, groups: pd.Index, confidence: float) -> Any:
    """The same classifier without a guarantee, for the groups that are among the fitted people."""
    params = model.get_params(deep=False) | {"publish": CrossFit(statistic=LowerBound(confidence))}
    for name in ("cost", "subsidies"):
        if isinstance(params[name], Mapping | pd.Series):
            kept = set(groups)
            params[name] = {label: value for label, value in params[name].items() if label in kept}
    return type(model)(**params)


def _confidence(model: Any) -> float:
    """Probability with which all guarantees must hold."""
    return float(as_publishing(model.publish).statistic.confidence)


def _check_limits(model: Any) -> None:
    """Raise if a required group did not pass the test, or if too many of the qualified are of other groups."""
    table, promised = model.published_, model.promised_.to_numpy()
    advice = "Lower the cost, subsidise these groups, set more people aside, or ask for less confidence."
    constraints = Constraints.of(model.constraints, table.groups)
    failed = constraints.required_of(len(promised)) & ~promised
    if failed.any():
        precision = ", ".join(f"{value:.3f}" for value in table.counts.precision[failed][:5])
        raise InfeasibleError(
            f"{list_some(table.groups[failed])} must apply, but its cost cannot be guaranteed with a probability of "
            f"{_confidence(model):g}: the precision of the people set aside is {precision}. {advice}"
        )
    limit = constraints.max_social_cost
    if limit < 1:
        social_cost = 1 - float(ratio(table.counts.positives[promised].sum(), table.counts.positives.sum()))
        if social_cost > limit + SLACK:
            raise InfeasibleError(
                f"At most {limit:g} of the qualified may stay away, but {social_cost:.3f} of those set aside are of "
                f"groups whose cost cannot be guaranteed with a probability of {_confidence(model):g}. {advice}"
            )
