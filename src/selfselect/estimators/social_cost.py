"""Warning about a classifier from which most qualified people are expected to stay away."""

from __future__ import annotations

from typing import Any

from .._formats import percent
from .._notices import ApplicationWarning, warn
from .._validation import list_some
from ..outcomes import outcome

#: Share of qualified people who stay away above which a classifier warns.
MAX_SILENT_SOCIAL_COST = 0.5


def warn_about_social_cost(model: Any) -> None:
    """Warn if most qualified people are in groups that are not expected to apply, while others are."""
    applies = model.applies()
    if not applies.any():  # there is a warning of its own if nobody applies
        return
    social_cost = outcome(model.published_, model.application_shares()).social_cost
    if social_cost > MAX_SILENT_SOCIAL_COST:
        advice = " MaxSocialCost limits this share." if "constraints" in vars(model) else ""
        warn(
            f"Most qualified people are expected to stay away: {percent(social_cost)} of them (social cost). The "
            f"groups {list_some(applies.index[~applies])} do not apply.{advice}",
            ApplicationWarning,
        )
