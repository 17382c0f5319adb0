"""Names of groups, columns and files that break a careless program; `test_hostile.py` tests every place with them."""

import re

#: Formulas of a spreadsheet: plain signs, full-width signs, and both after invisible characters.
FORMULAS = [
    "=1+1",
    '=HYPERLINK("http://evil.example","click")',
    "+1+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(A1:A9)",
    "\uff1d1+1",
    " =1+1",
    "\t=1+1",
    "\n=1+1",
    "\xa0=1+1",
    "\ufeff=1+1",
    "\u200b\uff1d1+1",
    "\x00=1+1",
]

#: Scripts and entities, marks of templates and of mathematics, control characters, lone surrogates.
OTHERS = [
    "<script>window.pwned=1</script>",
    "</script><img src=x onerror=window.pwned=1>",
    "<svg onload=window.pwned=1>",
    "]]>--><!--",
    "&lt;b&gt; &amp; \"quoted\" & 'single'",
    "{{7*7}} ${7*7} {%raw%}",
    r"R&D $50 #1 {a} ~ ^ \ % _",
    "$50_$",
    "$\\frac{$",
    "_other",
    "**bold** _it_ ~~no~~ `code` [link](javascript:alert(1)) ![x](http://evil.example/x.png)",
    "\x1b[31mred\x1b[0m",
    "\x1b]0;title\x07",
    "\x9b31m",
    "\u202eright to left\u202c",
    "\u2066isolated\u2069",
    "two\nlines",
    "two\r\nlines",
    "\u2028line\u2029",
    "tab\there",
    "nul\x00here",
    "\ud800",
    "\ufffe\uffff",
    "e\u0301 e\u0301\u0301\u0301",
    "\U0001f9d1\u200d\U0001f52c",
    "山 Käse ½",
    "",
    "\u3000",
    "NaN",
    "null",
    "-",
    "'",
    '"',
    "a;=1+1",
    "a;b; \uff1d1+1",
    "a\t=1\r\n@SUM(A1)\n\n+1",
    'a"b,c',
    "long " * 2000,
]

HOSTILE = [*FORMULAS, *OTHERS]
#: Without lone surrogates, which pandas and browsers refuse.
WITHOUT_HALVES = [name for name in HOSTILE if name.encode("utf-8", "replace").decode() == name]


def runs_as_formula(cell):
    """Whether a careless spreadsheet runs a cell: it skips invisible characters and reads full-width signs."""
    seen = [char for char in cell if char.isprintable() and not char.isspace()]
    return bool(seen) and seen[0] in "=+-@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b"


def split_carelessly(cell):
    """Cells of a spreadsheet that splits at other characters, and at line ends within quotes."""
    return re.split(r"[;\t\r\n]", cell)


def without_apostrophes(cell):
    """A cell without the apostrophes that escape it."""
    return re.sub(r"(^|(?<=[;\t\r\n]))'", "", cell)
