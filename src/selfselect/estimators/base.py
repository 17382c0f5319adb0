"""What all classifiers share: what they publish, who applies, and an audit on new people."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from .._frames import plain_frame
from .._notices import PromiseWarning, ShutOutWarning, inside_checks, warn
from .._validation import BoolArray, check_fraction, check_weights, some_of
from ..auditing import Audit, ScreeningResult
from ..behaviour import SLACK, Behaviour, BestResponse, PromisedRule, SureRule
from ..costs import Cost, Subsidies, SubsidyKind, Terms
from ..counting import GroupCodes, encode_groups, precision_interval
from ..learning import InfeasibleError, too_few_selected
from ..publishing import PublishedStatistics
from ..publishing.splits import Publish, make_splits
from .files import save_model
from .labels import find_classes, qualified
from .people import TrainingPeople, as_counts
from .promising import explained, fit_and_test

#: A classifier that selects a smaller share of the people it was given is warned about.
HARDLY_ANYBODY = 0.01
#: Level of the interval beyond which in-sample and out-of-sample precision differ by more than sampling explains.
SAMPLING = 0.95


class SelfSelectionClassifier(ClassifierMixin, BaseEstimator, ABC):
    """Base of all classifiers here. A subclass fits a rule; this publishes its statistics and reads them.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels, in order.
    positive_ : label
        The one of them that means qualified.
    published_ : PublishedStatistics
        Counts per group that people decide by: of people the score had not seen, unless ``publish="train"``.
    published_in_sample_ : PublishedStatistics
        What the people that the classifier was fitted to would have said.
    promised_ : Series of bool, indexed by group
        With ``guarantee``: which groups can be promised anything at all. All these promises hold together with the
        probability ``confidence``.
    promise_level_ : float
        With ``guarantee``: level of each single test, so that each bound by itself holds with the probability
        ``1 - promise_level_``.
    unseen_scores_ : ndarray of shape (n_rows,) or None
        Score of each training row by what was fitted without it, as ``decision_function`` scores new ones (1 and -1
        where the inner classifier has no score that says the same); NaN for rows that were not judged. What is
        published counts these. None with ``publish="train"``.
    """

    # groups are asked for by default when metadata routing is on
    __metadata_request__fit = {"sensitive_features": True}  # noqa: RUF012

    #: What a model file holds of this class besides what all have; see :mod:`.files`.
    _STATE: tuple[str, ...] = ()

    cost: Cost
    subsidies: Subsidies
    subsidy_kind: SubsidyKind
    pos_label: Any
    publish: Publish
    cv: Any
    holdout: float
    confidence: float | None
    guarantee: bool
    unseen_scores_: NDArray[np.float64] | None

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that there are two classes only."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    @property
    def terms_(self) -> Terms:
        """What groups face, and how they answer what is published."""
        check_is_fitted(self, "published_")
        return self._terms()

    def _terms(self, cost: Cost | None = None, subsidies: Subsidies = None) -> Terms:
        """The classifier's own terms, or others in their place; its subsidies also hold at another cost."""
        return Terms(
            self.cost if cost is None else cost,
            self.subsidies if subsidies is None else subsidies,
            self.subsidy_kind,
            self._behaviour,
        )

    @property
    def _behaviour(self) -> Behaviour:
        """Who applies: by the published precision, or, where the firm can be sure of it, by its lower bound."""
        if self.publish == "train" or self.confidence is None:
            return BestResponse()
        if self.guarantee and hasattr(self, "promise_level_"):  # each promise is tested at a level of its own
            return PromisedRule(1 - self.promise_level_, promised=tuple(map(bool, self.promised_)))
        return SureRule(self.confidence)

    def _people(self, X: Any, y: Any, sensitive_features: Any, sample_weight: ArrayLike | None) -> TrainingPeople:
        """Check labels (setting ``classes_``), groups, weights and costs; deal people into fitted and judged ones."""
        self.classes_: NDArray[Any]
        self.classes_, self.positive_, is_qualified = find_classes(y, self.pos_label)
        if self.confidence is not None:
            check_fraction(self.confidence, "confidence", inclusive=False)
        if self.guarantee and (self.publish != "holdout" or self.confidence is None):
            raise ValueError('guarantee=True needs publish="holdout" and a confidence: people set aside test promises.')
        for earlier in ("promised_", "promise_level_"):  # of a fit before this one
            self.__dict__.pop(earlier, None)
        groups = self._check_groups(sensitive_features, len(is_qualified))
        weights = check_weights(sample_weight, len(is_qualified))
        if weights is not None and self.publish != "train":
            weights = as_counts(weights)  # how sure one can be depends on how many people there are
        counted = None if self.publish == "train" or weights is None else np.flatnonzero(weights > 0)
        if self.guarantee and weights is not None and not np.isin(weights, (0.0, 1.0)).all():
            raise ValueError(
                "guarantee=True counts people, each once: sample_weight may leave people out (0), and keep others (1)."
            )
        splits = make_splits(
            self.publish,
            X,
            is_qualified,
            groups,
            cv=self.cv,
            holdout=self.holdout,
            counted=counted,
            blindly=self.guarantee,
        )
        if self.guarantee and splits.mode == "train":
            raise ValueError(
                "guarantee=True: there are too few people to set any aside, and still have both labels among the "
                "rest. Give more people, or another holdout share."
            )
        both = len(np.unique(is_qualified[splits.final])) == 2  # else fit has more to complain about
        if splits.mode != self.publish and both and not inside_checks():
            warn(
                f"There are too few people of one label to judge anybody unseen (publish={self.publish!r}): what is "
                "published comes from the training data, and new people may get less.",
                PromiseWarning,
            )
        return TrainingPeople(is_qualified, groups, weights, splits)

    def _fit_and_test(self, X: Any, y: Any, sensitive_features: Any, sample_weight: Any) -> Self:
        """Fit to a part of the people, and promise to groups what the others bear out; see :mod:`.promising`."""
        fit_and_test(self, X, y, sensitive_features, sample_weight)
        return self

    def _check_groups(self, sensitive_features: Any, n_rows: int) -> GroupCodes:
        """Groups of the training rows, for each of which there must be a cost."""
        if sensitive_features is None and not inside_checks():
            warn(
                "Without sensitive_features everyone is one group, which applies or stays away as a whole. Pass the "
                "group of each row to fit(..., sensitive_features=...)."
            )
        groups = encode_groups(sensitive_features, n_rows=n_rows)
        self._terms().effective_cost(groups.labels)
        return groups

    def _publish(self, people: TrainingPeople, score: NDArray[Any], in_sample: NDArray[Any]) -> None:
        """Count, and warn about what the counts lead to.

        Parameters
        ----------
        people : TrainingPeople
        score : ndarray
            Score of those who are judged; positive ones are selected.
        in_sample : ndarray
            Score of those whom the classifier was fitted to at last.
        """
        labels, splits = people.groups.labels, people.splits
        self.published_ = PublishedStatistics(labels, people.counts(splits.judged, score > 0))
        self.published_in_sample_, self.unseen_scores_ = self.published_, None
        if splits.mode != "train":
            self.published_in_sample_ = PublishedStatistics(labels, people.counts(splits.final, in_sample > 0))
            self.unseen_scores_ = np.full(len(people.qualified), np.nan)
            self.unseen_scores_[splits.judged] = self._for_second_class(score)
        self._warn_of_applications()
        self._warn_of_shut_out()
        self._warn_of_overfitting()

    def _check_selection(self, least: float) -> None:
        """Refuse what selects, by what is published, less than the least share of any group."""
        counts = self.published_.counts
        if least > 0 and (counts.selected < (least - SLACK) * counts.n).any():
            raise InfeasibleError(too_few_selected(self.published_.groups, counts, least))

    def _warn_of_applications(self) -> None:
        decided, table = self.applies(), self.published_
        if not decided.any():
            best = table.precision.max()
            if np.isnan(best):
                reached = "nobody is selected, because no group could be brought to its cost"
                if isinstance(self._behaviour, SureRule):
                    reached += f" surely (at {self._behaviour.confidence:g})"
            elif isinstance(self._behaviour, SureRule):
                reached = (
                    f"the highest published precision is {best:.3f}, and no group's is sure (at "
                    f"{self._behaviour.confidence:g}) to reach its cost. Nobody can be promised anything"
                )
            else:
                reached = f"the highest published precision is {best:.3f}, below the cost"
            warn(f"Nobody applies: {reached}. Lower the cost or subsidise a group.")
        elif decided.all() and (table.counts.base_rate >= self._terms().effective_cost(table.groups)).all():
            warn(
                "At this cost every group applies, even if everybody were selected (its base rate reaches the cost): "
                "self-selection has no effect here, and NaiveClassifier does as well."
            )

    def _warn_of_shut_out(self) -> None:
        """Selecting nobody is a way to be accurate that the people shut out would not agree to."""
        counts = self.published_in_sample_.counts
        if len(counts.n) > 1:
            nobody = (counts.selected == 0) & (counts.n > 0)
            if nobody.any():
                first = int(np.flatnonzero(nobody)[0])
                names = some_of(self.published_.groups[nobody])
                warn(
                    f"The classifier selects nobody of {nobody.sum()} group(s), {names} ({counts.n[first]:g} people, "
                    f"{counts.positives[first]:g} of them qualified, in the first): they "
                    f"have nothing to apply for.{self._how_to_keep_in()}",
                    ShutOutWarning,
                )
        selected, everyone = counts.selected.sum(), counts.n.sum()
        if selected < HARDLY_ANYBODY * everyone:
            warn(f"The classifier selects {selected:g} of the {everyone:g} people it was given.", ShutOutWarning)

    def _how_to_keep_in(self) -> str:
        """Settings by which groups are kept in, as far as this classifier has them."""
        able = [f"{name}=" for name in ("min_selection_rate", "require") if hasattr(self, name)]
        return f" {' or '.join(able)} keeps them in." if able else ""

    def _warn_of_overfitting(self) -> None:
        """What training data would have published, where it is beyond what the unseen say."""
        told, honest = self.published_in_sample_.counts, self.published_.counts
        if told is honest:
            return
        _, high = precision_interval(
            honest.true_positives, honest.selected, interval="clopper-pearson", confidence=SAMPLING
        )
        beyond = told.precision > high
        if beyond.any() and not inside_checks():
            first = int(np.flatnonzero(beyond)[0])
            names = some_of(self.published_.groups[beyond])
            warn(
                f"On the training data the precision of group(s) {names} looks better "
                f"than on people the score had not seen ({told.precision[first]:.3f} against "
                f"{honest.precision[first]:.3f} in the first), by more than sampling explains: the score is fitted too "
                "closely. What is published is the latter.",
                PromiseWarning,
            )

    # ------------------------------------------------------------------ after fit

    def applies(self, cost: Cost | None = None, subsidies: Subsidies = None) -> pd.Series:
        """Whether each group applies, by the training statistics.

        Parameters
        ----------
        cost : float or mapping from group to float, optional
            Cost instead of the classifier's own.
        subsidies : float or mapping from group to float, optional
            Subsidies instead of the classifier's own (which also hold if only the cost is given).

        Returns
        -------
        Series of bool, indexed by group
        """
        check_is_fitted(self, "published_")
        return self.published_.decisions(self._terms(cost, subsidies))

    def explain(self) -> str:
        """What is published about each group, and whether and why it applies, one line each."""
        check_is_fitted(self, "published_")
        table = self.published_
        faced, applies = self._terms().effective_cost(table.groups), self.applies().to_numpy()
        return "\n".join(
            f"{label}: {self._said_of(i)}"
            f"{explained(table.counts, i, float(faced[i]), bool(applies[i]), self._behaviour)}"
            for i, label in enumerate(table.groups)
        )

    def _said_of(self, i: int) -> str:
        """What comes first in the line about a group."""
        return ""

    def applies_to(self, sensitive_features: Any, cost: Cost | None = None, subsidies: Subsidies = None) -> BoolArray:
        """Whether each person applies, by the training statistics of the person's group."""
        check_is_fitted(self, "published_")
        return self.published_.decisions_of(sensitive_features, self._terms(cost, subsidies))

    def audit(
        self,
        X: Any,
        y: ArrayLike,
        sensitive_features: Any = None,
        *,
        cost: Cost | None = None,
        subsidies: Subsidies = None,
        sample_weight: ArrayLike | None = None,
    ) -> Audit:
        """What the classifier does to new people, who decide by what was published in training.

        Parameters
        ----------
        X, y, sensitive_features
            New people: features, labels, groups. A group that was not there in training is an error.
        cost, subsidies
            As in :meth:`applies`.
        sample_weight : array-like of shape (n_rows,), optional
            Weights.

        Returns
        -------
        Audit
            With ``verdict()``, ``to_frame()``, ``to_html()``, and assumed_accuracy, induced_accuracy, applying_groups,
            application_rate, social_cost as attributes.
        """
        check_is_fitted(self, "published_")
        people = ScreeningResult.from_predictions(
            qualified(y, self.classes_, self.positive_),
            np.asarray(self._predict_people(X, sensitive_features)) == self.positive_,
            sensitive_features=self._groups_of(plain_frame(X), sensitive_features),
            sample_weight=sample_weight,
        )
        found = Audit(ScreeningResult(self.published_), people, self._terms(cost, subsidies))
        _ = found.outcome  # groups that were not there in training are complained about here
        return found

    @property
    def _turned(self) -> bool:
        """Whether the first class is the qualified one: scores are then turned round for scikit-learn."""
        return bool(self.positive_ != self.classes_[1])

    def _as_labels(self, selected: NDArray[np.bool_]) -> NDArray[Any]:
        """The qualified label for those who are selected, the other for the rest."""
        return np.asarray(self.classes_[(selected != self._turned).astype(int)])

    def _for_second_class(self, score: Any) -> NDArray[Any]:
        """A score that is larger for the qualified, as scikit-learn wants it: larger for the second class."""
        return np.asarray(-score if self._turned else score)

    def _groups_of(self, X: Any, sensitive_features: Any) -> Any:
        """Groups of new people: as they are given."""
        return sensitive_features

    def _predict_people(self, X: Any, sensitive_features: Any) -> NDArray[Any]:
        """Labels of people whose groups are known; most classifiers need no groups."""
        return self.predict(X)

    def save(self, path: str | Path) -> None:
        """Write the fitted classifier as JSON; see :func:`selfselect.save_model`."""
        save_model(self, path)

    @abstractmethod
    def predict(self, X: Any) -> NDArray[Any]:
        """Label of each row; groups are not needed."""

    @abstractmethod
    def fit(self, X: Any, y: ArrayLike, *, sensitive_features: Any = None, sample_weight: Any = None) -> Self:
        """Fit the classifier."""

    @abstractmethod
    def _fitted_state(self) -> dict[str, Any]:
        """What was learnt, in JSON's own types."""

    def _held(self) -> dict[str, Any]:
        """What JSON has no words for: estimators among the parameters, and the fitted ``estimator_``, by name."""
        return {}

    @abstractmethod
    def _restore(self, state: dict[str, Any], groups: pd.Index) -> None:
        """The way back."""
