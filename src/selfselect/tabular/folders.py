"""A folder of parts, as databases and clusters write tables: one table, whose rows are those of its files in order."""

from __future__ import annotations

import hashlib
import io
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from .._text import quote
from .errors import TableError
from .table import Block, Table, listing

#: Ends of the names of parts; other files of a folder (logs, checksums) are ignored.
SUFFIXES = (".parquet", ".csv", ".csv.gz")
#: First characters of names of files and folders that are no parts, as Spark writes them.
HIDDEN = ("_", ".")


class FolderTable(Table):
    """All Parquet or CSV files of a folder and the folders in it, by the order of their names.

    ``open_part`` opens a file. Each part must have the columns of the first one. Rows are counted over all parts; an
    error names the part and its row.
    """

    def __init__(
        self, name: str, folder: Path, max_bytes: int, open_part: Callable[[Path], AbstractContextManager[Table]]
    ) -> None:
        super().__init__(name, io.BytesIO(), max_bytes)
        paths = sorted(path for path in folder.rglob("*") if path.name.endswith(SUFFIXES) and path.is_file())
        self._paths = [
            path for path in paths if not any(part.startswith(HIDDEN) for part in path.relative_to(folder).parts)
        ]
        if not self._paths:
            raise self.error(f"this folder holds no file that ends in {', '.join(SUFFIXES)}")
        self._open = open_part
        self._starts = [0]
        self._digests: dict[Path, str] = {}
        with open_part(self._paths[0]) as first:
            self.header, self.decimal, self.notes = first.header, first.decimal, first.notes

    def read(self, positions: Sequence[int]) -> Iterator[Block]:
        """Rows of some columns, part by part."""
        self._starts = [0]
        for path in self._paths:
            with self._open(path) as part:
                if part.header != self.header:
                    named = listing(part.header) if part.header else "none"
                    advice = f"The first part, {quote(str(self._paths[0]))}, has {listing(self.header)}."
                    raise part.error(f"its columns are not those of the first part: {named}", advice=advice)
                if part.decimal != self.decimal:
                    raise part.error("its decimal sign is not that of the first part", key="which_decimal")
                start = last = self._starts[-1]
                for rows, arrays in part.read(positions):
                    shifted = (
                        range(rows.start + start, rows.stop + start)
                        if isinstance(rows, range)
                        else [row + start for row in rows]
                    )
                    last = shifted[-1] if len(shifted) else last
                    yield shifted, arrays
                self._starts.append(last)
                self._digests[path] = part.sha256()

    def sha256(self) -> str:
        """Hash of the hashes of the parts, which must not have changed while they were read."""
        for path in self._paths:
            if path not in self._digests:
                with self._open(path) as part:
                    self._digests[path] = part.sha256()
        return hashlib.sha256("\n".join(self._digests[path] for path in self._paths).encode()).hexdigest()

    def error(self, problem: str, *, row: int | None = None, **details: Any) -> TableError:
        """Error about a place in a part."""
        if row is None:
            return super().error(problem, **details)
        part = min(bisect_right(self._starts, row - 1), len(self._paths)) - 1
        whole, self.name = self.name, str(self._paths[part])
        try:
            return super().error(problem, row=row - self._starts[part], **details)
        finally:
            self.name = whole
