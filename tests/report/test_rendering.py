"""The report as a file: small, self-contained, inert whatever the names. Its life: test_browser.py."""

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

from pages import HOSTILE, hostile_audit, people
from selfselect import audit
from selfselect.auditing import Provenance
from selfselect.cli import main


class Elements(HTMLParser):
    """Collects elements and where they point."""

    def __init__(self):
        super().__init__()
        self.tags, self.links = [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.links += [value for name, value in attributes if name in ("src", "href", "action", "srcset")]
        assert not [name for name, _ in attributes if name.startswith("on") or name == "style"]


def test_whatever_names_hold_the_page_points_nowhere_and_runs_only_its_own_scripts():
    page = hostile_audit().to_html(min_cell=0)
    elements = Elements()
    elements.feed(page)
    assert set(elements.links) <= {"#", "data:,"}
    assert elements.tags.count("script") == 3
    assert not {"img", "svg", "iframe", "object", "embed", "form", "base"} & set(elements.tags)
    policy = html.unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', page).group(1))
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    markup, data = re.fullmatch(r'(.*)<script type="application/json" id="data">(.*?)</script>.*', page, re.S).groups()
    for name in ("<script>window", "<img src=x", "<svg onload", "\u202e"):
        assert name not in page
    assert "{{7*7}}" in markup
    assert not set("<>&\u2028\u2029") & set(data)
    names = json.loads(data)["names"]
    assert len(names) == len(HOSTILE)
    assert max(map(len, names)) <= 130


def test_a_page_states_version_command_hash_and_date():
    y, score, z = people(["A", "B"])
    source = Provenance(title="x.csv", command="selfselect audit x.csv", sha256="cd" * 32)
    made = audit(y, score=score, sensitive_features=z, cost=0.7, provenance=source)
    page = made.to_html(min_cell=0)
    today = datetime.now(UTC).strftime("%Y-%m-")
    for text in ("selfselect 0.1.0", today, "selfselect audit x.csv", "cd" * 32, made.verdict()):
        assert text in page


@pytest.mark.parametrize(("groups", "rows"), [(1, 50), (5, 20_000), (200, 50_000), (2000, 50_000)])
def test_a_page_stays_below_two_megabytes(groups, rows):
    rng = np.random.default_rng(0)
    names = [f"{'group ' * 10}{i}" for i in range(groups)]
    z = np.concatenate([np.arange(groups), rng.integers(0, groups, rows)])
    score = rng.random(len(z))
    page = audit(rng.random(len(z)) < score, score=score, sensitive_features=[names[i] for i in z], cost=0.7).to_html(
        min_cell=0
    )
    assert len(page.encode()) < 2_000_000


def test_the_chart_library_is_the_file_of_its_package():
    folder = files("selfselect.report").joinpath("vendor")
    recorded = json.loads(folder.joinpath("VENDORED.json").read_text())
    content = folder.joinpath(recorded["file"]).read_bytes()
    assert hashlib.sha256(content).hexdigest() == recorded["sha256"]
    licences = folder.joinpath(recorded["licence_file"]).read_text()
    for package, version in [(recorded["package"], recorded["version"]), *recorded["with"].items()]:
        assert f"# {package} {version} (ISC)" in licences


def test_without_jinja2_the_command_says_what_to_install_before_it_reads(monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    command = "audit nowhere.csv --label y --group z --score s --cost 0.7 --report out.html".split()
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 2
    assert "pip install jinja2 (extra report)" in result.output
