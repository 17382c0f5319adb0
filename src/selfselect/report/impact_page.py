"""The page of rates and impact ratios: tables and bars, without a script."""

from __future__ import annotations

from typing import Any

import pandas as pd

from .._formats import count
from ..auditing import ImpactAudit
from .dicts import impact_to_dict, plain_value
from .page_data import short_name, source_data
from .rendering import check_available, dated, page_part, policy_hash, printable_content
from .sentences.impact import impact_notes, impact_sentences
from .tables import impact_rows

#: Ratios from 0 to this are drawn; larger ones end there.
LARGEST_DRAWN = 1.25
#: Categories that are drawn and listed on the page; files hold all.
MAX_CATEGORIES = 200


def impact_audit_to_dict(found: ImpactAudit) -> dict[str, Any]:
    """Rates and impact ratios as plain values."""
    source = found.provenance
    return {
        "n": found.n_people,
        "median": plain_value(found.median),
        "threshold": plain_value(found.threshold),
        **({"lower_passes": True} if found.lower_passes else {}),
        **({"passes": source.passes} if source.passes else {}),
        "small_share": found.small_share,
        "rates": {rate: impact_to_dict(frame) for rate, frame in found.tables.items()},
    }


def impact_page(found: ImpactAudit) -> str:
    """Page of rates and impact ratios."""
    check_available()
    import jinja2  # an extra: the rest of the package works without it
    from markupsafe import Markup

    style = page_part("page.css")
    policy = f"style-src {policy_hash(style)}; img-src data:; base-uri 'none'; form-action 'none'"
    content = {
        "sentences": impact_sentences(found),
        "notes": impact_notes(found),
        "tables": [
            _table(rate, part) for rate, frame in found.tables.items() for _, part in frame.groupby("by", sort=False)
        ],
        "source": source_data(found.provenance),
        "people": count(found.n_people),
        **dated(),
    }
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    return environment.from_string(page_part("impact.html.j2")).render(
        style=Markup(style),
        policy=f"default-src 'none'; {policy}",
        **printable_content(content),
    )


def _table(rate: str, part: pd.DataFrame) -> dict[str, Any]:
    (table,) = impact_rows(part.head(MAX_CATEGORIES), rate)
    bars = [_bar(row) for row in part.head(MAX_CATEGORIES).to_dict("records")]
    return {
        "title": f"{rate.capitalize()} by {short_name(table['by'])}",
        "remark": table["remark"],
        "rows": [
            {name: cell and short_name(cell) for name, cell in row.items() if name != "category"}
            for row in table["rows"]
        ],
        "names": [short_name(row["category"]) for row in table["rows"]],
        "bars": bars,
        "more": max(len(part) - MAX_CATEGORIES, 0),
    }


def _bar(row: dict[Any, Any]) -> dict[str, float] | None:
    """Ratio and interval, in percent of the width of the picture; None without a ratio."""
    if row["impact_ratio"] != row["impact_ratio"]:
        return None
    ends = [row["impact_ratio"], row["impact_ratio_low"], row["impact_ratio_high"]]
    at, low, high = (
        round(100 * min(end if end == end else row["impact_ratio"], LARGEST_DRAWN) / LARGEST_DRAWN, 2) for end in ends
    )
    return {"at": at, "low": low, "high": high}
