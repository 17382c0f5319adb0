"""What results share: text, JSON and a page, all made by :mod:`selfselect.report`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, overload

import pandas as pd

from .._files import write_atomically
from .._frames import few_rows
from .._text import escape_html, json_text


class Described(ABC):
    """A result that can be shown as sentences, as a table and as JSON."""

    @abstractmethod
    def to_frame(self) -> pd.DataFrame:
        """Table of the result."""

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
    """A result that can also be shown as an HTML page."""

    @overload
    def to_html(self, path: None = None) -> str: ...

    @overload
    def to_html(self, path: str | Path) -> None: ...

    def to_html(self, path: str | Path | None = None) -> str | None:
        """Report: one HTML page that needs nothing else. Needs the extra ``report``.

        Parameters
        ----------
        path : str or Path, optional
            File to write; it is written whole, and an existing one is replaced. By default the page is returned.
        """
        page: str = self._report()[2](self)
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
    ``dated`` what the author of the report adds.
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
