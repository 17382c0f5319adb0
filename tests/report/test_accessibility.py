"""What a checker of accessibility finds on the pages: nothing serious, light and dark, on a desk and on a phone."""

import numpy as np
import pytest

from pages import example, settle, some_rounds
from selfselect.auditing import compare
from selfselect.planning import frontier_for, plan_for

axe = pytest.importorskip("axe_playwright_python.sync_playwright")


PAGES = {
    "audit": example,
    "plan": lambda: plan_for(example()),
    "compare": lambda: compare(example(), example().at(0.75), n_resamples=50),
    "frontier": lambda: frontier_for(example()),
    "rounds": lambda: some_rounds(["A", "B", "C"]),
}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("kind", PAGES)
def test_nothing_serious_is_found_by_axe(show, kind, scheme):
    page = show(PAGES[kind](), scheme=scheme, width=390 if kind == "audit" and scheme == "dark" else 1280)
    page.evaluate("() => document.querySelectorAll('details').forEach((details) => { details.open = true; })")
    settle(page)
    violations = axe.Axe().run(page).response["violations"]
    serious = [
        (rule["id"], rule["nodes"][0]["html"]) for rule in violations if rule["impact"] in ("serious", "critical")
    ]
    assert serious == []


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))


def contrast(one, other):
    lower, higher = sorted([luminance(one), luminance(other)])
    return (higher + 0.05) / (lower + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_in_charts_stand_out_from_what_is_behind_them(show, scheme):
    """A checker does not look into pictures: letters need a contrast of 4.5, lines and dots one of 3."""
    page = show(example(), scheme=scheme)
    style = page.evaluate(
        """() => Object.fromEntries(['paper', 'ink', 'quiet', 'in', 'out', 'open', 'out-paper', 'panel'].map((name) =>
             [name, getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim()]))"""
    )
    for name in ("ink", "quiet", "in", "out", "open"):
        for behind in ("paper", "out-paper", "panel"):
            assert contrast(style[name], style[behind]) >= 4.5, (name, behind)
    page.locator("#chart-curves").scroll_into_view_if_needed()
    page.wait_for_selector("#chart-curves svg")
    lines = page.evaluate(
        "() => [...document.querySelectorAll('#chart-curves [stroke^=\"#\"]')].map((e) => e.getAttribute('stroke'))"
    )
    assert len(set(lines)) == 4
    for colour in lines:
        assert contrast(colour, style["paper"]) >= 3
