"""Checks of a trained model: groups of which it passes (almost) nobody, and conditions that it does not meet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._formats import count, percent
from ..auditing import Audit, group_names
from ..counting import locate_labels
from ..outcomes import outcome
from ..statistics import SLACK

#: A group of which a smaller share passes is shut out.
MIN_PASS_RATE = 0.01
#: Groups with fewer qualified people are not reported: that none passes may be chance.
MIN_QUALIFIED = 10


def shut_out(trained: Audit) -> list[str]:
    """A sentence for each group with enough qualified people that a model shuts out.

    The check uses held-out people. For groups with too few qualified people among them (or if nobody was held out) it
    uses those whose counts are published.
    """
    tables = [(trained.population, "held-out people")] if trained.of_new_people else []
    checked: set[Any] = set()
    sentences = []
    for table, whose in [*tables, (trained.published, "people")]:
        counts = table.counts
        for i, (label, name) in enumerate(zip(table.groups, group_names(table.groups), strict=True)):
            if label in checked or counts.positives[i] < MIN_QUALIFIED:
                continue
            checked.add(label)
            n, passed = counts.n[i], counts.selected[i]
            if passed < (MIN_PASS_RATE - SLACK) * n:
                passes = f"{count(passed)} ({percent(passed / n)})" if passed else "none"
                sentences.append(
                    f"The model passes {passes} of the {count(n)} {whose} of {name!r}, {count(counts.positives[i])} of "
                    "whom are qualified."
                )
    return sentences


def unmet_conditions(
    trained: Audit,
    *,
    require: Sequence[Any] = (),
    max_social_cost: float | None = None,
    min_selection_rate: float | None = None,
) -> list[tuple[str, str]]:
    """Conditions of :class:`selfselect.StrategicClassifier` that a trained model does not meet: their names, and why.

    They are checked on the published counts, on which training enforces them; held-out people may differ by chance.
    """
    table, counts = trained.published, trained.published.counts
    names, unmet = group_names(table.groups), []
    if len(require):
        required = locate_labels(list(require), table.groups, "require", "the table")
        unmet += [("require", f"{names[i]} does not apply") for i in required if not trained.applies.iloc[i]]
    social_cost = outcome(table, trained.shares).social_cost
    if max_social_cost is not None and social_cost > max_social_cost + SLACK:
        text = f"{percent(social_cost)} of qualified people do not apply, more than {percent(max_social_cost)}"
        unmet.append(("max_social_cost", text))
    least = min_selection_rate or 0.0
    for i in np.flatnonzero((counts.selected < (least - SLACK) * counts.n) & (counts.n > 0)):
        text = f"{percent(counts.selection_rate[i])} of {names[i]} pass, fewer than {percent(least)}"
        unmet.append(("min_selection_rate", text))
    return unmet
