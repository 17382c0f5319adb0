"""The commands reproduce, status, tables, figures and page."""

import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from invented import invented
from selfselect.cli import main
from selfselect.datasets import make_base_rate_groups
from selfselect.reproduction import METHODS, Cell, Result, Store


def test_reproduce_status_tables_and_figures_work_together(tmp_path):
    store, out = str(tmp_path / "r.sqlite"), str(tmp_path / "out")
    run = CliRunner().invoke
    options = ["reproduce", "--store", store, "--dataset", "adult", "--method", "naive", "--method", "semi"]
    options += ["--cost", "0.7", "--splits", "1"]
    dry = run(main, [*options, "--dry-run"])
    assert "2 fits asked for, 2 of them missing." in dry.output
    assert not Path(store).exists()
    assert "2 fits done; all 2 asked for" in run(main, options).output
    assert "0 fits done; all 2 asked for" in run(main, options).output
    assert "2 fits asked for, 0 of them missing." in run(main, [*options, "--dry-run"]).output
    shown = run(main, ["status", "--store", store]).output
    assert re.search(r"adult +naive +1 +0 +89", shown)
    assert run(main, ["tables", "--store", store, "--format", "csv"]).output.count("\n") == 3
    assert run(main, ["tables", "--store", store, "--out", out]).exit_code == 0
    again = run(main, ["tables", "--store", store, "--out", out])
    assert again.exit_code == 2
    assert "--force" in again.output
    drawn = run(main, ["figures", "--out", out, "--figure", "5", "--store", store])
    assert drawn.exit_code == 0, drawn.output
    names = {path.name for path in Path(out).iterdir()}
    assert {"main.md", "extended.csv", "main.tex", "extended.txt", "figure05_social_cost.svg"} <= names
    needs = run(main, ["figures", "--out", out, "--figure", "6"])
    assert needs.exit_code == 2
    assert "--store" in needs.output


def test_promises_are_swept_shown_and_drawn_beside_the_papers_results(tmp_path):
    store, out = str(tmp_path / "r.sqlite"), tmp_path / "out"
    run = CliRunner().invoke
    dry = run(main, ["reproduce", "--promises", "--dry-run"])
    assert "5940 fits asked for, 5940 of them missing." in dry.output
    few = ["--dataset", "adult", "--method", "naive", "--method", "thresholds_lr", "--cost", "0.75", "--splits", "1"]
    done = run(main, ["reproduce", "--promises", "--store", store, *few])
    assert "2 fits done" in done.output, done.output
    with Store(store) as made:
        assert {cell.split for cell in made.done()} == {10}
    shown = run(main, ["tables", "--store", store]).output
    assert "Promised and delivered: Adult" in shown
    assert run(main, ["tables", "--store", store, "--format", "csv"]).output.startswith(
        "dataset,method,cost,splits,nobody"
    )
    assert "179" in re.search(r"thresholds_lr.*", run(main, ["status", "--store", store]).output)[0]
    paper = ["--dataset", "adult", "--method", "naive", "--cost", "0.7", "--splits", "1"]
    assert "1 fits done" in run(main, ["reproduce", "--store", store, *paper]).output
    assert run(main, ["tables", "--store", store, "--out", str(out)]).exit_code == 0
    assert {path.name for path in out.iterdir()} == {
        f"{name}.{ending}"
        for name in ("main", "extended", "promises", "splits")
        for ending in ("md", "csv", "tex", "txt")
    }
    extended = (out / "extended.csv").read_text()
    assert extended.count("\n") == 2  # the split of promises is not among the paper's
    drawn = run(main, ["figures", "--out", str(out), "--figure", "12", "--store", store])
    assert drawn.exit_code == 0, drawn.output
    assert (out / "figure12_promises.png").exists()


