"""HTML pages that need nothing else.

Names are text all the way: the template escapes them, the embedded data cannot close its element, the script only ever
sets text. A content security policy allows exactly the scripts and styles that are written here.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from typing import Any

from .. import __version__
from .._text import printable

#: What every page's script begins with, in the order of dependence: each file uses only names of those before it. The
#: files of a page are joined into one element, so that it has one script and its policy one hash, and share one scope
#: that nothing else sees.
COMMON = "content numbers elements tables looks charts".split()
#: The report of an audit, which recomputes itself: numbers, then words, then charts and controls.
SCRIPTS = [*COMMON, *"people binomial intervals terms outcome undecided promises words findings setting".split()]
SCRIPTS += "who_chart groups threshold_charts outcome_charts furniture wiring".split()
#: Pages that state something once.
DOCUMENT_SCRIPTS = [*COMMON, "comparison_chart", "frontier_chart", "rounds_chart", "furniture", "document"]

#: Longer tables of impact ratios are left to files.
MAX_IMPACT_ROWS = 100
#: Rows of other tables on a page; files hold all.
MAX_ROWS = 500


def check_available() -> None:
    """Complain if the extra that the report needs is not installed."""
    try:
        import jinja2  # noqa: F401 (an optional extra)
    except ImportError as error:
        raise ImportError("The report needs jinja2: pip install jinja2 (extra report).") from error


def embedded_json(data: Any) -> str:
    r"""JSON that is inert inside a script element, whatever the texts in it."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text


@cache
def page_part(name: str) -> str:
    """A file of this package, as it goes into a page."""
    text = files(__package__).joinpath(name).read_text(encoding="utf-8")
    # a source map would be the one thing that a browser's tools ask the network for
    return "\n".join(line for line in text.splitlines() if not line.startswith("//# sourceMappingURL"))


def policy_hash(text: str) -> str:
    """How a content security policy names a text that may be in the page."""
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii") + "'"


@cache
def library_style() -> str:
    """The few rules that the chart library puts into each picture: a policy has to name them."""
    rules = re.search(r"`(:where\(\.\$\{\w+\}\).*?)`", page_part("vendor/plot.min.js"), re.DOTALL)
    if rules is None:
        raise RuntimeError("The chart library has changed how it styles its pictures.")
    return re.sub(r"\$\{\w+\}", "plot", rules[1])  # its pictures in the style sheet


def render_page(template: str, scripts: Sequence[str], data: dict[str, Any], **texts: Any) -> str:
    """A page: a template with its texts, and the files of its script with their data."""
    check_available()
    # an optional extra: the rest of the package works without it
    import jinja2
    from markupsafe import Markup

    style, library = page_part("page.css"), page_part("vendor/plot.min.js")
    parts = "\n".join(page_part(f"scripts/{name}.js") for name in scripts)
    script = f'"use strict";\n(() => {{\n{parts}\n}})();'
    policy = (
        f"default-src 'none'; script-src {policy_hash(library)} {policy_hash(script)}; "
        f"style-src {policy_hash(style)} {policy_hash(library_style())}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    return environment.from_string(page_part(template)).render(
        data=data,
        policy=policy,
        style=Markup(style),
        library=Markup(library),
        script=Markup(script),
        embedded=Markup(embedded_json(data)),
        chart_library=json.loads(page_part("vendor/VENDORED.json")),
        **texts,
    )


def dated() -> dict[str, str]:
    """Version and date, as pages state them."""
    return {"version": __version__, "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")}


def shown_tables(tables: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Tables of texts as a page shows them: not without end, and none without rows."""
    return [{**table, "shown": table["rows"][:MAX_ROWS]} for table in tables if table["rows"]]


def render_audit(
    data: dict[str, Any], *, tables: Sequence[dict[str, Any]], impact: Sequence[dict[str, Any]], **texts: Any
) -> str:
    """Page of an audit: the data it computes from, tables of texts, impact ratios, and its texts at first."""
    short = [table for table in impact if len(table["rows"]) <= MAX_IMPACT_ROWS]
    shown = printable_content(texts | {"tables": shown_tables(tables), "impact": short})
    return render_page("page.html.j2", SCRIPTS, data | dated(), **shown)


def render_document(content: dict[str, Any]) -> str:
    """Page that states something once: a headline, a chart, paragraphs and tables (see ``pages.comparison_page``)."""
    shown = printable_content(content)
    data = {"constants": shown["constants"], "chart": shown["chart"], **dated()}
    return render_page("document.html.j2", DOCUMENT_SCRIPTS, data, content=shown, tables=shown_tables(shown["tables"]))


def printable_content(content: Any) -> Any:
    """The same with all texts in it printable, because names of groups are in many of them."""
    if isinstance(content, str):
        return printable(content)
    if isinstance(content, dict):
        return {printable_content(name): printable_content(value) for name, value in content.items()}
    if isinstance(content, list | tuple):
        return [printable_content(value) for value in content]
    return content
