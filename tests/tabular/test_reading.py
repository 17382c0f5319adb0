"""Tables as people really have them: every complaint names file, row and column, and says what to do."""

import gzip
import hashlib

import pytest
from click.testing import CliRunner

from selfselect.cli import main
from selfselect.tabular.reading import TableError, csv_text, inert_cell, open_table, printable

GOOD = "label,group,score\n1,A,0.9\n0,A,0.2\n1,B,0.8\n0,B,0.7\n"


def run(*options, path, stdin=None):
    command = ["audit", str(path), "--label", "label", "--group", "group", "--cost", "0.7", *options]
    return CliRunner().invoke(main, command, input=stdin)


def complaint(tmp_path, content, *options, name="people.csv"):
    """What the command says about a file; it must refuse it without a traceback."""
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    result = run(*(options or ("--score", "score")), path=path)
    assert result.exit_code == 2, result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert "Traceback" not in result.output
    assert name in result.output or "Usage" in result.output
    return result.output


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", ["empty"]),
        ("\n\n", ["empty"]),
        ("label,group,score\n", ["no row"]),
        (b"label,group,score\n1,A,0.9\n0,A\x00,0.2\n", ["row 3", "NUL"]),
        ("label,group,score\n1,A,0.9\n1,Köln,0.2\n".encode("latin-1"), ["row 3", "--encoding latin-1"]),
        ("label,group,score\n1,A,0.9\n".encode("utf-16"), ["UTF-16", "--encoding utf-16"]),
        ("label,group,score\n1,A,0.9\n0,A\n", ["row 3", "2 cell(s)", "3 column(s)"]),
        ("label,group,score\n1,A,0.9\n0,A,0.2,9\n", ["row 3", "4 cell(s)"]),
        ("label,group,score,score\n1,A,0.9,1\n", ["row 1", "'score'", "2 columns have this name"]),
        ('label,group,score\n1,"A,0.9\n0,A,0.2\n', ["row 2", "never closes"]),
        ('label,group,score\n1,"A"x,0.9\n', ["row 2", "closing quote"]),
        ("label,group,score\n1,A,0.9\n0,A,high\n", ["row 3", "'score'", "'high' is not a number"]),
        ("label,group,score\n1,A,0.9\n0,A,\n", ["row 3", "'score'", "empty"]),
        ("label,group,score\n1,A,0.9\n0,A,1e309\n", ["row 3", "'score'", "finite"]),
        ("label,group,score\n1,A,0.9\n0,A,nan\n", ["row 3", "'score'", "finite"]),
        ("label,group,score\n1,A,0.9\n0,A,1_000\n", ["row 3", "'score'", "not a number"]),
        ('label,group,score\n1,A,0.9\n0,A,"0,5"\n', ["row 3", "decimals with a point"]),
        ("label,group,score\n1,A,0.9\n0,A,1e308\n", ["'score'", "--threshold"]),
        ("label,group,score\n1,A,0.9\n0,A,0.2\n2,A,0.3\n", ["row 4", "'label'", "third value '2'"]),
        ("label,group,score\n1,A,0.9\n,A,0.2\n", ["row 3", "'label'", "empty"]),
        ("label,group,score\nyes,A,0.9\nno,A,0.2\n", ["row 2", "'label'", "--positive"]),
        ("label,group,score\n1,A,0.9\n0,,0.2\n", ["row 3", "'group'", "--missing own-group"]),
        ("label,gruop,score\n1,A,0.9\n", ["no column 'group'", "Did you mean 'gruop'"]),
        ("LABEL,group,score\n1,A,0.9\n", ["no column 'label'", "Did you mean 'LABEL'"]),
        ("label;group;score\n1;A;0.9\n", ["no column 'label'", "--delimiter ';'"]),
        (b"\x1f\x8b\x08\x00rubbish", ["gzip"]),
        (gzip.compress(GOOD.encode() * 100)[:-20], ["gzip"]),
        (b"PAR1rubbish", ["Parquet"]),
    ],
)
def test_a_bad_table_is_refused_with_its_place_and_reason(tmp_path, content, words):
    said = complaint(tmp_path, content)
    for word in words:
        assert word in said


def test_a_file_that_is_not_there_or_is_a_folder_is_named(tmp_path):
    assert "No such file" in run("--score", "score", path=tmp_path / "nowhere.csv").output
    result = run("--score", "score", path=tmp_path)
    assert result.exit_code == 2
    assert "Cannot read" in result.output