def test_promises_that_are_not_there_are_asked_for_by_name(tmp_path):
    store = str(tmp_path / "r.sqlite")
    paper = ["--dataset", "adult", "--method", "naive", "--cost", "0.7", "--splits", "1"]
    CliRunner().invoke(main, ["reproduce", "--store", store, *paper])
    result = CliRunner().invoke(main, ["tables", "--store", store, "--table", "promises"])
    assert result.exit_code == 2
    assert f"Make them with selfselect reproduce --store {store}, asking for promises." in result.output
    drawn = CliRunner().invoke(main, ["figures", "--out", str(tmp_path / "o"), "--figure", "12", "--store", store])
    assert drawn.exit_code == 2
    assert "asking for promises" in drawn.output


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--dataset", "moon"], "No bundled data set 'moon'"),
        (["--method", "magic"], "No method 'magic'"),
        (["--cost", "2"], "cost must lie in"),
        (["--label", "y"], "belong together"),
        (["--splits", "0"], "--splits"),
    ],
)
def test_wrong_options_are_named_with_exit_code_two(tmp_path, options, message):
    result = CliRunner().invoke(main, ["reproduce", "--store", str(tmp_path / "a.sqlite"), *options])
    assert result.exit_code == 2
    assert message in result.output
    assert not (tmp_path / "a.sqlite").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("x,y\n1,0\n2,1\n", "no column 'z'"),
        ("x,y,z\n1,0,a\n2,2,b\n3,1,a\n", "must hold two values"),
        ("x,y,z\n1,0,a\n2,1,\n", "row 3, column 'z': the group is empty"),
        ("x,y,z,z\n1,0,a,b\n2,1,b,a\n", "2 columns have this name"),
        ("x,y,z\n1,hired,a\n2,rejected,b\n", "say which value means qualified with --positive"),
        ("x,y,z\n1,0,a\n2,1,a\n", "one group only"),
        ("y,z\n0,a\n1,b\n", "left to learn from"),
    ],
)
def test_a_table_of_ones_own_is_checked_before_any_work(tmp_path, content, message):
    path = tmp_path / "mine.csv"
    path.write_text(content)
    options = ["--data", str(path), "--label", "y", "--group", "z"]
    result = CliRunner().invoke(main, ["reproduce", "--store", str(tmp_path / "a.sqlite"), *options])
    assert result.exit_code == 2
    assert message in result.output


def test_a_table_of_ones_own_gets_its_own_dataset(tmp_path):
    bunch = make_base_rate_groups((0.5, 0.3), n_per_group=200, random_state=0, drop_group=True)
    path, store = tmp_path / "mine.csv", str(tmp_path / "a.sqlite")
    bunch.data.assign(town="here", z=bunch.group.to_numpy(), y=np.where(bunch.target, "yes", "no")).to_csv(
        path, index=False
    )
    options = ["--data", str(path), "--label", "y", "--group", "z", "--cost", "0.7", "--splits", "2"]
    options += ["--positive", "yes"]
    result = CliRunner().invoke(main, ["reproduce", "--store", store, *options])
    assert result.exit_code == 0, result.output
    status = CliRunner().invoke(main, ["status", "--store", store]).output
    assert "adult" not in status
    assert {line.split()[4] for line in status.splitlines()[1:7]} == {"0"}  # nothing is missing
    table = CliRunner().invoke(main, ["tables", "--store", store]).output
    assert "mine" in table
    assert all(method in table for method in METHODS)


def test_an_empty_store_is_refused_in_words(tmp_path):
    Store(tmp_path / "a.sqlite").close()
    result = CliRunner().invoke(main, ["tables", "--store", str(tmp_path / "a.sqlite")])
    assert result.exit_code == 2
    assert f"Make results with: selfselect reproduce --store {tmp_path / 'a.sqlite'}" in result.output


def test_the_page_is_not_written_of_half_a_sweep(tmp_path):
    Store(tmp_path / "a.sqlite").close()
    result = CliRunner().invoke(main, ["page", "--store", str(tmp_path / "a.sqlite"), "--out", str(tmp_path / "p.md")])
    assert result.exit_code == 2
    assert "1620 of 1620 results are missing" in result.output
    assert "Make results with: selfselect reproduce" in result.output
    assert not (tmp_path / "p.md").exists()


@pytest.mark.parametrize("command", ["status", "tables", "page", "figures"])
def test_a_store_that_is_not_there_or_none_of_ours_is_named_with_what_to_do(tmp_path, command):
    path = tmp_path / "notes.txt"
    options = ["--out", str(tmp_path / "out")] if command in ("page", "figures") else []
    absent = CliRunner().invoke(main, [command, "--store", str(path), *options])
    assert absent.exit_code == 2
    assert f"There is no store {path}. Make one with: selfselect reproduce --store {path}" in absent.output
    path.write_text("dear diary " * 500)
    other = CliRunner().invoke(main, [command, "--store", str(path), *options])
    assert other.exit_code == 2
    assert "not a SQLite file" in other.output
    assert "--store" in other.output


