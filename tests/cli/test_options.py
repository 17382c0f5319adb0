"""Numbers and files as people type and write them."""

import gzip

import pytest

from applicants import run, trained

GOOD = "label,group,score\n1,A,0.9\n0,A,0.2\n1,B,0.8\n0,B,0.7\n"


def audit(path, *options):
    return run("audit", path, "--label", "label", "--group", "group", "--score", "score", *options)


@pytest.fixture
def good(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(GOOD)
    return path


@pytest.mark.parametrize(
    ("cost", "words"),
    [
        ("0,7", "Write 0.7."),
        ("70%", "Write it as a share: 0.7."),
        ("7,5%", "Write it as a share: 0.075."),
        ("much", "'much' is not a number."),
        ("0:1e999999999:0.1", "outside [0, 1]"),
        ("0:1:1e-999999999", "more than 1000 costs"),
        ("0:1:0", "the step must be positive"),
    ],
)
def test_a_text_that_is_not_a_cost_is_refused_with_a_hint(good, cost, words):
    result = audit(good, "--cost", cost)
    assert result.exit_code == 2
    assert words in result.output


def test_a_note_on_how_a_file_is_read_appears_once_and_not_in_the_output(tmp_path, good):
    path = tmp_path / "german.csv"
    path.write_bytes(GOOD.replace(",", ";").replace(".", ",").encode())
    plain, found = audit(good, "--cost", "0.7"), audit(path, "--cost", "0.7")
    assert found.stdout == plain.stdout
    assert plain.stderr == ""
    assert found.stderr == f"Note: {path} is read with semicolons between its columns, decimal commas.\n"
    assert audit(path, "--cost", "0.7", "--delimiter", ";", "--decimal", ",").stderr == ""
    common = ("--label", "label", "--group", "group", "--score", "score", "--cost", "0.7")
    path.write_text("label;group;score;x\n" + "1;A;0,9;1\n0;A;0,2;2\n1;B;0,8;3\n0;B;0,7;1\n" * 20)
    assert run("plan", path, *common, "--retrain").stderr.count("is read with") == 1


def test_a_limit_on_what_a_compressed_file_holds_is_raised_by_an_option(tmp_path):
    path = tmp_path / "people.csv.gz"
    path.write_bytes(gzip.compress(GOOD.encode()))
    refused = audit(path, "--cost", "0.7", "--max-size", "20")
    assert refused.exit_code == 2
    assert "raise the limit with --max-size" in refused.output
    for size in ("1KB", "1k", "2 GB", "4096"):
        assert audit(path, "--cost", "0.7", "--max-size", size).exit_code == 0
    assert "is not a size such as 8GB" in audit(path, "--cost", "0.7", "--max-size", "huge").output


def test_a_model_takes_tables_with_either_decimal_sign(table, tmp_path, people):
    model, german = tmp_path / "model.skops", tmp_path / "german.csv"
    trained(table, model, "--method", "naive", "--ignore", "same")
    people.to_csv(german, index=False, sep=";", decimal=",")
    found = run("predict", model, german)
    assert found.exit_code == 0, found.output
    added = [line.rsplit(",", 3)[1:] for line in run("predict", model, table).stdout.splitlines()]
    assert [line.rsplit(",", 3)[1:] for line in found.stdout.splitlines()] == added
    german.write_text("z;age;job;pay\nA;30,5;clerk;20\nA;1.234;clerk;20\n")
    assert "row 3, column 'age': '1.234' is not a finite number" in run("predict", model, german).output
