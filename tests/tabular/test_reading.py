"""Files as people really have them: every complaint names the file and the row, and says what to do."""

import gzip
import hashlib
import os
import sys

import pandas as pd
import pytest
from selfselect.tabular.reading import open_table

from selfselect.tabular import reading
from selfselect.tabular.errors import TableError

GOOD = "label,group,score\n1,A,0.9\n0,A,0.2\n1,B,0.8\n0,B,0.7\n"


def rows(path, **how):
    with open_table(path, **how) as table:
        return [
            list(row)
            for chunk in table.chunks(range(len(table.header)))
            for row in zip(chunk.rows, *chunk.columns, strict=True)
        ]


def complaint(tmp_path, content, **how):
    path = tmp_path / "people.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(TableError) as error:
        rows(path, **how)
    assert "people.csv" in str(error.value)
    return error.value


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", ["empty"]),
        ("\n\n", ["empty"]),
        (b"label,group,score\n1,A,0.9\n0,A\x00,0.2\n", ["row 3", "NUL"]),
        (b"label,group,score\n1,A,0.9\n1,K\xf6\x81ln,0.2\n", ["row 3", "not utf-8", "save it as UTF-8"]),
        (b"label,group,score\n1,\xc3\xa4,0.9\n1,K\xf6ln,0.2\n", ["row 3", "not utf-8", "save it as UTF-8"]),
        ("label,group,score\n1,A,0.9\n0,A\n", ["row 3", "2 cell(s)", "3 column(s)"]),
        ("label,group,score\n1,A,0.9\n0,A,0.2,9\n", ["row 3", "4 cell(s)"]),
        ('label,group,score\n1,"A,0.9\n0,A,0.2\n', ["row 2", "never closes"]),
        ('label,group,score\n1,"A"x,0.9\n', ["row 2", "closing quote"]),
        (b"\x1f\x8b\x08\x00rubbish", ["gzip"]),
        (gzip.compress(GOOD.encode() * 100, mtime=0)[:-20], ["gzip"]),
        (b"PAR1rubbish", ["Parquet"]),
    ],
)
def test_what_is_no_table_is_refused_with_its_place_and_reason(tmp_path, content, words):
    said = str(complaint(tmp_path, content))
    for word in words:
        assert word in said
    assert "--" not in said  # options are the business of the command


def test_an_error_about_bytes_carries_the_encoding_that_would_settle_it(tmp_path):
    utf16 = complaint(tmp_path, GOOD.encode("utf-16"), encoding="utf-8")
    assert (utf16.key, utf16.details["encoding"]) == ("encoding", "utf-16")
    assert complaint(tmp_path, "a\nKöln\n".encode("latin-1"), encoding="utf-8").key == "encoding"


@pytest.mark.parametrize(
    ("content", "how"),
    [
        (GOOD.encode(), {}),
        (b"\xef\xbb\xbf" + GOOD.encode(), {}),
        (GOOD.replace("\n", "\r\n").encode(), {}),
        (GOOD.replace("\n", "\r").encode(), {}),
        (GOOD.replace(",", ";").encode(), {"delimiter": ";"}),
        (GOOD.encode("utf-16"), {"encoding": "utf-16"}),
        (gzip.compress(GOOD.encode(), mtime=0), {}),
    ],
)
def test_the_same_table_written_differently_is_the_same_rows(tmp_path, content, how):
    path = tmp_path / "people.csv"
    path.write_bytes(content)
    assert rows(path, **how) == [[2, "1", "A", "0.9"], [3, "0", "A", "0.2"], [4, "1", "B", "0.8"], [5, "0", "B", "0.7"]]


def test_rows_are_counted_as_a_spreadsheet_does_also_with_blank_lines_and_line_breaks_in_cells(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text('label,group,score\n1,"A\nB",0.9\n\n0,A,oops\n')
    assert [row[0] for row in rows(path)] == [2, 4]


def test_parquet_holds_the_same_rows_as_csv(tmp_path):
    pytest.importorskip("pyarrow")
    (tmp_path / "plain.csv").write_text(GOOD)
    pd.read_csv(tmp_path / "plain.csv").to_parquet(tmp_path / "plain.parquet")
    assert rows(tmp_path / "plain.parquet") == rows(tmp_path / "plain.csv")


def test_a_quote_that_never_closes_is_found_without_swallowing_a_huge_file(tmp_path):
    said = complaint(tmp_path, 'label,group,score\n1,"A,0.9\n' + "0,A,0.2\n" * 50_000)
    assert "row 2" in str(said)


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


def test_a_file_that_is_not_there_or_is_a_folder_is_named(tmp_path):
    for path in (tmp_path / "nowhere.csv", tmp_path):
        with pytest.raises(TableError, match=f"Cannot read {path}"), open_table(path):
            pass


def test_a_column_that_is_not_there_is_asked_for_by_the_nearest_name(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("LABEL,gruop,score,score\n1,A,0.9,1\n")
    with open_table(path) as table:
        assert table.position("LABEL") == 0
        for name, words in (
            ("label", "Did you mean 'LABEL'"),
            ("group", "Did you mean 'gruop'"),
            ("age", "Its columns"),
        ):
            with pytest.raises(TableError, match=words) as error:
                table.position(name, "group")
            assert error.value.details["named_by"] == "group"
        with pytest.raises(TableError, match="row 1, column 'score': 2 columns have this name"):
            table.position("score")


def test_a_header_in_one_piece_carries_the_delimiter_that_would_split_it(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("label;group;score\n1;A;0.9\n")
    with open_table(path, delimiter=",") as table, pytest.raises(TableError, match="separated by ';'") as error:
        table.position("label")
    assert (error.value.key, error.value.details["delimiter"]) == ("delimiter", ";")


def test_a_standard_input_that_is_closed_is_said_to_be(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(TableError, match="Cannot read standard input: it is closed"), open_table("-"):
        pass


def written(path, scores):
    frame = pd.DataFrame({"label": [1, 0], "score": scores})
    frame.to_parquet(path) if path.suffix == ".parquet" else frame.to_excel(path, index=False)
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("suffix", [".parquet", ".xlsx"])
def test_what_is_read_is_what_is_hashed_though_the_file_is_replaced_meanwhile(tmp_path, monkeypatch, suffix):
    pytest.importorskip("pyarrow" if suffix == ".parquet" else "openpyxl")
    path, other = tmp_path / f"t{suffix}", tmp_path / f"other{suffix}"
    digest = written(path, [0.25, 0.75])
    written(other, [0.5, 0.5])
    opened = reading._Opening.reader

    def replaced_first(*given):
        os.replace(other, path)
        return opened(*given)

    monkeypatch.setattr(reading._Opening, "reader", replaced_first)
    with open_table(path) as table:
        (chunk,) = table.chunks([1])
        assert (chunk.texts(0), table.sha256()) == (["0.25", "0.75"], digest)
        assert table.sha256() == digest


@pytest.mark.parametrize("suffix", [".parquet", ".xlsx"])
def test_a_file_that_is_written_to_while_it_is_read_is_refused(tmp_path, suffix):
    pytest.importorskip("pyarrow" if suffix == ".parquet" else "openpyxl")
    path = tmp_path / f"t{suffix}"
    written(path, [0.25, 0.75])
    words = rf"Cannot read .*t\{suffix}: it was changed while it was read\."
    with pytest.raises(TableError, match=words), open_table(path) as table:  # noqa: PT012
        list(table.chunks([1]))
        os.utime(path, ns=(0, 0))
        table.sha256()