def test_rows_are_counted_as_a_spreadsheet_does_also_with_blank_lines_and_line_breaks_in_cells(tmp_path):
    said = complaint(tmp_path, 'label,group,score\n1,"A\nB",0.9\n\n0,A,oops\n')
    assert "row 4" in said


@pytest.mark.parametrize(
    ("content", "options"),
    [
        (GOOD.encode(), ()),
        (b"\xef\xbb\xbf" + GOOD.encode(), ()),
        (GOOD.replace("\n", "\r\n").encode(), ()),
        (GOOD.replace("\n", "\r").encode(), ()),
        (GOOD.replace("\n", "\n\n").encode(), ()),
        (GOOD.replace(",", ";").encode(), ("--delimiter", ";")),
        (GOOD.replace(",", "\t").encode(), ("--delimiter", "tab")),
        (GOOD.encode("utf-16"), ("--encoding", "utf-16")),
        (gzip.compress(GOOD.encode()), ()),
        (GOOD.replace("label", "x,x,label").replace("\n1", "\n,,1").replace("\n0", "\n,,0").encode(), ()),
        (GOOD.replace("\n1", "\n 1.0").replace("\n0", "\nfalse").replace(" 1.0", "true").encode(), ()),
    ],
)
def test_the_same_table_written_differently_gives_the_same_answer(tmp_path, content, options):
    plain = tmp_path / "plain.csv"
    plain.write_text(GOOD)
    expected = run("--score", "score", path=plain)
    other = tmp_path / "other.csv"
    other.write_bytes(content)
    result = run("--score", "score", *options, path=other)
    assert result.exit_code == 0, result.output
    assert result.output == expected.output


def test_standard_input_is_read_when_the_file_is_a_dash():
    result = run("--score", "score", path="-", stdin=GOOD)
    assert result.exit_code == 0, result.output
    bad = run("--score", "score", path="-", stdin="label,group,score\n1,A,x\n")
    assert "standard input, row 2, column 'score'" in bad.output


def test_parquet_gives_the_same_answer_as_csv(tmp_path):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    plain = tmp_path / "plain.csv"
    plain.write_text(GOOD)
    pd.read_csv(plain).to_parquet(tmp_path / "plain.parquet")
    expected = run("--score", "score", path=plain)
    assert run("--score", "score", path=tmp_path / "plain.parquet").output == expected.output


def test_a_quote_that_never_closes_is_found_without_swallowing_a_huge_file(tmp_path):
    said = complaint(tmp_path, 'label,group,score\n1,"A,0.9\n' + "0,A,0.2\n" * 50_000)
    assert "row 2" in said


def test_predictions_that_are_scores_are_told_apart(tmp_path):
    said = complaint(tmp_path, GOOD, "--prediction", "score")
    assert "--score" in said


def test_score_and_prediction_exclude_each_other(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(GOOD)
    for options in [(), ("--score", "score", "--prediction", "label"), ("--prediction", "label", "--threshold", "1")]:
        result = run(*options, path=path)
        assert result.exit_code == 2
        assert "--score" in result.output


def test_the_hash_is_that_of_the_file_on_disk(tmp_path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(GOOD.encode()))
    with open_table(path) as table:
        list(table.chunks([0]))
        assert table.sha256() == hashlib.sha256(path.read_bytes()).hexdigest()


def test_an_unknown_encoding_or_a_long_delimiter_is_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(GOOD)
    with pytest.raises(TableError, match="encoding"), open_table(path, encoding="klingon"):
        pass
    with pytest.raises(TableError, match="one character"), open_table(path, delimiter="::"):
        pass


def test_cells_that_a_spreadsheet_would_run_are_made_inert():
    pd = pytest.importorskip("pandas")
    for text in ("=1+1", "+1", "-1", "@SUM(A1)", " =1", "\t=1", "\tx", "\rx"):
        assert inert_cell(text) == "'" + text
    for value in ("A", "a=b", "", -1, 0.5, True):
        assert inert_cell(value) == value
    assert csv_text(pd.DataFrame({"=x": ['a"b,c'], "n": [float("nan")]})) == '\'=x,n\n"a""b,c",\n'


def test_what_a_terminal_would_obey_is_shown_as_text():
    assert printable("\x1b[31mred\u202eevil") == "\\x1b[31mred\\u202eevil"
    assert printable("Käse 山") == "Käse 山"
