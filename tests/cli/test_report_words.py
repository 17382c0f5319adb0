"""What a report is told to say."""

from pathlib import Path

import pytest

from applicants import run

EXAMPLES = Path(__file__).parents[2] / "examples"
LOANS = (EXAMPLES / "loans.csv", "--label", "repaid", "--positive", "yes", "--group", "region", "--cost", "0.7")
SCORED = (*LOANS, "--score", "score")
COMMANDS = {
    "audit": SCORED,
    "plan": SCORED,
    "frontier": SCORED,
    "compare": (EXAMPLES / "loans_next_year.csv", *SCORED, "--resamples", "50"),
    "train": (*LOANS, "--method", "naive", "--ignore", "score", "--model", "m.skops"),
}
WORDS = ["--title", "Spring <round>", "--note", "Only for the committee & its staff.", "--data-date", "May 2026"]


@pytest.mark.parametrize("command", COMMANDS)
def test_title_note_and_date_of_the_data_are_on_every_kind_of_page(tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    done = run(command, *COMMANDS[command], "--report", "out.html", *WORDS)
    assert done.exit_code == 0, done.output
    page = (tmp_path / "out.html").read_text(encoding="utf-8")
    header = page[page.index("<header>") : page.index("</header>")]
    for words in ("Spring &lt;round&gt;", "Only for the committee &amp; its staff.", "data of May 2026"):
        assert words in header
    assert "Spring <round>" not in page
