"""Base class of all classifiers: it publishes statistics, says who applies, and audits new people."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import field, replace
from pathlib import Path
from typing import Any, ClassVar, Self, cast

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from .._frames import from_plain, to_pandas, to_plain
from .._notices import PromiseWarning, warn
from .._validation import BoolArray, check_choice, check_same_rows, check_weights
from ..auditing import Audit, ScreeningResult
from ..behaviour import Behaviour, BestResponse
from ..constraints import Constraints, check_constraints, violations
from ..costs import Cost, Subsidies, SubsidyKind, Terms
from ..counting import Unseen, encode_groups
from ..learning import TrainingTerms
from ..publishing import PublishedStatistics
from ..publishing.privacy import raise_small_cells
from ..publishing.splits import Publishing, TrainingSet, as_publishing, draw_by_weight
from ..statistics import Guaranteed, LowerBound, Statistic, with_unpublished
from .docs import estimator_class
from .guarantee import fit_with_guarantee
from .io import SAVING, save_model
from .messages import explain_groups, warn_about_earlier_steps, warn_about_published
from .training_data import (
    TrainingPeople,
    as_counts,
    encode_person,
    find_classes,
    is_qualified,
    plain_groups,
    warn_about_copies,
)


@estimator_class
class SelfSelectionClassifier(ClassifierMixin, BaseEstimator, ABC):
    """Base of all classifiers: a subclass fits a rule, this class publishes its statistics.

    Parameters
    ----------
    $cost
    $subsidies
    $publishing

    Attributes
    ----------
    $attributes
    """

    # with metadata routing, groups and persons are requested by default
    __metadata_request__fit = {"sensitive_features": True, "person": True}  # noqa: RUF012

    #: Fitted attributes that hold scores of training rows: pickle keeps them, model files do not.
    _NOT_SAVED: ClassVar[tuple[str, ...]] = ("unseen_scores_", "curve_", "allocation_")
    #: Whether a guarantee is about the finished classifier; a subclass may test its thresholds itself.
    _guarantee_after_fit: ClassVar[bool] = True

    #: Classifiers that take constraints have a parameter of this name.
    constraints = cast("Any", ())

    cost: Cost = field(default=0.7, kw_only=False)
    subsidies: Subsidies = None
    subsidy_kind: SubsidyKind = "additive"
    behaviour: Behaviour | None = None
    publish: str | Publishing = "cross_fit"
    pos_label: Any = None

    def __sklearn_tags__(self) -> Any:
        """Tags of scikit-learn: two classes only."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def __getstate__(self) -> dict[str, Any]:
        least = SAVING.get()
        left_out = () if least is None else self._NOT_SAVED
        state: dict[str, Any] = super().__getstate__()
        if least:
            tables = {name: state[name] for name in ("published_", "published_in_sample_") if name in state}
            state = state | {name: raise_small_cells(table, self._terms(), least) for name, table in tables.items()}
        return {name: to_plain(value) for name, value in state.items() if name not in left_out}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__({name: from_plain(value) for name, value in state.items()})

    # ------------------------------------------------------------------ fit

    def fit(
        self, X: Any, y: ArrayLike, *, sensitive_features: Any = None, sample_weight: Any = None, person: Any = None
    ) -> Self:
        """Fit the classifier and publish its statistics.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Features, with the group among them or without.
        y : array-like of shape (n_rows,)
            Labels of two kinds; see ``pos_label``.
        sensitive_features : array-like, Series, DataFrame or dict of columns, optional
            Group of each row; without it everyone is one group.
        sample_weight : array-like of shape (n_rows,), optional
            Weights, as in a survey. They change estimates and never add people: bounds use effective sample sizes, and
            equal weights change nothing. To count a person several times, repeat the row. Under a guarantee each row
            that is set aside is tested with a probability of its weight over the largest one of its group: people who
            are drawn so count once. If a few weights are large, hardly anybody is tested; trim them first.
        person : array-like of shape (n_rows,), optional
            Id of each row's person, where persons have several rows. All rows of a person fall into the same fold, or
            on the same side of the holdout, and bounds count persons, not rows. Under a guarantee one row of each
            person, drawn at random, is tested.

        Returns
        -------
        self
        """
        check_same_rows(X=X, y=y, sensitive_features=sensitive_features, sample_weight=sample_weight, person=person)
        if not isinstance(as_publishing(self.publish), TrainingSet):
            warn_about_earlier_steps(self)
        X, y = to_pandas(X), to_pandas(y)
        if self._has_guarantee and self._guarantee_after_fit:
            check_consistent_length(X, y)
            fit_with_guarantee(self, self._training_people(X, y, sensitive_features, sample_weight, person))
            return self
        X, y = self._validate(X, y)
        people = self._training_people(X, y, self._groups_of(X, sensitive_features), sample_weight, person)
        self._publish(people, *self._fit(people))
        return self

    def _validate(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Check and convert features and labels; X may hold anything that the inner classifier or transformer takes."""
        validate_data(self, X, y, skip_check_array=True)  # sets names and number of features
        check_consistent_length(X, y)
        return X, y

    @abstractmethod
    def _fit(self, people: TrainingPeople) -> tuple[NDArray[Any], NDArray[Any]]:
        """Fit the rule; return scores of the evaluated rows and of the fitted ones, positive for the selected."""

    def _training_people(
        self, X: Any, y: Any, groups: Any, sample_weight: ArrayLike | None, person: Any
    ) -> TrainingPeople:
        """Check labels (setting ``classes_``), groups, weights, persons and costs, and split the rows."""
        self.classes_: NDArray[Any]
        self.classes_, self.positive_, qualified = find_classes(y, self.pos_label)
        publishing = as_publishing(self.publish)
        if self._has_guarantee and getattr(self, "prefit", False):
            warn(
                "With prefit=True the guarantee holds only if all rows passed to fit are new to the estimator: none of "
                "these people may have been used to train it.",
                PromiseWarning,
            )
        for name in ("promised_", "promise_level_", "statistic_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        if groups is None:
            warn(
                "Without sensitive_features everyone is one group, which applies or stays away as a whole. Pass the "
                "group of each row to fit(..., sensitive_features=...)."
            )
        codes = encode_groups(groups, n_rows=len(qualified))
        self._terms().effective_cost(codes.labels)  # raises if a group has no cost
        Constraints.of(self.constraints, codes.labels)  # raises if a constraint names an unknown group
        weights = check_weights(sample_weight, len(qualified))
        in_training = isinstance(publishing, TrainingSet)
        if weights is not None and not in_training:
            weights = as_counts(weights)  # the width of a bound depends on the number of people
        rows = None if in_training or weights is None else np.flatnonzero(weights > 0)
        person_codes = encode_person(person, len(qualified))
        splits = publishing.splits(X, qualified, codes, rows, person_codes)
        if person is None and splits.mode != "train":
            warn_about_copies(X, qualified, codes)
        if self._has_guarantee and weights is not None and splits.mode != "train":  # its test counts each person once
            (fitted, aside), weights = splits.parts[0], weights.copy()
            splits = replace(splits, parts=((fitted, draw_by_weight(X, codes, weights, aside)),))
            weights[aside] = 1.0
        if self._has_guarantee and (splits.mode == "train" or not len(splits.evaluated)):
            raise ValueError(
                "guarantee=True: there are too few people to set some aside and have both labels among the rest. Pass "
                "more people, or another size of the holdout."
            )
        has_both_labels = len(np.unique(qualified[splits.final])) == 2  # otherwise fit raises an error later
        if splits.mode == "train" and not in_training and has_both_labels:
            warn(
                f"There are too few people of one label for publish={self.publish!r}: the published statistics come "
                "from the training data, and may be too good for new people.",
                PromiseWarning,
            )
        given_groups = plain_groups(groups, codes)
        return TrainingPeople(X, y, qualified, codes, weights, splits, given_groups, sample_weight, person_codes)

    def _publish(self, people: TrainingPeople, score: NDArray[Any], in_sample: NDArray[Any]) -> None:
        """Publish the counts of the evaluated rows by their scores, and check the constraints on them."""
        labels, splits = people.groups.labels, people.splits
        self.published_ = PublishedStatistics(labels, people.counts(splits.evaluated, score > 0))
        self.published_in_sample_ = self.published_
        self.unseen_scores_: NDArray[np.float64] | None = None
        if splits.mode != "train":
            self.published_in_sample_ = PublishedStatistics(labels, people.counts(splits.final, in_sample > 0))
            self.unseen_scores_ = np.full(len(people.qualified), np.nan)
            self.unseen_scores_[splits.evaluated] = self._for_second_class(score)
        if not self._has_guarantee and not hasattr(self, "statistic_"):
            self.statistic_ = people.fit_statistic(self._statistic, people.curves(score))
        warn_about_published(self)
        self._check_constraints()

    def _training_terms(self, labels: pd.Index, **settings: Any) -> TrainingTerms:
        """What the classifier is trained for: its terms and constraints, for all groups."""
        terms, constraints = self._terms(), Constraints.of(self.constraints, labels)
        given: dict[str, Any] = {"behaviour": terms.behaviour, "statistic": terms.statistic} | settings
        return TrainingTerms(labels, terms.effective_cost(labels), constraints=constraints, **given)

    def _check_constraints(self) -> None:
        """Set ``violations_`` and ``constraints_met_`` by what is published; warn where a constraint does not hold."""
        table = self.published_
        shares = table.shares(self._terms()).to_numpy()
        self.violations_ = violations(check_constraints(self.constraints), table.groups, table.counts, shares)
        self.constraints_met_ = bool((self.violations_ == 0).all())
        if not self.constraints_met_:
            broken = self.violations_[self.violations_ > 0]
            listed = "; ".join(f"{name} by {amount:.3g}" for name, amount in broken.items())
            warn(
                f"Not all constraints hold while someone applies. Violated: {listed}. Loosen the bounds or lower the "
                "cost."
            )

    # ------------------------------------------------------------------ after fit

    @property
    def terms_(self) -> Terms:
        """Cost, subsidies and behaviour by which groups decide."""
        check_is_fitted(self, "published_")
        return self._terms()

    def _terms(
        self, cost: Cost | None = None, subsidies: Subsidies = None, behaviour: Behaviour | None = None
    ) -> Terms:
        """Terms of the classifier, or with another cost, other subsidies or another behaviour."""
        behaviour = self.behaviour if behaviour is None else behaviour
        return Terms(
            self.cost if cost is None else cost,
            self.subsidies if subsidies is None else subsidies,
            self.subsidy_kind,
            BestResponse() if behaviour is None else behaviour,
            self._statistic,
        )

    @property
    def _has_guarantee(self) -> bool:
        return bool(getattr(as_publishing(self.publish), "guarantee", False))

    @property
    def _statistic(self) -> Statistic:
        """What is published; under a guarantee nothing about groups that did not pass its test."""
        if hasattr(self, "promise_level_"):
            return Guaranteed(LowerBound(1 - self.promise_level_), tuple(map(bool, self.promised_)))
        statistic: Statistic = getattr(self, "statistic_", None) or as_publishing(self.publish).statistic
        return statistic

    def applies(self, cost: Cost | None = None, subsidies: Subsidies = None) -> pd.Series:
        """Whether each group applies, by the published statistics.

        Parameters
        ----------
        cost : float or mapping from group to float, optional
            Cost in place of the classifier's own.
        subsidies : float or mapping from group to float, optional
            Subsidies in place of the classifier's own, which otherwise also hold at another cost.

        Returns
        -------
        Series of bool, indexed by group
        """
        check_is_fitted(self, "published_")
        return self.published_.decisions(self._terms(cost, subsidies))

    def application_shares(self, cost: Cost | None = None, subsidies: Subsidies = None) -> pd.Series:
        """Share of each group that applies, in [0, 1]; parameters as in :meth:`applies`."""
        check_is_fitted(self, "published_")
        return self.published_.shares(self._terms(cost, subsidies))

    def applies_to(
        self,
        sensitive_features: Any,
        cost: Cost | None = None,
        subsidies: Subsidies = None,
        *,
        unseen: Unseen = "error",
    ) -> BoolArray:
        """Whether each person applies; parameters as in :meth:`applies`.

        A group without published statistics is an error, or with ``unseen="abstain"`` stays away.
        """
        check_is_fitted(self, "published_")
        return self.published_.decisions_of(sensitive_features, self._terms(cost, subsidies), unseen=unseen)

    def explain(self) -> str:
        """Say what is published about each group and why it applies or not, and which constraints hold: a line each."""
        check_is_fitted(self, "published_")
        table, terms = self.published_, self._terms()
        lines = [
            f"{label}: {self._threshold_text(i)}{reason}"
            for i, (label, reason) in enumerate(zip(table.groups, explain_groups(table, terms), strict=True))
        ]
        for name, amount in getattr(self, "violations_", pd.Series(dtype=float)).items():
            lines.append(f"{name}: " + ("holds." if amount == 0 else f"violated by {amount:.3g}."))
        return "\n".join(lines)

    def _threshold_text(self, i: int) -> str:
        """Beginning of the line about a group, where it has a threshold of its own."""
        return ""

    def audit(
        self,
        X: Any,
        y: ArrayLike,
        sensitive_features: Any = None,
        *,
        cost: Cost | None = None,
        subsidies: Subsidies = None,
        behaviour: Behaviour | None = None,
        sample_weight: ArrayLike | None = None,
        person: ArrayLike | None = None,
        unseen: Unseen = "error",
    ) -> Audit:
        """Audit the classifier on new people, who decide by what was published in training.

        Parameters
        ----------
        X, y, sensitive_features
            Features, labels and groups of new people. On the people it was trained on, a classifier seems to keep
            promises that it breaks.
        cost, subsidies
            As in :meth:`applies`.
        behaviour : Behaviour, optional
            How people respond to what was published, in place of the behaviour that the classifier was trained for.
        sample_weight : array-like of shape (n_rows,), optional
            Weights.
        person : array-like of shape (n_rows,), optional
            Who each row is about, if people have several rows.
        unseen : {"error", "abstain"}, default="error"
            Whether a group without published statistics is an error, or one about which nothing is published, so that
            it stays away.

        Returns
        -------
        Audit
            With ``verdict()``, ``to_frame()``, ``to_html()``, and assumed_accuracy, induced_accuracy, applying_groups,
            application_rate, social_cost as attributes.
        """
        check_is_fitted(self, "published_")
        check_same_rows(X=X, y=y, sensitive_features=sensitive_features, sample_weight=sample_weight, person=person)
        people = ScreeningResult.from_predictions(
            is_qualified(y, self.classes_, self.positive_),
            np.asarray(self._predict_with_groups(X, sensitive_features)) == self.positive_,
            sensitive_features=self._groups_of(to_pandas(X), sensitive_features),
            sample_weight=sample_weight,
            person=person,
        )
        check_choice(unseen, "unseen", ("error", "abstain"))
        published, terms = self.published_, self._terms(cost, subsidies, behaviour)
        if unseen == "abstain":
            published = published.including(people.groups)
            terms = replace(terms, statistic=with_unpublished(terms.statistic, len(published)))
        result = Audit(ScreeningResult(published), people, terms)
        _ = result.outcome  # raises if a group is unknown
        return result

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Accuracy over everybody, as :class:`sklearn.base.ClassifierMixin` has it."""
        check_same_rows(X=X, y=y, sample_weight=sample_weight)
        return float(super().score(X, y, sample_weight))

    def save(self, path: str | Path, min_cell: int = 0) -> None:
        """Save the fitted classifier as a skops file; see :func:`selfselect.save_model`."""
        save_model(self, path, min_cell)

    @abstractmethod
    def predict(self, X: Any) -> NDArray[Any]:
        """Label of each row; groups are not needed."""

    # ------------------------------------------------------------------ for subclasses

    def _groups_of(self, X: Any, sensitive_features: Any) -> Any:
        """Groups of rows; a subclass may take them from columns of X."""
        return sensitive_features

    def _predict_with_groups(self, X: Any, sensitive_features: Any) -> NDArray[Any]:
        """Label of each row; most classifiers ignore the groups."""
        return self.predict(X)

    @property
    def _positive_is_first(self) -> bool:
        """Whether the qualified label is the first class, so that scores change sign for scikit-learn."""
        return bool(self.positive_ != self.classes_[1])

    def _as_labels(self, selected: NDArray[np.bool_]) -> NDArray[Any]:
        """The qualified label for the selected, the other label for the rest."""
        return np.asarray(self.classes_[(selected != self._positive_is_first).astype(int)])

    def _for_second_class(self, score: Any) -> NDArray[Any]:
        """A score that is larger for the qualified as scikit-learn expects it: larger for the second class."""
        return np.asarray(-score if self._positive_is_first else score)
