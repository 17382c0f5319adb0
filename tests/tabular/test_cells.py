"""A file is counted block by block: the same numbers as from all rows at once, whatever the blocks."""

import hashlib

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from selfselect import audit, threshold_frontier
from selfselect.auditing import Audit
from selfselect.cli import main
from selfselect.costs import Terms
from selfselect.planning import frontier_for
from selfselect.tabular import cells, csv_files, parquet_files
from selfselect.tabular.errors import TableError
from selfselect.tabular.loading import DecisionColumn, PeopleColumns, ScoreColumn, read_people, read_screening_results
from selfselect.tabular.read import open_table


@pytest.fixture
def people():
    rng = np.random.default_rng(0)
    n = 3000
    score = rng.random(n)
    frame = pd.DataFrame({"y": (rng.random(n) < score).astype(int), "z": rng.choice(list("ABC"), n), "s": score})
    frame["w"] = rng.integers(1, 4, n) / 2
    frame["d"] = (rng.random(n) < 0.5).astype(int)
    return frame


def written(frame, path):
    if path.suffix == ".parquet":
        frame.to_parquet(path, row_group_size=700)
    elif path.suffix == ".csv":
        frame.to_csv(path, index=False)
    else:
        path.mkdir()
        for i in range(3):
            frame.iloc[i * 1000 : (i + 1) * 1000].to_parquet(path / f"part-{i}.parquet")
        (path / "_SUCCESS").write_text("")
    return path


def result_of(path, model=ScoreColumn("s"), findings=None, **columns):  # noqa: B008
    with open_table(path) as table:
        return read_screening_results(table, PeopleColumns("y", ("z",), **columns), model, findings)[0][0]


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "parts"])
@pytest.mark.parametrize("blocks", [50, 2**17])
def test_a_file_gives_the_curves_of_its_rows_whatever_the_blocks(people, tmp_path, monkeypatch, name, blocks):
    monkeypatch.setattr(csv_files, "BLOCK_BYTES", 20 * blocks)
    monkeypatch.setattr(parquet_files, "BLOCK_ROWS", blocks)
    monkeypatch.setattr(cells, "MAX_WAITING", 500)
    path = written(people, tmp_path / name)
    expected = audit(people["y"], score=people["s"], sensitive_features=people["z"], cost=0.5)
    found = result_of(path)
    assert found.table == expected.published
    assert found.curves.to_frame().equals(expected.curves.to_frame())
    weighted = audit(
        people["y"], score=people["s"], sensitive_features=people["z"], sample_weight=people["w"], cost=0.5
    )
    found = result_of(path, weight="w")
    pd.testing.assert_frame_equal(found.table.to_frame(), weighted.published.to_frame(), check_index_type=False)
    pd.testing.assert_frame_equal(
        found.curves.squares.to_frame(), weighted.curves.squares.to_frame(), check_dtype=False
    )


@pytest.mark.parametrize("threshold", [0.5, 0.333, 0.98765])
@pytest.mark.parametrize("lower_passes", [False, True])
def test_rounded_scores_count_exactly_at_the_threshold_and_at_every_step(
    people, tmp_path, monkeypatch, threshold, lower_passes
):
    path = written(people, tmp_path / "t.csv")
    model = ScoreColumn("s", threshold, lower_passes)
    exact = result_of(path, model)
    found = {}
    for waiting in (100, 5000):
        monkeypatch.setattr(cells, "MAX_WAITING", waiting)
        monkeypatch.setattr(cells, "MAX_CELLS", 1000)
        monkeypatch.setattr(cells, "MAX_BINNED", 700)
        findings = []
        found[waiting] = result_of(path, model, findings)
        assert "bins" in {finding.key for finding in findings}
    one, other = found.values()
    assert one.bin_width == other.bin_width == 0.01  # 0.001 would leave more than 700 cells
    assert one.curves.to_frame().equals(other.curves.to_frame())
    assert one.table == exact.table
    assert len(one.curves.threshold) < 700 < len(exact.curves.threshold)
    for step in one.curves.distinct_thresholds:
        assert one.curves.at(step) == exact.curves.at(step)


def test_rounding_never_passes_over_a_score():
    score = np.array([0.1, 0.1234, 0.12341, 7.0, -0.00001, 1e300, 0.3, 123456789.125])
    for decimals in (4, 2, 0, -3):
        rounded = cells.round_up(score, decimals, 0.12340001)
        assert (rounded >= score).all()
        assert ((score > 0.12340001) == (rounded > 0.12340001)).all()
    assert cells.round_up(score, 4, 0.5)[:3].tolist() == [0.1, 0.1234, 0.1235]


