"""What a report is told to say."""

import html
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from selfselect.cli import main

EXAMPLES = Path(__file__).parents[2] / "examples"
PEOPLE = "--label repaid --positive yes --group region --cost 0.7"
COMMANDS = {
    "audit": f"audit loans.csv {PEOPLE} --score score",
    "plan": f"plan loans.csv {PEOPLE} --score score",
    "frontier": f"frontier loans.csv {PEOPLE} --score score",
    "compare": f"compare loans.csv loans_next_year.csv {PEOPLE} --score score --resamples 50",
    "train": f"train loans.csv {PEOPLE} --method naive --ignore score --model m.json",
}
WORDS = ["--title", "Spring <round>", "--note", "Only for the committee & its staff.", "--data-date", "May 2026"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name in ("loans.csv", "loans_next_year.csv"):
        shutil.copy(EXAMPLES / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("kind", COMMANDS)
def test_title_note_and_date_of_the_data_are_on_every_kind_of_page(folder, kind):
    done = CliRunner().invoke(main, [*COMMANDS[kind].split(), "--report", "out.html", *WORDS])
    assert done.exit_code == 0, done.output
    page = (folder / "out.html").read_text(encoding="utf-8")
    header = page[page.index("<header>") : page.index("</header>")]
    assert "Spring &lt;round&gt;" in header
    assert "Only for the committee &amp; its staff." in header
    assert "data of May 2026" in header
    assert "Spring <round>" not in page


def test_without_words_the_page_has_the_name_of_the_file_and_no_empty_note(folder):
    done = CliRunner().invoke(main, [*COMMANDS["audit"].split(), "--report", "out.html"])
    assert done.exit_code == 0, done.output
    page = html.unescape((folder / "out.html").read_text(encoding="utf-8"))
    assert "<bdi>loans.csv</bdi>" in page
    header = page[page.index("<header>") : page.index("</header>")]
    assert 'id="note"' not in header
    assert "data of" not in header


def test_a_training_report_says_whom_it_is_judged_by_and_whom_the_model_rejects(folder):
    lines = ["income,region,ok"]
    lines += [f"{i % 50},north,{'yes' if i % 50 > 20 else 'no'}" for i in range(300)]
    lines += [f"{i % 9},south,{'yes' if i % 50 == 0 else 'no'}" for i in range(300)]
    (folder / "people.csv").write_text("\n".join(lines))
    command = "train people.csv --label ok --positive yes --group region --cost 0.6 --method naive --model m.json"
    done = CliRunner().invoke(main, [*command.split(), "--allow-shut-out", "--report", "out.html"])
    assert done.exit_code == 0, done.output
    page = (folder / "out.html").read_text(encoding="utf-8")
    assert "Published precision is about the" in page
    assert "Nobody in south passes screening." in page
    assert "Results for held-out people" in page
    assert "are of training people" in page