def test_what_is_exported_stands_beside_a_store(tmp_path, small_descent):
    store, out = str(tmp_path / "r.sqlite"), str(tmp_path / "d.csv.gz")
    run = CliRunner().invoke
    few = ["--dataset", "adult", "--method", "naive", "--cost", "0.7", "--splits", "1"]
    assert run(main, ["reproduce", "--store", store, *few]).exit_code == 0
    wrote = run(main, ["export", "--store", small_descent, "--out", out])
    assert f"Wrote 1 results to {out}." in wrote.output, wrote.output
    assert "--force" in run(main, ["export", "--store", small_descent, "--out", out]).output
    none = run(main, ["export", "--store", store, "--out", str(tmp_path / "n.csv"), "--method", "semi"])
    assert none.exit_code == 2
    assert "no such result" in none.output
    for beside in (out, small_descent):
        shown = run(main, ["tables", "--store", store, "--table", "main", "--beside", beside, "--format", "markdown"])
        assert "85.2 ±0.3 · 74.0 · " in shown.output, shown.output
    wrong = run(main, ["tables", "--store", store, "--beside", __file__])
    assert wrong.exit_code == 2
    assert "neither a store nor results exported from one" in wrong.output
    splits = run(main, ["tables", "--store", store, "--table", "splits"])
    assert splits.exit_code == 2
    assert "asking for splits from 10 on" in splits.output


@pytest.fixture
def small_descent(tmp_path):
    """A store of one invented result of the paper's own training."""
    path = tmp_path / "descent.sqlite"
    first = Result(
        Cell("adult", "naive_descent", 0.7, 0), seed=0, configuration={"dtype": "float32"}, package_version="0",
        data_hash="0", groups=("A", "B"), train_counts={}, test_counts={}, train_metrics={}, test_metrics={},
        published_counts={}, applies=(), seconds=1.0,
    )  # fmt: skip
    with Store(path) as store:
        store.write([invented(first, first.cell, [40, 40], [32, 10])])
    return str(path)


def test_a_table_of_ones_own_goes_all_the_way_to_the_page_with_methods_in_words(tmp_path):
    bunch = make_base_rate_groups((0.5, 0.3), n_per_group=200, random_state=0, drop_group=True)
    path, store = tmp_path / "mine.csv", str(tmp_path / "a.sqlite")
    frame = bunch.data.assign(z=bunch.group.to_numpy(), leak=bunch.target.to_numpy())
    half = np.where(np.arange(400) % 2, "old", "young")
    ends = np.where(bunch.target, np.where(half == "old", "kept", "promoted"), "left")
    frame = frame.assign(age=np.where(np.arange(400) < 40, "", half), end=ends)
    frame.to_csv(path, index=False, sep=";", encoding="latin-1")

    def done(*arguments):
        result = CliRunner().invoke(main, [*map(str, arguments)])
        assert result.exit_code == 0, result.output
        return result.output

    reading = ["--data", path, "--label", "end", "--positive", "kept", "--positive", "promoted", "--group", "z"]
    reading += ["--group", "age", "--missing", "own-group", "--delimiter", ";", "--encoding", "latin-1"]
    sweep = ["reproduce", "--store", store, "--cost", "0.6", "--splits", "2"]
    sweep += ["--method", "naive", "--method", "strat_x"]
    assert "'leak' almost gives away the label" in done(*sweep, *reading, "--dry-run")
    assert "leak" not in done(*sweep, *reading, "--ignore", "leak")
    with Store(store) as kept:
        groups = set(kept.results()[0].groups)
    assert {"z0 / old", "z0 / (missing)"} <= groups
    status = done("status", "--store", store)
    assert "strategic, seeing the group" in status
    assert "--data" in status
    assert "paper" not in status
    table = done("tables", "--store", store)
    assert "blind to applications (naive)" in table
    assert "paper" not in table
    done("tables", "--store", store, "--out", tmp_path / "reproduction")
    assert "Wrote 2 figures" in done("figures", "--store", store, "--out", tmp_path / "reproduction")
    done("page", "--store", store, "--out", tmp_path / "page.md")
    page = (tmp_path / "page.md").read_text()
    assert "**mine**: 400 people in 5 groups; 4 fits, at a cost of 0.6, on 2 random splits" in page
    assert "strategic, seeing the group (strat_x)" in page
    assert "the paper" not in page.lower()
    for linked in re.findall(r"\]\(([^)]+)\)", page):
        assert (tmp_path / linked).exists()
    assert not re.findall(r"adult|bank", page, re.IGNORECASE)


def test_options_of_a_table_of_ones_own_need_one(tmp_path):
    result = CliRunner().invoke(main, ["reproduce", "--store", str(tmp_path / "a.sqlite"), "--ignore", "age"])
    assert result.exit_code == 2
    assert "pass --data" in result.output
