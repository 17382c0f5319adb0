"""One table in three forms: the same totals."""

import pytest

from selfselect.counting.rows import ChunkedRows, DaskRows, InMemoryRows

BLOCKS = [[3, 1, 4], [1, 5], [9, 2, 6]]


class FakeClient:
    """The used methods of a Dask client; futures are tuples of one element."""

    def __init__(self):
        self.done = 0

    def scatter(self, values):
        return [(value,) for value in values]

    def map(self, function, futures, pure):
        assert pure is False  # results must not be cached
        self.done += len(futures)
        return [(function(value),) for (value,) in futures]

    def gather(self, futures):
        return [value for (value,) in futures]


class Readings:
    """Blocks that count how often they are read."""

    def __init__(self, blocks):
        self.blocks, self.times = blocks, 0

    def __iter__(self):
        self.times += 1
        return iter(self.blocks)


@pytest.mark.parametrize(
    "rows",
    [
        InMemoryRows([value for block in BLOCKS for value in block]),
        ChunkedRows(BLOCKS),
        DaskRows.scatter(FakeClient(), BLOCKS),
    ],
    ids=["memory", "chunks", "dask"],
)
def test_totals_do_not_depend_on_the_form_of_the_table(rows):
    parts = rows.each(lambda block: [2 * value for value in block])
    assert parts.total(sum) == 62
    assert parts.total(len) == 8


def test_work_in_memory_is_done_once_and_chunks_are_read_for_every_total():
    calls, readings = [], Readings(BLOCKS)
    held = InMemoryRows(BLOCKS[0]).each(lambda block: calls.append(block) or block)
    held.total(sum), held.total(len)
    assert len(calls) == 1
    chunked = ChunkedRows(readings).each(list)
    before = readings.times
    chunked.total(sum), chunked.total(len)
    assert readings.times - before == 2


def test_on_a_cluster_work_is_done_once_per_block():
    client = FakeClient()
    parts = DaskRows.scatter(client, BLOCKS).each(list)
    parts.total(sum), parts.total(len)
    assert client.done == 3 * len(BLOCKS)


def test_blocks_are_added_up_in_their_order():
    assert ChunkedRows(["a", "b", "c"]).each(str.upper).total(str) == "ABC"
    assert DaskRows.scatter(FakeClient(), ["a", "b", "c"]).each(str.upper).total(str) == "ABC"


def test_blocks_that_can_be_read_only_once_and_empty_tables_are_refused():
    with pytest.raises(TypeError, match=r"only once.*Pass a list"):
        ChunkedRows(iter(BLOCKS))
    with pytest.raises(ValueError, match="no rows"):
        ChunkedRows([]).each(list).total(len)
    with pytest.raises(ValueError, match="no rows"):
        DaskRows(FakeClient(), [])
