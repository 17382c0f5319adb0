"""The report as a file: small, self-contained, inert whatever the names. Its life: test_report_browser.py."""

import hashlib
import html
import json
import re
import sys
from datetime import UTC, datetime
from html.parser import HTMLParser
from importlib.resources import files

import numpy as np
import pytest
from click.testing import CliRunner

from selfselect import ThresholdCurves, audit
from selfselect.auditing import Provenance
from selfselect.auditing.page import short_name, threshold_grid
from selfselect.cli import main
from selfselect.report.page import embedded_json, render

HOSTILE = [
    "<script>window.pwned=1</script>",
    "</script><img src=x onerror=window.pwned=1>",
    "{{7*7}}",
    "\"quoted\" & 'single'",
    "\u202eright to left\u202c",
    "=1+1",
    "long " * 2000,
    "<svg onload=window.pwned=1>",
    "\u2028line\u2029",
    "${window.pwned=1}",
    "]]>--><!--",
    "&lt;b&gt;",
]


def people(names, n=3000, seed=0):
    rng = np.random.default_rng(seed)
    z = rng.choice(len(names), n)
    score = rng.random(n)
    y = rng.random(n) < score * (0.6 + 0.4 * z / max(len(names) - 1, 1))
    return y, score, [names[i] for i in z]


def hostile_audit():
    y, score, z = people(HOSTILE)
    source = Provenance(
        title=HOSTILE[0], command=HOSTILE[1], sha256="ab" * 32, label=HOSTILE[2], groups="g", score=HOSTILE[3]
    )
    return audit(y, score=score, sensitive_features=z, cost=0.7, provenance=source)


class Elements(HTMLParser):
    """Collects elements and where they point."""

    def __init__(self):
        super().__init__()
        self.found, self.links = [], []

    def handle_starttag(self, tag, attributes):
        self.found.append(tag)
        self.links += [value for name, value in attributes if name in ("src", "href", "action", "srcset")]
        assert not [name for name, _ in attributes if name.startswith("on") or name == "style"]


def elements_of(page):
    parser = Elements()
    parser.feed(page)
    return parser


def test_the_page_points_nowhere_and_runs_only_its_own_scripts():
    page = render(hostile_audit())
    found = elements_of(page)
    assert set(found.links) <= {"#", "data:,"}
    assert found.found.count("script") == 3
    assert not {"img", "svg", "iframe", "object", "embed", "form", "base"} & set(found.found)
    policy = html.unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', page).group(1))
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy


def test_hostile_names_are_escaped_in_html_and_in_the_embedded_data():
    page = render(hostile_audit())
    markup, data = re.fullmatch(r'(.*)<script type="application/json" id="data">(.*?)</script>.*', page, re.S).groups()
    for name in ("<script>window", "<img src=x", "<svg onload"):
        assert name not in page
    assert "{{7*7}}" in markup
    assert ">49<" not in markup
    assert not set("<>&\u2028\u2029") & set(data)
    assert len(json.loads(data)["names"]) == len(HOSTILE)
    assert "\u202e" not in page
    assert max(map(len, json.loads(data)["names"])) <= 130


def test_data_reads_back_as_it_was_written():
    data = {"a": HOSTILE, "b": [1, 0.1, None, True]}
    assert json.loads(embedded_json(data)) == data


def test_a_page_states_version_command_hash_and_date():
    y, score, z = people(["A", "B"])
    source = Provenance(title="x.csv", command="selfselect audit x.csv", sha256="cd" * 32)
    made = audit(y, score=score, sensitive_features=z, cost=0.7, provenance=source)
    page = render(made, date=datetime(2026, 1, 2, 3, 4, tzinfo=UTC))
    for text in ("selfselect 0.1.0", "2026-01-02 03:04 UTC", "selfselect audit x.csv", "cd" * 32, made.verdict()):
        assert text in page


@pytest.mark.parametrize(("groups", "rows"), [(1, 50), (5, 20_000), (200, 50_000), (2000, 50_000)])
def test_a_page_stays_below_two_megabytes(groups, rows):
    rng = np.random.default_rng(0)
    names = [f"{'group ' * 10}{i}" for i in range(groups)]
    z = np.concatenate([np.arange(groups), rng.integers(0, groups, rows)])
    score = rng.random(len(z))
    page = audit(rng.random(len(z)) < score, score=score, sensitive_features=[names[i] for i in z], cost=0.7).to_html()
    assert len(page.encode()) < 2_000_000


def test_too_many_groups_for_a_page_are_refused_rather_than_left_out():
    n = 2001
    with pytest.raises(ValueError, match="too many for a page"):
        audit(np.ones(n), y_pred=np.ones(n), sensitive_features=np.arange(n), cost=0.5).to_html()


def test_counts_on_the_page_are_those_of_the_library_at_every_threshold_offered():
    y, score, z = people(["A", "B", "C"])
    made = audit(y, score=score, sensitive_features=z, cost=0.7, threshold=0.37)
    data = page_data(made, date=datetime.now(UTC))
    assert 0.37 in data["thresholds"]
    assert not data["exact"]
    for i, threshold in enumerate(data["thresholds"]):
        counts = made.curves.at(-np.inf if threshold is None else threshold).counts
        assert data["published"]["selected"][i] == counts.selected.tolist()
        assert data["published"]["true_positives"][i] == counts.true_positives.tolist()


def test_few_distinct_scores_are_all_offered():
    curves = ThresholdCurves.from_scores([0, 1, 1], [0.1, 0.2, 0.2])
    grid, exact = threshold_grid(curves, 0.15, 50)
    assert exact
    assert grid.tolist() == [-np.inf, 0.1, 0.15, 0.2]


def test_huge_scores_do_not_overflow():
    rng = np.random.default_rng(0)
    curves = ThresholdCurves.from_scores(rng.integers(0, 2, 500), rng.uniform(-1, 1, 500) * 1.7e308)
    grid, _ = threshold_grid(curves, 0.0, 50)
    assert np.isfinite(grid[1:]).all()


@pytest.mark.parametrize(("threshold", "written"), [(np.inf, 0.75), (-np.inf, None), (9.0, 0.75)])
def test_thresholds_beyond_all_scores_can_be_written_down(threshold, written):
    found = audit([0, 1, 1], score=[0.25, 0.5, 0.75], threshold=threshold, cost=0.5)
    data = page_data(found, date=datetime.now(UTC))
    assert data["threshold"] == written
    at = data["thresholds"].index(written)
    assert data["published"]["selected"][at] == found.published.counts.selected.tolist()
    assert render(found)


def test_long_names_are_shortened_and_say_so():
    assert short_name("A") == "A"
    assert short_name("") == "(empty)"
    assert short_name("x" * 10_000).endswith("(10,000 characters)")


def test_the_chart_library_is_the_file_of_its_package():
    folder = files("selfselect.report").joinpath("vendor")
    recorded = json.loads(folder.joinpath("VENDORED.json").read_text())
    content = folder.joinpath(recorded["file"]).read_bytes()
    assert hashlib.sha256(content).hexdigest() == recorded["sha256"]
    assert f"Chart.js v{recorded['version']}".encode() in content[:200]
    assert "MIT License" in folder.joinpath(recorded["licence_file"]).read_text()


def test_without_jinja2_the_command_says_what_to_install_before_it_reads(monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    command = "audit nowhere.csv --label y --group z --score s --cost 0.7 --report out.html".split()
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 2
    assert "pip install 'selfselect[report]'" in result.output
