"""Promises that hold with a stated probability: a classifier is finished first, then tested on people set aside.

Everything is chosen on the people who are fitted: the score, its threshold or thresholds, and which groups are meant to
apply. All of it is cross-fitted among them, with something to spare, so that it is likely to pass. Then the groups that
are meant are tested on the others, together; see :mod:`selfselect.publishing.guarantee`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri
from sklearn.utils.validation import check_consistent_length

from .._formats import count, percent
from .._frames import plain_frame, take_rows
from .._notices import PromiseWarning, notices_kept, warn
from .._validation import FloatArray, some_of
from ..behaviour import SLACK, Behaviour, PromisedRule, SureRule, highest_cost, surely_reaches
from ..counting import GroupCodes, GroupCounts, locate_labels, position_of, ratio
from ..learning import InfeasibleError
from ..publishing import promise_to_named

#: Probability with which a promise is to pass the test, where thresholds can be chosen so.
POWER = 0.8
#: Nobody is asked to be surer than this.
SUREST = 1 - 1e-9


def fit_and_test(model: Any, X: Any, y: Any, sensitive_features: Any, sample_weight: Any) -> None:
    """Fit a classifier to a part of the people, and promise to groups what the others bear out."""
    X, y = plain_frame(X), plain_frame(y)
    check_consistent_length(X, y)
    people = model._people(X, y, sensitive_features, sample_weight)
    fitted, judged = people.splits.final, people.splits.judged
    labels, known = people.groups.labels, people.groups.take(fitted)
    chosen = _choose(model, known, take_rows(X, fitted), take_rows(y, fitted))
    model.__dict__.pop("feature_names_in_", None)  # of an earlier fit
    model.__dict__.update({name: value for name, value in vars(chosen).items() if name.endswith("_")})
    named = np.zeros(len(labels), dtype=bool)
    worth_it = chosen.set_params(confidence=model.confidence).applies().to_numpy()
    named[position_of(known.labels, labels, "The fitted", "the training data")] = worth_it
    score, in_sample = (_scores(chosen, take_rows(X, rows)) for rows in (judged, fitted))
    counts = people.counts(judged, score > 0)
    faced = model._terms().effective_cost(labels)
    model.promise_level_, promised = promise_to_named(counts, named, faced, 1 - model.confidence)
    model.promised_ = pd.Series(promised, index=labels, name="promised")
    model._publish(people, score, in_sample)
    _check_who_must_apply(model)
    _warn_of_selection(model)


def _scores(chosen: Any, X: Any) -> FloatArray:
    """Score of some people, positive for those who are selected; 1 and -1 where there is none that says the same."""
    selected = np.asarray(chosen.predict(X)) == chosen.positive_
    if hasattr(chosen, "decision_function"):
        score = np.asarray(chosen._for_second_class(chosen.decision_function(X)), dtype=np.float64)
        if ((score > 0) == selected).all():
            return score
    return np.where(selected, 1.0, -1.0)


def _choose(model: Any, groups: GroupCodes, X: Any, y: Any) -> Any:
    """The classifier that is to be tested: likely to pass if possible, else with any chance at all."""
    likely = foreseen_confidence(model.confidence, model.holdout)
    for confidence in (likely, model.confidence):
        chosen = _untested(model, groups.labels, confidence)
        with notices_kept():  # about counts that are not the ones to be published
            try:
                chosen.fit(X, y, sensitive_features=groups)
            except InfeasibleError:
                if confidence == likely:
                    continue
                raise
        if chosen.applies().any():
            break
    return chosen


def foreseen_confidence(confidence: float, holdout: float) -> float:
    """How sure to be among those who are fitted, for a group to pass the test on those set aside most of the time.

    What many people make sure, a few may not. So it is asked for as many standard errors as the test takes, and those
    that its :data:`POWER` takes, of as many people as are set aside.

    Examples
    --------
    >>> round(foreseen_confidence(0.9, 0.5), 4), round(foreseen_confidence(0.9, 0.3), 4)
    (0.9831, 0.9994)
    """
    errors = (ndtri(confidence) + ndtri(POWER)) * np.sqrt((1 - holdout) / holdout)
    return float(np.clip(ndtr(errors), confidence, max(SUREST, confidence)))


def _untested(model: Any, groups: pd.Index, confidence: float) -> Any:
    """The same classifier without a guarantee, for some of the groups."""
    params = model.get_params(deep=False) | {"guarantee": False, "publish": "cross_fit", "confidence": confidence}
    for name in ("cost", "subsidies"):
        if isinstance(params[name], Mapping | pd.Series):
            kept = set(groups)
            params[name] = {label: value for label, value in params[name].items() if label in kept}
    return type(model)(**params)


def _check_who_must_apply(model: Any) -> None:
    """Refuse what cannot be promised to those who must apply, or to enough people."""
    table, promised = model.published_, model.promised_.to_numpy()
    advice = "Lower the cost, subsidise these groups, set more people aside, or ask for less confidence."
    if getattr(model, "require", None) is not None:
        required = locate_labels(model.require, table.groups, "require", "the training data")
        vain = required[~promised[required]]
        if len(vain):
            reached = ", ".join(f"{value:.3f}" for value in table.counts.precision[vain][:5])
            raise InfeasibleError(
                f"{some_of(table.groups[vain])} must apply, but can be promised nothing with a probability of "
                f"{model.confidence:g}: the people set aside have a precision of {reached}. {advice}"
            )
    limit = getattr(model, "max_social_cost", None)
    if limit is not None:
        away = 1 - float(ratio(table.counts.positives[promised].sum(), table.counts.positives.sum()))
        if away > limit + SLACK:
            raise InfeasibleError(
                f"At most {limit:g} of the qualified may stay away, but of the people set aside {away:.3f} are of "
                f"groups that can be promised nothing with a probability of {model.confidence:g}. {advice}"
            )


def _warn_of_selection(model: Any) -> None:
    """A least selection rate is kept where thresholds were chosen; people set aside may differ from that by chance."""
    least, counts = getattr(model, "min_selection_rate", 0.0), model.published_.counts
    short = counts.selected < (least - SLACK) * counts.n
    if short.any():
        rates = ", ".join(f"{rate:.3f}" for rate in counts.selection_rate[short][:5])
        warn(
            f"Of the people set aside, {rates} of {some_of(model.published_.groups[short])} are selected, less than "
            f"min_selection_rate={least:g}, which holds for the people whom the classifier was chosen on.",
            PromiseWarning,
        )


# ---------------------------------------------------------------------- in words


def explained(counts: GroupCounts, i: int, faced: float, applies: bool, behaviour: Behaviour) -> str:
    """How many of a group pass, what is published about it, and whether and why it applies."""
    level = behaviour.confidence if isinstance(behaviour, SureRule) else None
    passing = f"{count(counts.selected[i])} of {count(counts.n[i])} pass"
    told = _told(counts.true_positives[i], counts.selected[i], level)
    meant = behaviour.promised[i] if isinstance(behaviour, PromisedRule) else True
    return f"{passing}{told}; {_why(applies, counts, i, faced, level, meant)}."


def _single(counts: GroupCounts, i: int, faced: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Hits, people selected and cost of one group."""
    return counts.true_positives[i : i + 1].astype(float), counts.selected[i : i + 1].astype(float), np.array([faced])


def _told(hits: float, passed: float, level: float | None) -> str:
    """Published precision, with its bound where it is used."""
    if passed == 0:
        return ""
    text = f", {percent(hits / passed)} of them qualified"
    if level is None:
        return text
    low = float(highest_cost(SureRule(level), [hits], [passed])[0])
    return f"{text} (at least {percent(low)} at {percent(level)})"


def _why(applies: bool, counts: GroupCounts, i: int, faced: float, level: float | None, meant: bool) -> str:
    if counts.n[i] == 0:
        return "stays away: nobody of it was judged, so nothing is published about it"
    cost, precision = f"its cost of {faced:g}", counts.precision[i]
    if applies:
        return f"applies: that is sure to reach {cost}" if level is not None else f"applies: that reaches {cost}"
    if counts.selected[i] == 0:
        return f"shut out: no threshold was found, or chosen, that brings it in at {cost}"
    if not meant and level is not None and surely_reaches(*_single(counts, i, faced), level)[0]:
        return f"not promised anything: {cost} is reached, but no promise to it was tested, as it was not to be let in"
    if precision >= faced:
        return f"not promised anything: {cost} is reached, but not surely"
    return f"stays away: {cost} is not reached"
