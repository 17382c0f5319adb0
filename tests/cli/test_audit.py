"""``selfselect audit``; what it finds is tested with the library."""

import numpy as np
import pytest

from applicants import run
from selfselect.tabular.chunks import CHUNK_ROWS


def audit(path, *options):
    return run("audit", path, "--label", "outcome", "--positive", "hired", "--group", "team", "--cost", "0.5", *options)


def test_decisions_in_other_words_than_labels_are_not_taken_for_nobody(people_csv):
    unclear = audit(people_csv, "--prediction", "decision")
    assert unclear.exit_code == 2
    assert "--prediction-positive" in unclear.output
    clear = audit(people_csv, "--prediction", "decision", "--prediction-positive", "invite")
    assert clear.exit_code == 0
    assert "nobody applies" not in clear.output
    assert audit(people_csv, "--prediction", "decision", "--prediction-positive", "Yes").exit_code == 2
    assert audit(people_csv, "--prediction", "outcome").exit_code == 0  # the label's own words need no saying


@pytest.mark.parametrize("options", [("--max-social-cost", "nan"), ("--threshold", "inf"), ("--threshold", "nan")])
def test_a_condition_that_is_no_number_is_refused(people_csv, options):
    assert audit(people_csv, "--score", "s", *options).exit_code == 2


def test_groups_that_read_like_booleans_are_found_by_their_names(people_csv):
    text = people_csv.read_text().replace(",a,", ",True,").replace(",b,", ",False,")
    people_csv.write_text(text)
    found = audit(people_csv, "--score", "s", "--require", "False", "--require", "True", "--subsidy", "False=0.1")
    assert found.exit_code == 0, found.output
    failed = audit(people_csv, "--score", "s", "--cost", "1", "--require", "True", "--require", "True")
    assert failed.exit_code == 1
    assert failed.stderr.count("True does not apply at a cost of 1.00 (--require)") == 1


def test_groups_are_named_once_for_a_subsidy(people_csv):
    result = audit(people_csv, "--score", "s", "--subsidy", "a=0.1", "--subsidy", "a=0.2")
    assert result.exit_code == 2
    assert "'a' is named twice (--subsidy)" in result.output


def test_missing_groups_come_last_however_many_rows_there_are(tmp_path):
    path = tmp_path / "people.csv"
    for rows in (100, CHUNK_ROWS + 100):
        z = np.where(np.arange(rows) % 10 == 0, "", np.where(np.arange(rows) % 2 == 0, "A", "B"))
        path.write_text("y,z,p\n" + "".join(f"{i % 2},{group},{i % 2}\n" for i, group in enumerate(z)))
        common = ("audit", path, "--label", "y", "--group", "z", "--prediction", "p", "--cost", "0.5")
        said = run(*common, "--missing", "own-group").output
        assert said.index("\nA ") < said.index("\nB ") < said.index("\n(missing)")
