"""What a report is told to say."""

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
    "train": f"train loans.csv {PEOPLE} --method naive --ignore score --model m.skops",
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
