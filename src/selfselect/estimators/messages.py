"""What a fitted classifier says about what it publishes: warnings, and the sentences of ``explain()``."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from scipy.stats import hypergeom
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import SelectorMixin, VarianceThreshold
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.utils import get_tags

from .._formats import count, percent
from .._notices import PromiseWarning, ShutOutWarning, warn
from .._validation import list_some
from ..behaviour import BestResponse
from ..costs import Terms
from ..outcomes import outcome
from ..publishing import PublishedStatistics
from ..statistics import Guaranteed, Published

#: Share of all people under which the number of selected people is warned about.
MIN_SELECTED_SHARE = 0.01
#: Level of the test that precision is higher in-sample than out-of-sample, over all groups.
OVERFITTING_LEVEL = 0.05
#: A smaller share of a group counts as nobody.
LEAST_SHARE = 0.005
#: Share of qualified people who stay away above which a classifier warns.
MAX_SILENT_SOCIAL_COST = 0.5


def warn_about_earlier_steps(model: Any) -> None:
    """Warn if the classifier is fitted as the last step of a Pipeline whose earlier steps have used the labels.

    A classifier does not learn what ran before it, so the calls that led here are searched for the Pipeline.
    """
    inside = "transformer" if "transformer" in vars(model) else "estimator"
    frame = sys._getframe(1)
    while frame is not None:
        pipeline = frame.f_locals.get("self") if frame.f_code.co_name == "fit" else None
        if isinstance(pipeline, Pipeline) and pipeline.steps[-1][1] is model:
            names = [name for name, step in pipeline.steps[:-1] if _uses_labels(step)]
            if names:
                warn(
                    f"Earlier steps of the pipeline ({list_some(names)}) used the labels of the people whose results "
                    "are published, so new people will do worse than published. Put these steps into "
                    f"{inside}=, where they are fitted again in every fold.",
                    PromiseWarning,
                )
            model = pipeline  # which may be the last step of another
        frame = frame.f_back  # type: ignore[assignment]


def _uses_labels(step: Any) -> bool:
    """Whether a step of a Pipeline learns from labels, as far as its type says so."""
    if isinstance(step, (Pipeline, FeatureUnion, ColumnTransformer)):
        return any(_uses_labels(part) for name, part in step.get_params().items() if "__" not in name)
    if not hasattr(step, "fit"):
        return False
    tags = get_tags(step)
    selects = isinstance(step, SelectorMixin) and not isinstance(step, VarianceThreshold)
    return bool(tags.target_tags.required or tags.estimator_type in ("classifier", "regressor") or selects)


def warn_about_published(model: Any) -> None:
    """Warn about who applies, who is shut out, an overfitted score, and qualified people who stay away."""
    _warn_about_applications(model)
    _warn_about_shut_out(model)
    _warn_about_overfitting(model)
    _warn_about_social_cost(model)


def _warn_about_applications(model: Any) -> None:
    shares, table, confidence = model.application_shares(), model.published_, model._terms().confidence
    if (shares < LEAST_SHARE).all():
        best, sure = table.precision.max(), "" if confidence is None else f" (confidence {confidence:g})"
        if np.isnan(best):
            reason = f"nobody is selected, because no group reaches its cost{sure}"
        elif sure:
            reason = (
                f"the highest published precision is {best:.3f}, and no lower bound{sure} reaches the cost of its group"
            )
        else:
            reason = f"the highest published precision is {best:.3f}, below the cost"
        warn(f"Nobody applies: {reason}. Lower the cost or subsidise a group.")
    elif (shares == 1).all() and (table.counts.base_rate >= model._terms().effective_cost(table.groups)).all():
        warn(
            "At this cost every group applies, even if everybody were selected (its base rate reaches the cost): "
            "self-selection has no effect here, and NaiveClassifier does as well."
        )


def _warn_about_shut_out(model: Any) -> None:
    counts = model.published_in_sample_.counts
    shut_out = (counts.selected == 0) & (counts.n > 0)
    if len(counts.n) > 1 and shut_out.any():
        first = int(np.flatnonzero(shut_out)[0])
        advice = " Use MinSelectionRate or RequiredGroups to keep them in." if "constraints" in vars(model) else ""
        warn(
            f"The classifier selects nobody of {shut_out.sum()} group(s), "
            f"{list_some(model.published_.groups[shut_out])} (the first has {counts.n[first]:g} people, "
            f"{counts.positives[first]:g} of them qualified): they have nothing to apply for.{advice}",
            ShutOutWarning,
        )
    selected, everyone = counts.selected.sum(), counts.n.sum()
    if selected < MIN_SELECTED_SHARE * everyone:
        warn(f"The classifier selects {selected:g} of the {everyone:g} people it was given.", ShutOutWarning)


def _warn_about_overfitting(model: Any) -> None:
    """Warn where in-sample precision is above the published one, by Fisher's exact test over all groups."""
    in_sample, published = model.published_in_sample_.counts, model.published_.counts
    if in_sample is published:
        return
    (k, n), (k0, n0) = (np.rint(counts.effective_trials) for counts in (in_sample, published))
    chance = hypergeom.sf(k - 1, n + n0, k + k0, n)
    above = (n > 0) & (n0 > 0) & (chance * len(k) < OVERFITTING_LEVEL)
    if above.any():
        first = int(np.flatnonzero(above)[0])
        warn(
            f"The score is overfitted: on the training data the precision of group(s) "
            f"{list_some(model.published_.groups[above])} is {in_sample.precision[first]:.3f} (the first), but "
            f"{published.precision[first]:.3f} on people the score had not seen. This is more than sampling explains. "
            "The latter is published.",
            PromiseWarning,
        )


