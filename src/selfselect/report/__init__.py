"""Report: one HTML page that needs nothing else, and recomputes itself.

The page holds counts per group at a list of thresholds, never a row of data. Names are text all the way: the template
escapes them, the embedded data cannot close its element, the script only ever sets text. A content security policy
lets run exactly the scripts and styles that are written here, and nothing from anywhere else.
"""

from __future__ import annotations

import base64
import hashlib
import json
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from .. import __version__ as _version_of_package
from .._validation import FloatArray
from ..auditing import FEW_SELECTED, MOST_NAMED, Audit
from ..behaviour import SLACK, group_costs
from ..curves import ThresholdCurves
from ..statistics import PublishedStatistics
from ..tables import printable

#: With more groups than this a page would be neither small nor usable.
MOST_GROUPS = 2000
#: Counts embedded for thresholds, over all groups together.
MOST_CELLS = 60_000
MOST_THRESHOLDS = 201
#: Names longer than this are shortened on the page.
LONGEST_NAME = 120


def check_available() -> None:
    """Complain if the extra that the report needs is not installed."""
    try:
        import jinja2  # noqa: F401
    except ImportError as error:
        raise ImportError("The report needs jinja2: pip install 'selfselect[report]'.") from error


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


def page_data(audit: Audit, *, date: datetime) -> dict[str, Any]:
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
    same = audit.population is published
    main = audit.cost if isinstance(audit.cost, int | float) else None
    spread = group_costs(groups, audit.cost)
    if isinstance(audit.subsidies, int | float):
        paid = np.full(len(groups), float(audit.subsidies))
    else:
        given = pd.Series(audit.subsidies if audit.subsidies is not None else {}, dtype=float)
        paid = np.zeros(len(groups))
        if len(given):
            paid[groups.get_indexer(given.index)] = given.to_numpy()
    z = float(stats.norm.ppf(0.975))
    source = audit.source
    return {
        "version": _version_of_package,
        "date": date.strftime("%Y-%m-%d %H:%M UTC"),
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
        "kind": audit.subsidy_kind,
        "cost": main,
        "group_costs": None if main is not None else spread.tolist(),
        "names": [short_name(name) for name in audit.names],
        "subsidies": paid.tolist(),
        "thresholds": None if thresholds is None else [None, *thresholds[1:].tolist()],
        "threshold": None if thresholds is None else _offered(audit.threshold, thresholds),
        "exact": exact,
        "published": _counts(published, groups, audit.curves, thresholds),
        "population": None if same else _counts(audit.population, groups, audit.population_curves, thresholds),
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


def embedded_json(data: Any) -> str:
    r"""JSON that is inert inside a script element, whatever the texts in it.

    Examples
    --------
    >>> embedded_json({"name": "</script>"})
    '{"name":"\\u003c/script\\u003e"}'
    """
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text


@cache
def _part(name: str) -> str:
    text = files(__package__).joinpath(name).read_text(encoding="utf-8")
    # a source map would be the one thing that a browser's tools ask the network for
    return "\n".join(line for line in text.splitlines() if not line.startswith("//# sourceMappingURL"))


def _policy_hash(text: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii") + "'"


def render(audit: Audit, *, date: datetime | None = None) -> str:
    """Page for an audit.

    Parameters
    ----------
    audit : Audit
        What to show.
    date : datetime, optional
        When it was made; by default now.
    """
    check_available()
    import jinja2
    from markupsafe import Markup

    data = page_data(audit, date=date or datetime.now(UTC))
    style, library, script = _part("page.css"), _part("vendor/chart.umd.min.js"), _part("page.js")
    policy = "; ".join(
        [
            "default-src 'none'",
            f"script-src {_policy_hash(library)} {_policy_hash(script)}",
            f"style-src {_policy_hash(style)}",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    shown = [printable(sentence) for sentence in audit.sentences()[:50]]
    return environment.from_string(_part("page.html.j2")).render(
        data=data,
        policy=policy,
        style=Markup(style),
        library=Markup(library),
        script=Markup(script),
        embedded=Markup(embedded_json(data)),
        verdict=printable(audit.verdict()) if len(audit.verdict()) < 2000 else "",
        sentences=[text for text in shown if len(text) < 1000],
        chart_library=json.loads(_part("vendor/VENDORED.json")),
    )
