"""Hostile names run through every place that shows names of strangers: each shows the name, and obeys nothing."""

import csv
import html
import io
import json
import re
import warnings
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from functools import partial

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from applicants import run
from hostile import FORMULAS, HOSTILE, WITHOUT_HALVES, runs_as_formula, split_carelessly, without_apostrophes
from selfselect import audit, compare, plan_subsidies, threshold_frontier
from selfselect._text import html_text, inert_cell, json_text, label_text, latex_text, markdown_text, printable, shown
from selfselect._text import json_text as as_json
from selfselect.cli.errors import BadInput
from selfselect.cli.terminal import text_table
from selfselect.plotting import PrecisionCurvesDisplay
from selfselect.report.rendering import embedded_json
from selfselect.reproduction import Cell, Store
from selfselect.reproduction.paper.figures import FIGURES, make_figure
from selfselect.reproduction.paper.figures.style import our_style
from selfselect.reproduction.paper.own_page import comparison_page
from selfselect.reproduction.paper.promises import paper_part, promise_part, summarise_promises
from selfselect.reproduction.paper.summary import summarise
from selfselect.reproduction.paper.tables import render_promises, render_table
from selfselect.reproduction.sweep.exchange import exported, read_results
from selfselect.reproduction.sweep.results import Result, metrics_from_counts, who_applies
from selfselect.tabular.writing import CsvCopy, csv_text

mpl.use("Agg")
import matplotlib.pyplot as plt


@pytest.fixture(autouse=True)
def _fonts_may_lack_characters():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")
        yield
    plt.close("all")


# ---------------------------------------------------------------------- the functions, one per place


@pytest.mark.parametrize("name", HOSTILE)
def test_a_terminal_gets_nothing_to_obey(name):
    for text in (printable(name), shown(name), text_table([{"group": name, "n": "1"}])):
        assert all(char.isprintable() or char == "\n" for char in text)
    assert text_table([{"group": name, "n": "1"}]).count("\n") == 1
    text_table([{"group": name, "n": "1"}]).encode()


@pytest.mark.parametrize("name", HOSTILE)
def test_no_cell_of_a_csv_file_runs_and_every_one_comes_back(name):
    with CsvCopy([name, "n"]) as copy:
        copy.add([[name, "-1"]])
        texts = [b"".join(copy).decode()]
    if name in WITHOUT_HALVES:  # pandas takes no others
        frame = pd.DataFrame({name: [name], "n": [-1]})
        texts += [csv_text(frame), csv_text(frame, digits=10)]
    for text in texts:
        rows = list(csv.reader(io.StringIO(text.encode().decode(), newline=""), strict=True))
        assert rows[0][0] == rows[1][0] == inert_cell(name)
        assert not any(map(runs_as_formula, [rows[1][0], *split_carelessly(rows[1][0])]))
        assert rows[1][1] == "-1"
        assert without_apostrophes(rows[1][0]) in (without_apostrophes(name), "\\ud800")


def test_only_what_would_run_is_changed_in_a_cell():
    assert [name for name in FORMULAS if not inert_cell(name).startswith("'")] == []
    for name in ("A", "a=b", "1-2", "'=1", "½", "山", "", " ", 0.5, None):
        assert inert_cell(name) == name


def latex_says(text):
    """What LaTeX sets: commands that stand for a character become it; anything else that it would obey is an error."""
    commands = {
        "textbackslash": "\\", "textasciitilde": "~", "textasciicircum": "^", "textless": "<", "textgreater": ">",
        "textbar": "|", "textquotedbl": '"', "textasciigrave": "`",
    }  # fmt: skip
    said = ""
    for token in re.findall(r"\$\\pm\$|\$\^2\$|\$\\cdot\$|\\[a-z]+\{\}|\\[%_&#$\{\}]|\{\}|.", text, re.DOTALL):
        if token.startswith("\\") and token.endswith("{}"):
            said += commands[token[1:-2]]
        elif token.startswith("\\"):
            said += token[1]
        elif token == "{}":
            continue
        elif token.startswith("$"):
            said += {r"$\pm$": "±", "$^2$": "²", r"$\cdot$": "·"}[token]
        else:
            assert token not in "\\{}$&#^_%~\n\r"
            said += token
    return said


@pytest.mark.parametrize("name", HOSTILE)
def test_latex_sets_the_name_and_runs_no_command(name):
    text = latex_text(name)
    assert latex_says(text) == printable(name)
    assert not re.search(r"--|''|,,|``", text)  # ligatures would make other characters of them
    assert not text.startswith(("[", "*"))  # a line end before it would take it for its own


