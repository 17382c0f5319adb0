"""From labels, scores and groups to the subsidies that bring groups in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike

from .._validation import check_binary, check_same_rows
from ..auditing import Provenance, audit
from ..behaviour import Behaviour
from ..costs import Cost, SubsidyKind, check_no_column
from ..counting import encode_groups
from .retraining import plan_under_retraining, refit
from .subsidies import SubsidyPlan, plan_for


def plan_subsidies(
    y_true: ArrayLike,
    *,
    score: ArrayLike | None = None,
    threshold: float | None = None,
    y_pred: ArrayLike | None = None,
    sensitive_features: Any = None,
    cost: Cost,
    targets: Sequence[Any] | None = None,
    budget: float | None = None,
    confidence: float | None = None,
    subsidy_kind: SubsidyKind = "additive",
    behaviour: Behaviour | None = None,
    sample_weight: ArrayLike | None = None,
    person: ArrayLike | None = None,
    missing: str = "error",
    provenance: Provenance | None = None,
    retrain_on: Any = None,
    classifier: Any = None,
) -> SubsidyPlan:
    """Find the least subsidies that make groups apply, or the best use of a budget.

    A group applies once its cost, less the subsidy, is at most its published precision (under another behaviour: once
    half of it would apply). If nobody in it passes screening, no subsidy helps.

    Parameters
    ----------
    y_true, score, threshold, y_pred, sensitive_features, behaviour, sample_weight, person, missing, provenance
        As in :func:`selfselect.audit`. A person with several rows is paid for each one that passes.
    cost : float, or mapping from group to float
        Cost of applying, as a share of what being selected is worth.
    targets : list of groups, optional
        Groups that should apply; by default all that stay away. With a budget: groups that may be paid.
    budget : float, optional
        The largest sum of payments; 1 is what being selected is worth to one person. Everyone of a paid group who
        applies and passes screening receives its subsidy. The budget goes to the groups that lower social cost most,
        and of such uses to the cheapest. For a model as it is, the answer is exact.
    confidence : float, optional
        Pay up to the one-sided Clopper-Pearson lower bound of a target's precision instead of the precision itself. The
        subsidy is then enough with this probability, if the model was not fitted to the people counted. Named targets
        that apply already are paid as well, if they are not that sure.
    subsidy_kind : {"additive", "proportional"}, default="additive"
        Amounts, or shares of the cost.
    retrain_on : array-like of shape (n_rows, n_features), optional
        Features on which the firm re-trains against the subsidies; see :func:`plan_under_retraining`.
    classifier : classifier of this package, optional
        What the firm trains; by default ``StrategicClassifier(random_state=0)``.

    Returns
    -------
    SubsidyPlan
        With ``verdict()``, ``to_frame()``, ``to_json()``, ``to_html()``.

    Examples
    --------
    >>> plan = plan_subsidies(
    ...     [1, 1, 0, 1, 0, 0], y_pred=[1, 1, 1, 1, 1, 0], sensitive_features=list("AAABBB"), cost=0.6
    ... )
    >>> plan.subsidies.round(3).to_dict()
    {'A': 0.0, 'B': 0.1}
    >>> plan.works, plan.recipients, round(plan.total, 3)
    (True, 2, 0.2)
    >>> plan_subsidies(
    ...     [1, 1, 0, 1, 0, 0], y_pred=[1, 1, 1, 1, 1, 0], sensitive_features=list("AAABBB"), cost=0.7, budget=0.3
    ... ).subsidies.round(3).to_dict()
    {'A': 0.033, 'B': 0.0}
    """
    check_same_rows(
        y_true=y_true,
        score=score,
        y_pred=y_pred,
        sensitive_features=sensitive_features,
        sample_weight=sample_weight,
        person=person,
        retrain_on=retrain_on,
    )
    y, cost = check_binary(y_true, "y_true"), check_no_column(cost)
    groups = encode_groups(sensitive_features, n_rows=len(y), missing=missing)
    if retrain_on is not None and sample_weight is not None:
        raise TypeError("sample_weight and retrain_on do not go together: the firm trains on people, not on weights.")
    before = audit(
        y,
        score=score,
        threshold=threshold,
        y_pred=y_pred,
        sensitive_features=groups,
        cost=cost,
        behaviour=behaviour,
        sample_weight=sample_weight,
        person=person,
        provenance=provenance,
    )
    if retrain_on is None:
        return plan_for(before, targets, subsidy_kind=subsidy_kind, budget=budget, confidence=confidence)
    fit = refit(classifier, retrain_on, y, groups, person)
    return plan_under_retraining(before, fit, targets, subsidy_kind=subsidy_kind, budget=budget, confidence=confidence)
