"""Documentation of parameters and attributes that several classifiers share, written once."""

from __future__ import annotations

from inspect import cleandoc
from string import Template
from typing import Any, TypeVar

Class = TypeVar("Class", bound=type[Any])

#: Entries by the name that stands for them in a docstring (``$cost``).
SHARED = {
    "estimator": """
        estimator : classifier, optional
            Any scikit-learn classifier with ``decision_function`` or ``predict_proba``; by default a logistic
            regression without penalty.
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
    "limits": """
        require : list of groups, optional
            Groups that must apply.
        max_social_cost : float, optional
            Largest share of the qualified that may stay away.
    """,
    "min_selection_rate": """
        min_selection_rate : float, default=0.0
            Least share of every group that is selected, whether it applies or not; of the people whose counts are
            published.
    """,
    "publishing": """
        pos_label : label, optional
            The label that means qualified; by default the larger of the two.
        publish : {"cross_fit", "holdout", "train"}, default="cross_fit"
            Whose counts are published, and used to choose thresholds and candidates: people scored by a classifier that
            was not fitted to them, a part that is set aside, or (as in the paper) the training data. See
            :mod:`selfselect.publishing.splits`.
        cv : int or splitter, default=5
            Folds of "cross_fit".
        holdout : float, default=0.3
            Share that "holdout" sets aside.
        confidence : float or None, default=0.9
            A group applies if the one-sided lower Clopper-Pearson bound of its published precision, at this level,
            reaches its cost. With None, or ``publish="train"`` (the paper), the precision itself decides.
        guarantee : bool, default=False
            Whether the statements "the precision of this group reaches its cost" must all hold together with
            probability ``confidence``, for any model and any distribution. It needs ``publish="holdout"``: everything
            is chosen on the other people, and tested on those set aside. See :mod:`selfselect.publishing.guarantee`.
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
            With ``guarantee``: groups that passed the test. All these statements hold together with probability
            ``confidence``.
        promise_level_ : float
            With ``guarantee``: level of each single test.
        classes_ : ndarray of shape (2,)
            The labels, in order.
        positive_ : label
            The label that means qualified.
    """,
}


def with_shared_docs(cls: Class) -> Class:
    """Replace ``$name`` in the docstring of a class by the entry of :data:`SHARED`."""
    if cls.__doc__ is not None:  # python -OO removes docstrings
        entries = {name: cleandoc(text) for name, text in SHARED.items()}
        cls.__doc__ = Template(cleandoc(cls.__doc__)).substitute(entries)
    return cls
