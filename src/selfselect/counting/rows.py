"""How a table is fed: blocks of rows in memory, one after the other, or on a cluster.

What is counted over rows adds up over blocks, so all that code needs of a table is to have some work done on each block
and the results added. A block may be anything (a tuple of arrays, a data frame); who counts says what it holds. The
blocks of one table are always added up in the same order, so results repeat bit for bit.

To feed rows in another way, write a class with the method ``each`` of :class:`Rows`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Generic, Protocol, TypeVar

Block = TypeVar("Block")
Block_co = TypeVar("Block_co", covariant=True)
Part = TypeVar("Part")
Part_co = TypeVar("Part_co", covariant=True)
Total = TypeVar("Total")


class Parts(Protocol[Part_co]):
    """What some work made of each block."""

    def total(self, count: Callable[[Part_co], Total]) -> Total:
        """Count each part, and add up by ``+``."""
        ...


class Rows(Protocol[Block_co]):
    """A table that is fed in blocks."""

    def each(self, work: Callable[[Block_co], Part]) -> Parts[Part]:
        """Do some work on each block; its results are kept, or made anew, as suits the table."""
        ...


def _added(counted: Iterable[Total]) -> Total:
    """Sum of what was counted, in order, starting from the first."""
    nothing = object()
    total: Any = nothing
    for each in counted:
        total = each if total is nothing else total + each
    if total is nothing:
        raise ValueError("The table has no rows: there must be at least one block.")
    return total  # type: ignore[no-any-return]


class HeldRows(Generic[Block]):
    """A table in memory, as one block. Work on it is done once and kept.

    Parameters
    ----------
    block : object

    Examples
    --------
    >>> HeldRows([1, 2, 3]).each(max).total(float)
    3.0
    """

    def __init__(self, block: Block) -> None:
        self.block = block

    def each(self, work: Callable[[Block], Part]) -> _HeldParts[Part]:
        """Do the work, now."""
        return _HeldParts(work(self.block))


class _HeldParts(Generic[Part]):
    def __init__(self, part: Part) -> None:
        self._part = part

    def total(self, count: Callable[[Part], Total]) -> Total:
        return count(self._part)


class ChunkedRows(Generic[Block]):
    """A table that is read block by block, for tables that do not fit in memory.

    Nothing is kept between blocks, so every total reads the table once and does the work on it anew: time grows with
    the number of totals, and memory only with the largest block.

    Parameters
    ----------
    blocks : iterable
        Gives the blocks, the same ones each time it is gone through: a list, or an object whose ``__iter__`` opens the
        files anew. A generator will not do: it can be gone through only once.

    Examples
    --------
    >>> ChunkedRows([[1, 2], [3]]).each(sum).total(float)
    6.0
    """

    def __init__(self, blocks: Iterable[Block]) -> None:
        if iter(blocks) is blocks:
            raise TypeError(
                "The blocks can be gone through only once, and training reads a table many times. Pass a list, or an "
                "object whose __iter__ starts anew."
            )
        self.blocks = blocks

    def each(self, work: Callable[[Block], Part]) -> _ChunkedParts[Block, Part]:
        """Remember the work; it is done when a total is asked for."""
        return _ChunkedParts(self.blocks, work)


class _ChunkedParts(Generic[Block, Part]):
    def __init__(self, blocks: Iterable[Block], work: Callable[[Block], Part]) -> None:
        self._blocks, self._work = blocks, work

    def total(self, count: Callable[[Part], Total]) -> Total:
        return _added(count(self._work(block)) for block in self._blocks)


class DaskRows(Generic[Block]):
    """A table whose blocks are held by the workers of a Dask cluster.

    Work is done where the blocks are, once, and its results stay there; only what is counted travels, one result per
    block. Of training, these are a few numbers per group and one per feature, whatever the number of rows.

    Parameters
    ----------
    client : distributed.Client
        Any object with its methods ``map`` and ``gather``.
    blocks : sequence of futures
        Of blocks: ``client.map(read_block, files)``, say, so that workers read files of their own; or, from memory, see
        :meth:`scatter`.
    """

    def __init__(self, client: Any, blocks: Sequence[Any]) -> None:
        if not blocks:
            raise ValueError("The table has no rows: there must be at least one block.")
        self.client, self.blocks = client, list(blocks)

    @classmethod
    def scatter(cls, client: Any, blocks: Iterable[Block]) -> DaskRows[Block]:
        """Send blocks to the workers."""
        return cls(client, client.scatter(list(blocks)))

    def each(self, work: Callable[[Block], Part]) -> _DaskParts[Part]:
        """Do the work on the workers; its results stay there for as long as they are needed."""
        return _DaskParts(self.client, self.client.map(work, self.blocks, pure=False))


class _DaskParts(Generic[Part]):
    def __init__(self, client: Any, parts: Sequence[Any]) -> None:
        self._client, self._parts = client, parts

    def total(self, count: Callable[[Part], Total]) -> Total:
        counted: list[Total] = self._client.gather(self._client.map(count, self._parts, pure=False))
        return _added(counted)
