"""Pages of comparisons, frontiers and rounds in a real browser."""

import html
import json
import re
from dataclasses import replace

import numpy as np
import pytest

from hostile import HOSTILE
from pages import embedded_text, people, settle, some_rounds
from selfselect import audit
from selfselect._formats import percent
from selfselect.auditing import Provenance, compare
from selfselect.planning import threshold_frontier
from selfselect.report.sentences.comparisons import change_texts


def two_years(names, **second):
    audits = []
    for seed, options in ((0, {}), (1, second)):
        y, score, z = people(names, seed=seed)
        audits.append(audit(y, score=np.round(score, 2), sensitive_features=z, cost=0.7, **options))
    return compare(*audits, names=("2024", "2025"), n_resamples=100)


def drawn(page):
    page.wait_for_selector("#chart-document svg.plot")
    settle(page)
    return page.locator("#chart-document svg.plot").first


@pytest.mark.parametrize("width", [390, 1280])
def test_the_picture_of_a_comparison_shows_every_group_before_and_after(show, width):
    made = two_years(["A", "B", "C", "D"], threshold=0.7)
    page = show(made, width=width)
    assert page.text_content("#verdict") == made.verdict()
    texts = drawn(page).locator("text").all_text_contents()
    rows = zip(made.group_names, change_texts(made), made.to_frame().to_dict("records"), strict=True)
    for name, change, row in rows:
        assert name in texts
        assert change in texts
        if width > 1000:
            assert f"{percent(row['precision_before'])} \N{RIGHTWARDS ARROW} {percent(row['precision_after'])}" in texts
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    header, *lines = page.evaluate("() => selfselect.csv('document')").splitlines()
    assert header.startswith('group,change,"people, 2024"')
    for line, row in zip(lines, made.to_frame().to_dict("records"), strict=True):
        cells = line.split(",")
        assert (float(cells[4]), float(cells[11])) == (row["precision_before"], row["precision_after"])


def test_groups_that_are_new_or_gone_are_in_the_comparison(show):
    y, score, z = people(["A", "B", "old"])
    first = audit(y, score=score, sensitive_features=z, cost=0.7)
    second = audit(y, score=score, sensitive_features=["new" if name == "old" else name for name in z], cost=0.7)
    page = show(compare(first, second, n_resamples=50))
    texts = drawn(page).locator("text").all_text_contents()
    assert {"old", "new"} <= set(texts)
    page.locator("details summary").first.click()
    page.wait_for_selector("#table-document tbody tr")
    assert "none" in page.text_content("#table-document")


def test_a_frontiers_picture_has_both_lines_named_at_their_ends(show):
    y, score, z = people(["A", "B", "C"])
    made = threshold_frontier(y, np.round(score, 1), sensitive_features=z, cost=0.7)
    page = show(made)
    assert page.text_content("#verdict") == made.verdict()
    texts = drawn(page).locator("text").all_text_contents()
    assert {"one threshold for all", "a threshold per group", "now"} <= set(texts)
    rows = page.evaluate("() => selfselect.csv('document')").splitlines()[1:]
    assert len(rows) == len(made.one) + len(made.per_group) + 1


@pytest.mark.parametrize("width", [390, 1280])
def test_the_picture_of_rounds_has_a_row_for_each_group(show, width):
    made = some_rounds(["A", "B", "<b>C</b>"])
    page = show(made, width=width)
    assert page.text_content("#verdict") == made.verdict()
    assert {"A", "B", "<b>C</b>"} <= set(drawn(page).locator("text").all_text_contents())
    header, *lines = page.evaluate("() => selfselect.csv('document')").splitlines()
    assert header == "group,round 1,round 2,round 3,round 4"
    shares = {line.split(",")[0]: [float(cell) for cell in line.split(",")[1:]] for line in lines}
    assert shares == {name: made.shares[name].tolist() for name in made.names}
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")


def test_documents_hold_only_characters_that_are_seen_whatever_names_hold():
    y, score, z = people(["\x00=1+1", "\x1b[31mred", "\u202eright", "two\r\nlines", "\u2028\xa0\ufffe", "long " * 2000])
    hostile = "".join(HOSTILE)
    given = {"sensitive_features": z, "cost": 0.7, "provenance": Provenance(title=hostile, note=hostile, dated=hostile)}
    made = audit(y, score=np.round(score, 1), **given)
    named = compare(made, made, names=(hostile, "\ud800"), n_resamples=5)
    rounds = replace(some_rounds(sorted(set(z))), provenance=given["provenance"])
    for page in (
        named.to_html(min_cell=0),
        threshold_frontier(y, np.round(score, 1), **given).to_html(min_cell=0),
        rounds.to_html(min_cell=0),
    ):
        said = html.unescape(re.sub(r"(?s)<(script|style).*?</\1>", "", page))
        assert {char for char in said if not char.isprintable()} <= {"\n", "\xa0"}
        json.loads(embedded_text(page.encode().decode()))
    assert "... (10,000 characters)</bdi>" in named.to_html(min_cell=0)
    assert threshold_frontier([1], [0.5], cost=0.5).to_html(min_cell=0)  # one half of the people is nobody
