"""Tables as blocks of rows: in memory, read one after the other, or held by a cluster.

What is counted over rows adds up over blocks. So code needs only two things of a table: do some work on each block, and
add up the results. A block may be anything (a tuple of arrays, a data frame). Blocks are always added up in the same
order, so results repeat bit for bit. For another source of rows, write a class with the method ``each`` of
:class:`Rows`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from operator import add
from typing import Any, Generic, Protocol, TypeVar

Block = TypeVar("Block")
Block_co = TypeVar("Block_co", covariant=True)
Part = TypeVar("Part")
Part_co = TypeVar("Part_co", covariant=True)
Total = TypeVar("Total")

_NO_ROWS = "The table has no rows: there must be at least one block."


class Parts(Protocol[Part_co]):
    """Results of some work, one per block."""

    def total(self, count: Callable[[Part_co], Total]) -> Total:
        """Apply a function to each result and add up what it returns."""
        ...


class Rows(Protocol[Block_co]):
    """A table in blocks."""

    def each(self, work: Callable[[Block_co], Part]) -> Parts[Part]:
        """Do some work on each block."""
        ...


class InMemoryRows(Generic[Block]):
    """A table in memory, as one block. Work is done once and its result kept."""

    def __init__(self, block: Block) -> None:
        self.block = block

    def each(self, work: Callable[[Block], Part]) -> _LocalParts[Part, Part]:
        """Do the work now."""
        return _LocalParts([work(self.block)], lambda part: part)


class ChunkedRows(Generic[Block]):
    """A table that is read block by block because it does not fit in memory.

    Nothing is kept between blocks: every total reads the table again and repeats the work.

    Parameters
    ----------
    blocks : iterable
        The same blocks each time it is iterated over: a list, or an object whose ``__iter__`` reopens the files. A
        generator is refused, because it can be read only once.
    """

    def __init__(self, blocks: Iterable[Block]) -> None:
        if iter(blocks) is blocks:
            raise TypeError(
                "The blocks can be read only once, and training reads a table many times. Pass a list, or an object "
                "whose __iter__ starts again from the first block."
            )
        self.blocks = blocks

    def each(self, work: Callable[[Block], Part]) -> _LocalParts[Block, Part]:
        """Remember the work until a total needs it."""
        return _LocalParts(self.blocks, work)


class _LocalParts(Generic[Block, Part]):
    def __init__(self, blocks: Iterable[Block], work: Callable[[Block], Part]) -> None:
        self._blocks, self._work = blocks, work

    def total(self, count: Callable[[Part], Total]) -> Total:
        counted = [count(self._work(block)) for block in self._blocks]
        if not counted:
            raise ValueError(_NO_ROWS)
        return reduce(add, counted)


class DaskRows(Generic[Block]):
    """A table whose blocks are held by the workers of a Dask cluster.

    Workers do the work once and keep its results. Only what is counted travels, one result per block.

    Parameters
    ----------
    client : distributed.Client
        Any object with the methods ``map`` and ``gather``.
    blocks : sequence of futures
        For example ``client.map(read_block, files)``. For blocks in memory, see :meth:`scatter`.
    """

    def __init__(self, client: Any, blocks: Sequence[Any]) -> None:
        if not blocks:
            raise ValueError(_NO_ROWS)
        self.client, self.blocks = client, list(blocks)

    @classmethod
    def scatter(cls, client: Any, blocks: Iterable[Block]) -> DaskRows[Block]:
        """Send blocks to the workers."""
        return cls(client, client.scatter(list(blocks)))

    def each(self, work: Callable[[Block], Part]) -> _DaskParts[Part]:
        """Do the work on the workers."""
        return _DaskParts(self.client, self.client.map(work, self.blocks, pure=False))


class _DaskParts(Generic[Part]):
    def __init__(self, client: Any, parts: Sequence[Any]) -> None:
        self._client, self._parts = client, parts

    def total(self, count: Callable[[Part], Total]) -> Total:
        counted: list[Total] = self._client.gather(self._client.map(count, self._parts, pure=False))
        return reduce(add, counted)