@pytest.mark.parametrize("name", HOSTILE)
def test_markdown_shows_the_name_and_no_marks(name):
    text = markdown_text(name)
    assert "\n" not in text
    said, rest = "", text
    while rest:  # what a reader of Markdown makes of it: escapes and entities first
        found = re.match(r"\\([!-/:-@\[-`{-~])|(&[a-z0-9#]+;)|(.)", rest)
        escaped, entity, plain = found.groups()
        assert plain is None or plain not in "`*_[]|<>&~$#!"
        said += escaped or html.unescape(entity or "") or plain
        rest = rest[found.end() :]
    assert said == printable(name)
    assert not re.match(r"\s*([-+]|\d+[.)])\s", text)
    assert "://" not in text
    assert "www." not in text.lower()


@pytest.mark.parametrize("name", HOSTILE)
def test_html_and_svg_hold_the_name_as_text(name):
    assert html.unescape(html_text(name)) == printable(name)
    assert not set("<>\"'") & set(html_text(name))
    parsed = ElementTree.fromstring(f'<p title="{html_text(name)}">{html_text(name)}</p>')
    assert (parsed.text or "") == printable(name)


@pytest.mark.parametrize("name", HOSTILE)
def test_json_keeps_every_name_as_it_is(name):
    for text in (json_text({name: [name]}), as_json({name: [name]})):
        assert json.loads(text.encode()) == {name: [name]}
    assert json.loads(embedded_json({name: [name]})) == {name: [name]}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_label_is_drawn_as_text_and_never_left_out(name):
    figure, ax = plt.subplots(figsize=(3, 2))
    ax.plot([0, 1], label=label_text(name))
    ax.set_title(label_text(name))
    ax.set_xlabel(label_text(name))
    legend = ax.legend()
    assert [text.get_text() for text in legend.get_texts()] == [label_text(name)]
    with our_style():
        figure.savefig(io.BytesIO(), format="svg")
    read, as_formula = legend.get_texts()[0]._preprocess_math(label_text(name))
    assert not as_formula
    assert read.lstrip().startswith(printable(name).lstrip()[:30])


def test_all_labels_together_are_drawn_in_every_kind_of_picture():
    figure, ax = plt.subplots(figsize=(6, 20))
    for name in HOSTILE:
        ax.plot([0, 1], label=label_text(name))
    assert len(ax.legend().get_texts()) == len(HOSTILE)
    for kind in ("svg", "png", "pdf"):
        figure.savefig(io.BytesIO(), format=kind)


# ---------------------------------------------------------------------- the places themselves


