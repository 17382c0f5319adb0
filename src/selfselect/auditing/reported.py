"""What results share: text, JSON and a page, all made by :mod:`selfselect.report`."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self, overload

import pandas as pd

from .._files import write_atomically
from .._frames import few_rows
from .._text import escape_html, json_text
from ..publishing import MIN_CELL


class Described(ABC):
    """A result that can be shown as sentences, as a table and as JSON."""

    @abstractmethod
    def to_frame(self) -> pd.DataFrame:
        """Table of the result."""

    def row_names(self) -> list[str] | None:
        """Names of the rows of :meth:`to_frame`, None if it has a column for them."""
        return None

    def _report(self) -> tuple[Callable[[Any], Any], ...]:
        """What words this kind of result, what writes it as plain values, and what makes its page."""
        from ..report.results import REPORTS

        return REPORTS[type(self).__name__]

    def verdict(self) -> str:
        """Summarise the result in a few sentences."""
        return " ".join(self._report()[0](self))

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values; NaN becomes None."""
        return dict(self._report()[1](self))

    def to_json(self) -> str:
        """JSON text of :meth:`to_dict`."""
        return json_text(self.to_dict())

    def _repr_html_(self) -> str:
        with few_rows():
            return f"<p>{escape_html(self.verdict())}</p>{self.to_frame()._repr_html_()}"

    def __repr__(self) -> str:
        with few_rows():
            return f"{self.verdict()}\n{self.to_frame()}"


class Reported(Described):
    """A result about people that can also be shown as an HTML page; files are made of merged counts."""

    @abstractmethod
    def protected(self, min_cell: int = MIN_CELL) -> Self:
        """The same result from merged counts, in which no cell has fewer than ``min_cell`` people.

        This is what files hold; see :mod:`selfselect.publishing.privacy`. With 0 it is the result itself.
        """

    @property
    def source(self) -> Provenance:
        """Where the numbers come from."""
        return self.provenance  # type: ignore[attr-defined, no-any-return]

    def to_json(self, min_cell: int = MIN_CELL) -> str:
        """JSON text of :meth:`to_dict`, of the result that :meth:`protected` makes."""
        return json_text(self.protected(min_cell).to_dict())

    @overload
    def to_html(self, path: None = None, min_cell: int = MIN_CELL) -> str: ...

    @overload
    def to_html(self, path: str | Path, min_cell: int = MIN_CELL) -> None: ...

    def to_html(self, path: str | Path | None = None, min_cell: int = MIN_CELL) -> str | None:
        """Report: one HTML page that needs nothing else. Needs the extra ``report``.

        Parameters
        ----------
        path : str or Path, optional
            File to write; it is written whole, and an existing one is replaced. By default the page is returned.
        min_cell : int, default=10
            Fewest people that any number may be about. Groups and thresholds are merged until that holds
            (:meth:`protected`). With 0 the page holds exact counts, which may single out people: do not pass it on.
        """
        page: str = self._report()[2](self.protected(min_cell))
        if path is None:
            return page
        write_atomically(path, page)
        return None


@dataclass(frozen=True)
class Provenance:
    """Where the numbers come from, as a report states it.

    ``title`` is usually a file name, ``sha256`` the hash of the file. ``groups`` and ``score`` are names of columns.
    ``label`` says who is qualified ("repaid = yes"), ``passes`` who passes screening ("score > 0.5"), ``persons`` how
    many people the rows are about, if they are fewer. ``warnings`` are possible problems of the data, ``note`` and
    ``dated`` what the author of the report adds. ``min_cell`` is the fewest people that any number is about (0: not
    protected), and ``merged`` has the names of the groups that each merged group stands for.
    ``conditions`` are those that the author stated, and whether they hold.
    """

    title: str = ""
    command: str = ""
    sha256: str = ""
    label: str = ""
    groups: str = ""
    score: str = ""
    passes: str = ""
    warnings: tuple[str, ...] = ()
    note: str = ""
    dated: str = ""
    persons: str = ""
    min_cell: int = 0
    merged: Mapping[str, list[str]] = field(default_factory=dict)
    conditions: tuple[tuple[str, bool], ...] = ()

    def of_merged(self, min_cell: int, merged: Mapping[str, list[str]]) -> Provenance:
        """The same for merged counts. Warnings do not say how many people a group has."""
        warnings = tuple(re.sub(r" \([\d,.]+(?: people)?\)", "", text) for text in self.warnings)
        return replace(self, warnings=warnings, min_cell=min_cell, merged=dict(merged))