def test_a_frontier_shows_only_thresholds_at_which_rounded_scores_count_exactly(people, tmp_path, monkeypatch):
    monkeypatch.setattr(cells, "MAX_CELLS", 1000)
    monkeypatch.setattr(cells, "MAX_BINNED", 700)
    people_at = result_of(written(people, tmp_path / "t.csv"))
    frontier = frontier_for(Audit(people_at, people_at, Terms(0.5)))
    exact = threshold_frontier(people["y"], people["s"], sensitive_features=people["z"], cost=0.5)
    for point in frontier.one:
        passed = exact.curves.at(point.threshold).counts.selected
        assert frontier.selected_at(point).tolist() == passed.tolist()


def test_the_command_and_its_report_say_how_far_scores_are_rounded(people, tmp_path, monkeypatch):
    monkeypatch.setattr(cells, "MAX_CELLS", 1000)
    monkeypatch.setattr(cells, "MAX_BINNED", 700)
    path, report = written(people, tmp_path / "t.csv"), tmp_path / "out.html"
    command = ["audit", str(path), "--label", "y", "--group", "z", "--score", "s", "--cost", "0.5"]
    done = CliRunner().invoke(main, [*command, "--report", str(report)])
    assert done.exit_code == 0
    for text in (done.stderr, report.read_text()):
        assert "it is rounded to 0.01" in text


def test_two_models_of_one_file_are_paired_as_their_rows_are(people, tmp_path):
    path = written(people, tmp_path / "t.csv")
    for columns in ({}, {"weight": "w"}):
        with open_table(path) as table:
            each, pairs = read_people(
                table, PeopleColumns("y", ("z",), **columns), [ScoreColumn("s"), DecisionColumn("d")]
            )
        weight = people["w"] if columns else 1.0
        passes = people["s"] > 0.5
        for (z, y, one, other), n in np.ndenumerate(pairs.cells):
            label = people["z"] == "ABC"[z]
            rows = label & (people["y"] == y) & (passes == one) & (people["d"] == other)
            assert n == pytest.approx((rows * weight).sum())
        assert [len(person.y) for person in each] == [3000, 24]  # groups x labels x decisions x passes


def test_an_untested_person_who_passes_is_named_by_the_row(people, tmp_path):
    people["y"] = people["y"].astype(object)
    people.loc[people.index[people["s"] < 0.2], "y"] = ""
    wrong = int(np.flatnonzero(people["s"] > 0.9)[3])
    people.loc[wrong, "y"] = ""
    with pytest.raises(TableError, match=f"row {wrong + 2}, column 'y': the label is empty, but this person passes"):
        result_of(written(people, tmp_path / "t.csv"), untested=True)


def test_scores_outside_zero_to_one_need_a_threshold_though_they_are_rounded(people, tmp_path, monkeypatch):
    monkeypatch.setattr(cells, "MAX_CELLS", 1000)
    people.loc[7, "s"] = -1e-6
    with pytest.raises(TableError, match="Which score is the cut-off"):
        result_of(written(people, tmp_path / "t.csv"))


# ---------------------------------------------------------------------- folders and damage


def test_a_folder_is_hashed_and_an_error_names_the_part_and_its_row(people, tmp_path):
    path = written(people, tmp_path / "parts")
    with open_table(path) as table:
        table.columns([0])
        each = [hashlib.sha256((path / f"part-{i}.parquet").read_bytes()).hexdigest() for i in range(3)]
        assert table.sha256() == hashlib.sha256("\n".join(each).encode()).hexdigest()
    people.loc[1500, "s"] = np.inf
    with pytest.raises(TableError, match=r"part-1\.parquet, row 502, column 's': .* finite"):
        result_of(written(people, tmp_path / "others"))
    people.iloc[:10].drop(columns="d").to_parquet(path / "part-9.parquet")
    with pytest.raises(TableError, match=r"part-9\.parquet: its columns are not those of the first part"):
        result_of(path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(TableError, match="this folder holds no file"):
        result_of(tmp_path / "empty")


def test_a_chunk_that_cannot_be_read_is_named_by_row_group_and_column(people, tmp_path):
    import pyarrow.parquet as pq

    path = tmp_path / "t.parquet"
    people.to_parquet(path, row_group_size=700, compression="none")
    start = pq.ParquetFile(path).metadata.row_group(2).column(2).data_page_offset
    data = bytearray(path.read_bytes())
    data[start : start + 12] = b"\xff" * 12
    path.write_bytes(bytes(data))
    with pytest.raises(TableError, match=r"t\.parquet, column 's': its cells cannot be read \(row group 3 of 5\)"):
        result_of(path)
