"""Everything that the report computes from, taken from an audit: counts per group at a list of thresholds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.special import ndtri

from .._text import printable
from .._validation import FloatArray
from ..deciding import SLACK, PublishedStatistics, ThresholdCurves
from .words import FEW_SELECTED, MOST_NAMED

if TYPE_CHECKING:
    from .audits import Audit

#: With more groups than this a page would be neither small nor usable.
MOST_GROUPS = 2000
#: Counts embedded for thresholds, over all groups together.
MOST_CELLS = 60_000
MOST_THRESHOLDS = 201
#: Names longer than this are shortened on the page.
LONGEST_NAME = 120


def short_name(name: str) -> str:
    """A name as the page shows it: on one line, without marks that change the direction, not too long."""
    text = printable(name) or "(empty)"
    if len(text) <= LONGEST_NAME:
        return text
    return f"{text[: LONGEST_NAME - 20]}... ({len(name):,} characters)"


def threshold_grid(curves: ThresholdCurves, own: float, most: int) -> tuple[FloatArray, bool]:
    """Thresholds that the page offers, rising, from -inf (everyone passes) on.

    Parameters
    ----------
    curves : ThresholdCurves
        The score, by group.
    own : float
        The threshold in use; always offered.
    most : int
        About how many to offer.

    Returns
    -------
    thresholds : ndarray
    exact : bool
        Whether these are all thresholds that make a difference. Otherwise they are spread over the range and over the
        scores, rounded to three digits.

    Examples
    --------
    >>> curves = ThresholdCurves.from_scores([0, 1], [0.25, 0.75])
    >>> threshold_grid(curves, 0.5, 100)[0].tolist()
    [-inf, 0.25, 0.5, 0.75]
    """
    values = np.unique(curves.threshold)[1:]
    exact = len(values) <= most
    if not exact:
        spread = values[np.linspace(0, len(values) - 1, most // 2).astype(int)]
        low, high = float(values[0]), float(values[-1])
        even = low + np.linspace(0, 1, most // 2) * (high - low) if np.isfinite(high - low) else spread
        values = np.array([float(f"{value:.3g}") for value in np.concatenate([spread, even])])
    # above the largest score all thresholds are alike: nobody passes
    return np.unique(np.concatenate([[-np.inf, min(own, curves.threshold.max())], values])), exact


def page_content(audit: Audit) -> dict[str, Any]:
    """Everything that the page computes from."""
    published, groups = audit.published, audit.published.groups
    if len(groups) > MOST_GROUPS:
        raise ValueError(
            f"{len(groups):,} groups are too many for a page ({MOST_GROUPS:,} at most); merge small groups, or "
            "group by fewer columns."
        )
    thresholds: FloatArray | None = None
    exact = True
    if audit.curves is not None and audit.threshold is not None:
        most = int(np.clip(MOST_CELLS // len(groups), 11, MOST_THRESHOLDS))
        thresholds, exact = threshold_grid(audit.curves, audit.threshold, most)
    same = audit.counted_on is audit.published_by
    terms, source = audit.terms, audit.provenance
    z = float(ndtri(0.975))
    return {
        "title": short_name(source.title) if source.title else "Screening model",
        "command": printable(source.command)[:4000],
        "sha256": source.sha256,
        "label": short_name(source.label) if source.label else "",
        "group_by": short_name(source.groups) if source.groups else "group",
        "score": short_name(source.score) if source.score else "score",
        "slack": SLACK,
        "few": FEW_SELECTED,
        "most_named": MOST_NAMED,
        "z": z,
        "z2": z**2,
        "kind": terms.kind,
        "cost": terms.uniform_cost,
        "group_costs": None if terms.uniform_cost is not None else terms.listed_for(groups).tolist(),
        "names": [short_name(name) for name in audit.names],
        "subsidies": terms.subsidies_for(groups).tolist(),
        "thresholds": None if thresholds is None else [None, *thresholds[1:].tolist()],
        "threshold": None if thresholds is None else _offered(audit.threshold, thresholds),
        "exact": exact,
        "published": _counts(published, groups, audit.curves, thresholds),
        "verdict": audit.verdict(),
        "sentences": audit.sentences()[:50],
        "population": None if same else _counts(audit.population, groups, audit.counted_on.curves, thresholds),
    }


def _offered(own: float | None, thresholds: FloatArray) -> float | None:
    """The threshold in use as the page writes it: no number stands for -inf."""
    value = min(own if own is not None else np.inf, float(thresholds[-1]))
    return value if np.isfinite(value) else None


def _counts(
    table: PublishedStatistics, groups: pd.Index, curves: ThresholdCurves | None, thresholds: FloatArray | None
) -> dict[str, Any]:
    """Counts in the order of the published groups; a group that is not in the table has none."""
    position = groups.get_indexer(table.groups)

    def spread(values: Any) -> list[Any]:
        row = np.zeros(len(groups), dtype=values.dtype)
        row[position] = values
        return list(row.tolist())

    counts = table.counts
    if curves is not None and thresholds is not None:
        kind = curves.selected.dtype  # whole numbers stay whole, and short
        selected, hits = (counts_there.astype(kind) for counts_there in curves.counts_at(thresholds))
    else:
        selected, hits = counts.selected[None], counts.true_positives[None]
    return {
        "n": spread(counts.n),
        "positives": spread(counts.positives),
        "selected": [spread(row) for row in selected],
        "true_positives": [spread(row) for row in hits],
    }