def _warn_about_social_cost(model: Any) -> None:
    """Warn if most qualified people are in groups that are not expected to apply, while others are."""
    applies = model.applies()
    social_cost = outcome(model.published_, model.application_shares()).social_cost
    if applies.any() and social_cost > MAX_SILENT_SOCIAL_COST:
        advice = " MaxSocialCost limits this share." if "constraints" in vars(model) else ""
        warn(
            f"Most qualified people are expected to stay away: {percent(social_cost)} of them (social cost). The "
            f"groups {list_some(applies.index[~applies])} do not apply.{advice}"
        )


def explain_groups(table: PublishedStatistics, terms: Terms) -> list[str]:
    """How many people of each group pass, what is published about it, and why it applies or not."""
    counts = table.counts
    costs, shares = terms.effective_cost(table.groups), np.asarray(terms.shares(table.groups, counts))
    tested = terms.statistic.statistic if isinstance(terms.statistic, Guaranteed) else terms.statistic
    values = Published(counts, tested, table.groups).value
    passed = terms.published(table.groups, counts).is_defined
    sentences = []
    for i, cost in enumerate(costs.tolist()):
        reason = _reason(table, i, cost, float(shares[i]), float(values[i]), bool(passed[i]), terms)
        published = _published_text(float(counts.precision[i]), float(values[i]), terms.confidence)
        sentences.append(f"{count(counts.selected[i])} of {count(counts.n[i])} pass{published}; {reason}.")
    return sentences


def _published_text(precision: float, value: float, confidence: float | None) -> str:
    """Precision of the people who are counted, and what is published in its place."""
    if np.isnan(precision):
        return ""
    text = f", {precision:.1%} of them qualified"
    if np.isclose(value, precision):
        return text
    return f"{text} ({f'{value:.1%} is published' if confidence is None else f'lower bound {value:.1%}'})"


def _reason(
    table: PublishedStatistics, i: int, cost: float, share: float, value: float, is_published: bool, terms: Terms
) -> str:
    counts = table.counts
    if type(terms.behaviour) is not BestResponse:
        return f"{share:.1%} of the group apply at its cost of {cost:g}"
    published = "this" if terms.confidence is None else "the lower bound"
    if share:
        reason = f"{published} reaches its cost of {cost:g}" if is_published else "nothing is published about it"
        return f"applies: {reason}"
    if counts.n[i] == 0:
        return "stays away: nobody of it was evaluated, so nothing is published about it"
    if counts.selected[i] == 0:
        return f"shut out: no threshold brings it in at its cost of {cost:g}, or none was chosen"
    if not is_published and value >= cost:
        return f"not promised anything: its cost of {cost:g} is reached, but this group was not tested"
    if counts.precision[i] >= cost:
        below = "the lower bound" if terms.confidence is not None else "what is published"
        return f"not promised anything: its cost of {cost:g} is reached, but {below} is below it"
    return f"stays away: its cost of {cost:g} is not reached"
