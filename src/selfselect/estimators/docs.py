"""Constructors of estimators, and documentation of parameters and attributes that several share."""

from __future__ import annotations

from dataclasses import dataclass, field
from inspect import cleandoc
from string import Template
from typing import Any, TypeVar, dataclass_transform

Class = TypeVar("Class", bound=type[Any])

#: Entries by the name that stands for them in a docstring (``$cost``).
SHARED = {
    "estimator": """
        estimator : classifier, optional
            Any scikit-learn classifier with ``decision_function`` or ``predict_proba``; by default a logistic
            regression without penalty. It gets the groups if its methods take ``sensitive_features``, as fairlearn's
            do, or request them by metadata routing. Steps before it belong into a pipeline here: it is fitted again in
            every fold.
    """,
    "prefit": """
        prefit : bool, default=False
            Whether ``estimator`` is fitted already and only its threshold is chosen. The people passed to ``fit`` must
            then be new to it; otherwise the published statistics (and a guarantee) are as optimistic as with
            ``publish="train"``.
    """,
    "cost": """
        cost : float or mapping from group to float, default=0.7
            Cost of the test in [0, 1].
    """,
    "subsidies": """
        subsidies : float or mapping from group to float, optional
            Subsidies; groups left out get none.
        subsidy_kind : {"additive", "proportional"}, default="additive"
            Whether a subsidy is an amount or a share of the cost.
    """,
    "constraints": """
        constraints : list of Constraint, default=()
            What must hold for the people whose counts are published; see :mod:`selfselect.constraints`.
    """,
    "publishing": """
        behaviour : Behaviour, optional
            How people respond to what is published; by default :class:`~selfselect.behaviour.BestResponse`, the
            paper's. See :mod:`selfselect.behaviour`.
        publish : {"cross_fit", "holdout", "train"} or object, default="cross_fit"
            Whose counts are published, and used to choose thresholds and candidates, and which statistic of them:
            :class:`~selfselect.publishing.CrossFit` (people scored by a classifier that was not fitted to them),
            :class:`~selfselect.publishing.Holdout` (a part that is set aside; it can give a guarantee) or
            :class:`~selfselect.publishing.TrainingSet` (the training data, as in the paper). The first two publish a
            lower bound of the precision (:class:`~selfselect.publishing.PooledLowerBound`).
        pos_label : label, optional
            The label that means qualified; by default the larger of the two.
    """,
    "violations": """
        violations_ : Series, indexed by constraint
            By how much the published counts violate each constraint; 0 if it holds.
        constraints_met_ : bool
            Whether all constraints hold.
    """,
    "attributes": """
        published_ : PublishedStatistics
            Counts per group by which people decide; of people the score had not seen, unless ``publish="train"``.
        published_in_sample_ : PublishedStatistics
            The same counts of the people that the classifier was fitted to.
        unseen_scores_ : ndarray of shape (n_rows,) or None
            Score of each training row by a classifier that was not fitted to it (1 and -1 if the inner classifier has
            no score that agrees with its predictions); NaN for rows that are not evaluated; None with
            ``publish="train"``.
        promised_ : Series of bool, indexed by group
            Under a guarantee: groups that passed the test. All these statements hold together with the probability
            of the guarantee.
        promise_level_ : float
            Under a guarantee: level of each single test.
        classes_ : ndarray of shape (2,)
            The labels, in order.
        positive_ : label
            The label that means qualified.
    """,
}


@dataclass_transform(eq_default=False, kw_only_default=True, field_specifiers=(field,))
def estimator_class(cls: Class) -> Class:
    """Make the constructor of an estimator from its fields, and fill entries of :data:`SHARED` into its docstring."""
    if cls.__doc__ is not None:  # python -OO removes docstrings
        entries = {name: cleandoc(text) for name, text in SHARED.items()}
        cls.__doc__ = Template(cleandoc(cls.__doc__)).substitute(entries)
    dataclass(eq=False, repr=False, kw_only=True)(cls)
    return cls