def crowd(names, each=60):
    """As many people of every name; half of them qualified, with scores that say something."""
    rng = np.random.default_rng(0)
    z = np.repeat(np.arange(len(names)), each)
    y = np.tile([0, 1], len(z) // 2)
    score = np.clip(rng.normal(0.4 + 0.2 * y, 0.2), 0, 1).round(2)
    return y, score, pd.Series([names[i] for i in z], dtype=object)


@pytest.fixture(scope="module")
def found():
    y, score, z = crowd(WITHOUT_HALVES)
    audited = audit(y, score=score, sensitive_features=z, cost=0.7)
    other = audit(y, score=score[::-1], sensitive_features=z, cost=0.7)
    target = audited.names[1]
    return [
        audited,
        compare(audited, other),
        plan_subsidies(y, score=score, sensitive_features=z, cost=0.7, targets=[target]),
    ]


def test_findings_keep_every_name_in_json_and_as_html(found):
    for one in found:
        groups = [row["group"] for row in json.loads(one.to_json().encode())["groups"]]
        assert sorted(groups) == sorted(WITHOUT_HALVES)
        shown_in_a_notebook = one._repr_html_()
        assert "<script>" not in shown_in_a_notebook
        assert "<img" not in shown_in_a_notebook


def test_the_curves_of_groups_are_all_named():
    names = ["_other", "$50_$", "$\\frac{$", "", "=1", "nul\x00", "A"]
    y, score, z = crowd(names)
    display = PrecisionCurvesDisplay.from_predictions(y, score, sensitive_features=z)
    written = [text.get_text() for text in display.ax_.texts]
    assert sorted(written) == sorted(map(label_text, names))
    display.figure_.savefig(io.BytesIO(), format="svg")


def test_the_frontier_has_every_name_in_its_json():
    y, score, z = crowd(HOSTILE[:6])
    made = threshold_frontier(y, score, sensitive_features=z, cost=0.7)
    json.loads(made.to_json().encode())


def results_of(dataset, groups=("_other", "$50_$", "=1", "a|b")):
    """Results of a data set of such a name, of invented counts."""
    k = len(groups)
    counts = {"n": [100] * k, "positives": [50] * k, "selected": [40] * k, "true_positives": [30 + i for i in range(k)]}
    applies = tuple(who_applies(groups, counts, 0.7).tolist())
    train, test = metrics_from_counts(groups, counts, counts, counts, applies)
    rest = {"seed": 0, "configuration": {}, "package_version": "", "data_hash": "", "seconds": 0.0}
    return [
        Result(
            Cell(dataset, method, 0.7, split), groups=groups, train_counts=counts, test_counts=counts,
            train_metrics=train, test_metrics=test, published_counts=counts, applies=applies, **rest,
        )
        for split, methods in ((0, ("naive", "strat_x")), (20, ("naive", "naive_honest", "strat_x_honest")))
        for method in methods
    ]  # fmt: skip


@pytest.mark.parametrize("dataset", [name for name in WITHOUT_HALVES if len(name) < 200])
def test_tables_of_a_data_set_of_any_name_are_whole_in_every_format(dataset):
    results = results_of(dataset)
    summary, promised = summarise(paper_part(results)), summarise_promises(promise_part(results))
    for render in (partial(render_table, summary, main=False), partial(render_promises, promised)):
        text, markdown, latex, table = (render(kind) for kind in ("text", "markdown", "latex", "csv"))
        assert all(char.isprintable() or char == "\n" for char in text + markdown + latex)
        for block in markdown.split("\n\n"):
            rows = [line for line in block.splitlines() if line.startswith("|")]
            assert len({re.sub(r"\\.", "", row).count("|") for row in rows}) <= 1
        assert latex.count("{") - latex.count(r"\{") == latex.count("}") - latex.count(r"\}")
        cells = list(csv.reader(io.StringIO(table, newline=""), strict=True))
        assert {row[0] for row in cells[1:]} == {inert_cell(dataset)}
        # in the middle of a line, as in a title, the beginning of a name needs no guard
        assert latex_text(": " + dataset)[2:] in latex.replace("$c=$", "c = ")
        assert markdown_text(": " + dataset)[2:] in markdown or markdown_text(dataset) in markdown


@pytest.mark.parametrize("name", HOSTILE)
def test_exported_results_of_any_name_do_not_run_and_come_back_unchanged(name, tmp_path):
    groups = (name, "A") if name in WITHOUT_HALVES else ("A", "B")  # pandas takes no halves of characters
    results = [
        replace(
            result,
            cell=replace(result.cell, method=f"{name}{i}"),
            configuration={name: [name, -1e-05]},
            package_version=name,
            data_hash=name,
        )
        for i, result in enumerate(results_of(name, groups))
    ]
    results.sort(key=lambda result: result.cell)
    for file, packed in ((tmp_path / "r.csv", False), (tmp_path / "r.csv.gz", True)):
        file.write_bytes(exported(results, compress=packed))
        assert read_results(file) == results
    rows = list(csv.reader(io.StringIO(exported(results).decode(), newline=""), strict=True))
    assert len(rows) == 1 + len(results)
    for cell in (cell for row in rows for cell in row):
        assert not any(map(runs_as_formula, [cell, *split_carelessly(cell)]))


def test_exported_names_that_run_nowhere_stay_as_they_are():
    row = exported(results_of("my data-set = 1")[:1]).decode().splitlines()[1]
    assert row.startswith("my data-set = 1,naive,0.7,0,0,")


def test_figures_of_hostile_data_sets_and_groups_are_drawn_and_their_data_do_not_run():
    for dataset, numbers in (("$50_$", (5, 6, 12)), ("=1+1", (5,)), ("nul\x00", (5,))):
        results = results_of(dataset)
        for number in numbers:
            files = make_figure(FIGURES[number], promise_part(results) if number == 12 else paper_part(results))
            drawn = "".join(ElementTree.fromstring(files["svg"].decode()).itertext())
            assert printable("_other" if number == 6 else dataset) in drawn
            cells = list(csv.reader(io.StringIO(files["csv"].decode(), newline=""), strict=True))
            columns = [i for i, name in enumerate(cells[0]) if name in ("dataset", "group")]
            assert not any(runs_as_formula(row[i]) for row in cells for i in columns)
            if number == 6:
                assert {row[columns[0]] for row in cells[1:]} == {"_other", "$50_$", "'=1", "a|b"}


def test_the_page_of_ones_own_data_shows_the_name_of_its_file_as_text(tmp_path):
    with Store(tmp_path / "results.sqlite") as store:
        store.write(results_of("**x** <img src=x> | `y`"))
        page = comparison_page(store)
    assert r"\*\*x\*\* &lt;img src=x&gt; \| \`y\`" in page
    assert "<img" not in page


@pytest.mark.parametrize("name", ["\x1b[31mred.csv", "\u202egnp.csv"])
def test_commands_name_files_of_any_name_without_obeying_them(name, tmp_path):
    shown_error = BadInput(f"{tmp_path / name} exists already.").format_message()
    assert shown_error.isprintable()


def test_a_sweep_names_its_store_without_obeying_it(tmp_path):
    store = tmp_path / "bell\x07 \u202e\n.sqlite"
    fit = ("--dataset", "adult", "--method", "naive", "--cost", "0.7", "--splits", "1", "--workers", "1")
    for more in (fit, ("--repair",)):
        said = run("reproduce", "--store", store, *more).output
        assert "bell\\x07 \\u202e\\n.sqlite" in said
        assert all(line.isprintable() for line in said.splitlines())
        assert len(said.splitlines()) == 1
