"""Hostile names in every place that shows names: each place shows the name as text and obeys nothing in it."""

import csv
import html
import io
import json
import warnings
import xml.etree.ElementTree as ElementTree

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from hostile import FORMULAS, HOSTILE, WITHOUT_HALVES, runs_as_formula, split_carelessly, without_apostrophes
from pages import some_rounds
from selfselect import PublishedStatistics, audit, compare, plan_subsidies, threshold_frontier
from selfselect._text import escape_formula, escape_html, json_text, plot_label, printable, quote
from selfselect.cli.errors import BadInput
from selfselect.cli.terminal import text_table
from selfselect.estimation import fit_behaviour
from selfselect.plotting import (
    EstimatedResponseDisplay,
    PrecisionCurvesDisplay,
    PromisedDeliveredDisplay,
    PublishedTableDisplay,
    RoundsDisplay,
    WhoAppliesDisplay,
)
from selfselect.report.rendering import embedded_json
from selfselect.tabular.write import csv_lines

mpl.use("Agg")
import matplotlib.pyplot as plt


@pytest.fixture(autouse=True)
def _fonts_may_lack_characters():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")
        yield
    plt.close("all")


@pytest.mark.parametrize("name", HOSTILE)
def test_a_terminal_gets_no_control_characters(name):
    table = text_table([{"group": name, "n": "1"}])
    for text in (printable(name), quote(name), table, BadInput(f"{name} exists already.").format_message()):
        assert all(char.isprintable() or char == "\n" for char in text)
    assert table.count("\n") == 1
    table.encode()


@pytest.mark.parametrize("name", HOSTILE)
def test_no_cell_of_a_csv_file_runs_and_every_one_comes_back(name):
    text = b"".join(csv_lines([[name, "n"], [name, "-1"], [name, -1]])).decode()
    rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    assert rows[0][0] == rows[1][0] == escape_formula(name)
    assert not any(map(runs_as_formula, [rows[1][0], *split_carelessly(rows[1][0])]))
    assert rows[1][1] == rows[2][1] == "-1"
    assert without_apostrophes(rows[1][0]) in (without_apostrophes(name), "\\ud800")


def test_only_formulas_are_changed_in_a_cell():
    assert [name for name in FORMULAS if not escape_formula(name).startswith("'")] == []
    for name in ("A", "a=b", "1-2", "'=1", "½", "山", "", " ", 0.5, -1, None):
        assert escape_formula(name) == name
    assert list(csv_lines([["-n", "-30"], ["a,b", "+20"]])) == [b"'-n,-30\n", b'"a,b",+20\n']  # numbers are kept
    assert list(csv_lines([["=x", 'a"b,c', float("nan"), None]])) == [b'\'=x,"a""b,c",,\n']


@pytest.mark.parametrize("name", HOSTILE)
def test_html_and_svg_hold_the_name_as_text(name):
    assert html.unescape(escape_html(name)) == printable(name)
    assert not set("<>\"'") & set(escape_html(name))
    parsed = ElementTree.fromstring(f'<p title="{escape_html(name)}">{escape_html(name)}</p>')
    assert (parsed.text or "") == printable(name)


@pytest.mark.parametrize("name", HOSTILE)
def test_json_keeps_every_name(name):
    assert json.loads(json_text({name: [name]}).encode()) == {name: [name]}
    assert json.loads(embedded_json({name: [name]})) == {name: [name]}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_label_is_drawn_as_text_and_never_left_out(name):
    figure, ax = plt.subplots(figsize=(3, 2))
    ax.plot([0, 1], label=plot_label(name))
    ax.set_title(plot_label(name))
    legend = ax.legend()
    assert [text.get_text() for text in legend.get_texts()] == [plot_label(name)]
    figure.savefig(io.BytesIO(), format="svg")
    read, as_formula = legend.get_texts()[0]._preprocess_math(plot_label(name))
    assert not as_formula
    assert read.lstrip().startswith(printable(name).lstrip()[:30])


def crowd(names, each=60):
    """As many people of every name, half of them qualified, with informative scores."""
    rng = np.random.default_rng(0)
    z = np.repeat(np.arange(len(names)), each)
    y = np.tile([0, 1], len(z) // 2)
    score = np.clip(rng.normal(0.4 + 0.2 * y, 0.2), 0, 1).round(2)
    return y, score, pd.Series([names[i] for i in z], dtype=object)


def test_results_keep_every_name_in_json_and_show_it_as_text_in_a_notebook():
    y, score, z = crowd(WITHOUT_HALVES)
    audited = audit(y, score=score, sensitive_features=z, cost=0.7)
    other = audit(y, score=score[::-1], sensitive_features=z, cost=0.7)
    plan = plan_subsidies(y, score=score, sensitive_features=z, cost=0.7, targets=[audited.names[1]])
    log = applications(WITHOUT_HALVES)
    estimate = fit_behaviour(log, group="z", published="q", applicants="a", pool="n")
    for result in (audited, compare(audited, other), plan, estimate):
        groups = [row["group"] for row in json.loads(json_text(result.to_dict()).encode())["groups"]]
        assert sorted(groups) == sorted(WITHOUT_HALVES)
        notebook = result._repr_html_()
        assert "<script>" not in notebook
        assert "<img" not in notebook
    y, score, z = crowd(HOSTILE[:6])
    json.loads(threshold_frontier(y, score, sensitive_features=z, cost=0.7).to_json(min_cell=0).encode())


def applications(names):
    """A log of applications with three rows for every name."""
    log = pd.DataFrame(
        {"z": np.repeat(np.array(names, dtype=object), 3), "q": np.tile([0.5, 0.6, 0.7], len(names)), "n": 100}
    )
    return log.assign(a=np.tile([30, 50, 65], len(names)))


def test_a_display_names_every_group():
    names = ["_other", "$50_$", "$\\frac{$", "", "=1", "nul\x00", "A"]
    y, score, z = crowd(names)
    people = {"sensitive_features": z, "cost": 0.4}
    table = PublishedStatistics.from_predictions(y, score > 0.5, sensitive_features=z)
    for display in (
        PrecisionCurvesDisplay.from_predictions(y, score, **people),
        WhoAppliesDisplay.from_predictions(y, score > 0.5, **people),
        PublishedTableDisplay.from_predictions(y, score > 0.5, **people),
        PromisedDeliveredDisplay.from_predictions(y, score > 0.5, published=table, **people),
        EstimatedResponseDisplay.from_log(applications(names), group="z", published="q", applicants="a", pool="n"),
        RoundsDisplay(some_rounds(names)).plot(),
    ):
        written = "|".join(text.get_text() for text in [*display.ax_.texts, *display.ax_.get_yticklabels()])
        assert all(plot_label(name) in written for name in names)
        display.figure_.savefig(io.BytesIO(), format="svg")
