"""Files as people really have them: every error names the file and the row, and says what to do."""

import gzip
import hashlib
import io
import os
import sys
from types import SimpleNamespace

import pandas as pd
import pytest

from selfselect.tabular.errors import TableError
from selfselect.tabular.read import open_table

GOOD = "label,group,score\n1,A,0.9\n0,A,0.2\n1,B,0.8\n0,B,0.7\n"
ROWS = [["1", "A", "0.9"], ["0", "A", "0.2"], ["1", "B", "0.8"], ["0", "B", "0.7"]]


def rows(path, **options):
    with open_table(path, **options) as table:
        columns = table.columns(range(len(table.header)))
        return [list(row) for row in zip(*(column.cells() for column in columns), strict=True)]


def error_of(tmp_path, content, **options):
    path = tmp_path / "people.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(TableError) as error:
        rows(path, **options)
    assert "people.csv" in str(error.value)
    return error.value


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", ["empty"]),
        ("\n\n", ["empty"]),
        ("label,group\n", ["a header but no row"]),
        (b"label,group,score\n1,A,0.9\n0,A\x00,0.2\n", ["row 3", "NUL"]),
        (b"label,group,score\n1,A,0.9\n1,K\xf6\x81ln,0.2\n", ["row 3", "not utf-8", "save it as UTF-8"]),
        (b"label,group,score\n1,\xc3\xa4,0.9\n1,K\xf6ln,0.2\n", ["row 3", "not utf-8", "save it as UTF-8"]),
        ("label,group,score\n1,A,0.9\n0,A\n", ["row 3", "2 cell(s)", "3 column(s)"]),
        ("label,group,score\n1,A,0.9\n0,A,0.2,9\n", ["row 3", "4 cell(s)"]),
        ('label,group,score\n1,"A,0.9\n0,A,0.2\n', ["row 2", "never closes"]),
        ('label,group,score\n1,A,"0.9"5\n', ["row 2", "closing quote"]),
        (b"\x1f\x8b\x08\x00rubbish", ["gzip"]),
        (gzip.compress(GOOD.encode() * 100, mtime=0)[:-20], ["gzip"]),
        (b"PAR1rubbish", ["Parquet"]),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" * 10, ["older Excel", "Save it as .xlsx"]),
    ],
)
def test_what_is_no_table_is_refused_with_its_place_and_reason(tmp_path, content, words):
    message = str(error_of(tmp_path, content))
    for word in words:
        assert word in message
    assert "--" not in message  # options are named by the command


def test_an_error_about_bytes_carries_the_encoding_that_would_solve_it(tmp_path):
    utf16 = error_of(tmp_path, GOOD.encode("utf-16"), encoding="utf-8")
    assert utf16.key == "encoding"
    assert "utf-16" in utf16.details["encoding"]
    assert error_of(tmp_path, "a\nKöln\n".encode("latin-1"), encoding="utf-8").key == "encoding"
    assert error_of(tmp_path, b"\xff\xfea\0\n", encoding="utf-16").key == "encoding"


def test_standard_input_and_pipes_are_read_up_to_the_limit(tmp_path, monkeypatch):
    data = io.BytesIO()
    pd.read_csv(io.StringIO(GOOD)).to_parquet(data)
    for content in (GOOD.encode(), gzip.compress(GOOD.encode()), data.getvalue()):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content)))
        with open_table("-") as table:
            assert len(table.columns([0])[0].rows) == 4
            assert table.sha256() == hashlib.sha256(content).hexdigest()
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(GOOD.encode())))
    with pytest.raises(TableError, match="standard input: decompressed, it holds more than 10"):
        rows("-", max_bytes=10)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    child = os.fork()
    if child == 0:
        pipe.write_text(GOOD)
        os._exit(0)
    assert rows(pipe) == ROWS
    os.waitpid(child, 0)


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("t.csv", {"encoding": "klingon"}, "Unknown encoding"),
        ("t.csv", {"delimiter": "::"}, "one character"),
        ("nowhere.csv", {}, "Cannot read"),
        ("empty", {}, "this folder holds no file that ends in .parquet, .csv"),
    ],
)
def test_what_cannot_be_opened_is_refused(tmp_path, name, options, words):
    (tmp_path / "t.csv").write_text(GOOD)
    (tmp_path / "empty").mkdir()
    with pytest.raises(TableError, match=words):
        rows(tmp_path / name, **options)


def test_an_unknown_column_is_answered_with_the_nearest_name(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("LABEL,gruop,score,score\n1,A,0.9,1\n")
    with open_table(path) as table:
        assert table.position("LABEL") == 0
        for name, words in (("label", "mean 'LABEL'"), ("group", "mean 'gruop'"), ("age", "Its columns")):
            with pytest.raises(TableError, match=words) as error:
                table.position(name, "group")
            assert error.value.details["named_by"] == "group"
        with pytest.raises(TableError, match="row 1, column 'score': 2 columns have this name"):
            table.position("score")
        assert table.columns([2])[0].cells().tolist() == ["0.9"]  # by position, each is read


def test_a_header_in_one_piece_carries_the_delimiter_that_would_split_it(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("label;group;score\n1;A;0.9\n")
    with open_table(path, delimiter=",") as table, pytest.raises(TableError, match="separated by ';'") as error:
        table.position("label")
    assert (error.value.key, error.value.details["delimiter"]) == ("delimiter", ";")


def written(path, scores):
    frame = pd.DataFrame({"label": [1, 0] * (len(scores) // 2), "score": scores})
    if path.suffix == ".xlsx":
        frame.to_excel(path, index=False)
    elif path.suffix == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False)
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet", ".xlsx"])
def test_the_hash_is_that_of_the_file_that_is_read_even_if_another_takes_its_name(tmp_path, suffix):
    path, other = tmp_path / f"t{suffix}", tmp_path / f"other{suffix}"
    digest = written(path, [0.25, 0.75])
    written(other, [0.5, 0.5])
    with open_table(path) as table:
        os.replace(other, path)
        assert table.sha256() == digest
        assert table.columns([1])[0].cells().tolist() == ["0.25", "0.75"]
        assert table.sha256() == digest


@pytest.mark.parametrize("suffix", [".csv.gz", ".parquet", ".xlsx"])
def test_what_a_compressed_file_expands_to_has_a_limit_that_can_be_raised(tmp_path, suffix):
    path = tmp_path / f"t{suffix}"
    written(path, [i / 8 for i in range(5000)])
    assert len(rows(path)) == len(rows(path, max_bytes=10**6)) == 5000
    with pytest.raises(TableError, match=r"t\.\S+: decompressed, it holds more than 10,000 bytes") as error:
        rows(path, max_bytes=10_000)
    assert error.value.key == "max_bytes"


def test_a_file_that_is_written_to_while_it_is_read_is_refused(tmp_path):
    path = tmp_path / "t.parquet"
    written(path, [0.25, 0.75])
    with pytest.raises(TableError, match="it was changed while it was read"), open_table(path) as table:  # noqa: PT012
        table.columns([1])
        os.utime(path, ns=(0, 0))
        table.sha256()
