"""Pages without scripts: a headline, some sentences, a picture and tables, in the style of the report."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape
from typing import Any

from .. import __version__
from .rendering import check_available, page_part, policy_hash

#: Size of a picture, and the room for its axes.
WIDTH, HEIGHT, LEFT, BOTTOM, MARGIN = 720, 380, 64, 48, 16
#: Okabe and Ito's colours, told apart by colour-blind people too.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
#: Lines along an axis.
TICKS = 5
#: Rows of a table on a page; files hold all.
MOST_ROWS = 500


def render_document(content: dict[str, Any], *, date: datetime | None = None) -> str:
    """Page that shows some content, without any script.

    Parameters
    ----------
    content : dict
        ``eyebrow``, ``title``, ``headline``, ``paragraphs`` (list of str), ``tables`` (a list of dicts of ``title``,
        ``rows``: dicts from column to text, and ``left``: columns that are text), ``chart`` (None, or a dict as
        :func:`chart_svg` takes it) and ``provenance`` (a dict of ``command`` and ``sha256``).
    date : datetime, optional
        When it was made; by default now.
    """
    check_available()
    # an optional extra: the rest of the package works without it
    import jinja2
    from markupsafe import Markup

    style = page_part("page.css")
    policy = f"default-src 'none'; style-src {policy_hash(style)}; img-src data:; base-uri 'none'; form-action 'none'"
    tables = [{**table, "shown": table["rows"][:MOST_ROWS]} for table in content["tables"] if table["rows"]]
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    return environment.from_string(page_part("document.html.j2")).render(
        content=content,
        tables=tables,
        chart=None if content["chart"] is None else Markup(chart_svg(**content["chart"])),
        policy=policy,
        style=Markup(style),
        version=__version__,
        date=(date or datetime.now(UTC)).strftime("%Y-%m-%d %H:%M UTC"),
    )


def chart_svg(x: str, y: str, series: Sequence[dict[str, Any]]) -> str:
    """Picture of some series of points, shares on both axes.

    Parameters
    ----------
    x, y : str
        What the axes mean.
    series : sequence of dict
        ``name``, ``points`` (pairs of shares) and ``line`` (whether they are joined).
    """
    drawn = [point for one in series for point in one["points"] if all(map(math.isfinite, point))]
    if not drawn:
        return ""
    (left, right), (low, high) = (_span([point[i] for point in drawn]) for i in (0, 1))

    def at(point: tuple[float, float]) -> tuple[float, float]:
        across = LEFT + (point[0] - left) / (right - left) * (WIDTH - LEFT - MARGIN)
        down = HEIGHT - BOTTOM - (point[1] - low) / (high - low) * (HEIGHT - BOTTOM - MARGIN)
        return round(across, 1), round(down, 1)

    label = escape(f"{y} against {x}")
    parts = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT + 24 * len(series)}" role="img" aria-label="{label}" font-size="13">']
    for i in range(TICKS + 1):
        across, down = left + i * (right - left) / TICKS, low + i * (high - low) / TICKS
        (px, _), (_, py) = at((across, low)), at((left, down))
        parts.append(
            f'<line x1="{LEFT}" x2="{WIDTH - MARGIN}" y1="{py}" y2="{py}" stroke="currentColor" stroke-opacity="0.15"/>'
            f'<text x="{LEFT - 6}" y="{py + 4}" text-anchor="end" fill="currentColor">{down:.1%}</text>'
            f'<text x="{px}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle" fill="currentColor">{across:.0%}</text>'
        )
    parts.append(
        f'<text x="{WIDTH / 2}" y="{HEIGHT - 8}" text-anchor="middle" fill="currentColor">{escape(x)}</text>'
        f'<text x="14" y="{HEIGHT / 2}" text-anchor="middle" fill="currentColor" '
        f'transform="rotate(-90 14 {HEIGHT / 2})">{escape(y)}</text>'
    )
    for i, one in enumerate(series):
        colour = COLOURS[i % len(COLOURS)]
        points = [at(point) for point in one["points"] if all(map(math.isfinite, point))]
        if one["line"] and points:
            # between two points the first is the best there is
            corners = [(after[0], before[1]) for before, after in itertools.pairwise(points)]
            both = [corner for pair in zip(points, [*corners, points[-1]], strict=True) for corner in pair]
            path = " ".join(f"{px},{py}" for px, py in both)
            parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        size = 3 if one["line"] else 7
        parts += [f'<circle cx="{px}" cy="{py}" r="{size}" fill="{colour}"/>' for px, py in points]
        parts.append(
            f'<circle cx="{LEFT + 5}" cy="{HEIGHT + 12 + 22 * i}" r="5" fill="{colour}"/>'
            f'<text x="{LEFT + 18}" y="{HEIGHT + 16 + 22 * i}" fill="currentColor">{escape(one["name"])}</text>'
        )
    return "".join([*parts, "</svg>"])


def _span(values: Sequence[float]) -> tuple[float, float]:
    """Ends of an axis around some shares."""
    low, high = min(values), max(values)
    room = max(0.1 * (high - low), 0.01)
    return max(low - room, 0.0), min(high + room, 1.0)
