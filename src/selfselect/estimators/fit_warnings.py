"""Warnings about what a fitted classifier publishes."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import hypergeom

from .._notices import PromiseWarning, ShutOutWarning, warn
from .._validation import list_some

#: Share of all people under which the number of selected people is warned about.
MIN_SELECTED_SHARE = 0.01
#: Level of the test that precision is higher in-sample than out-of-sample, over all groups.
OVERFITTING_LEVEL = 0.05
#: A smaller share of a group counts as nobody.
LEAST_SHARE = 0.005


def warn_about_published(model: Any) -> None:
    """Warn if nobody or everybody applies, if groups are shut out, and if the score is overfitted."""
    _warn_about_applications(model)
    _warn_about_shut_out(model)
    _warn_about_overfitting(model)


def _warn_about_applications(model: Any) -> None:
    shares, table, confidence = model.application_shares(), model.published_, model._terms().confidence
    if (shares < LEAST_SHARE).all():
        best = table.precision.max()
        if np.isnan(best):
            reason = "nobody is selected, because no group reaches its cost"
            reason += f" with confidence {confidence:g}" if confidence is not None else ""
        elif confidence is not None:
            reason = (
                f"the highest published precision is {best:.3f}, and no lower bound (confidence "
                f"{confidence:g}) reaches the cost of its group"
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
