"""Where numbers come from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Provenance:
    """Where the numbers come from, as a report states it.

    Attributes
    ----------
    title : str
        What is audited, usually a file name.
    command : str
        What was typed to get here.
    sha256 : str
        Hash of the data file.
    label, groups, score : str
        Names of columns.
    warnings : tuple of str
        What looks wrong with the data.
    note : str
        What its maker wants the reader of a report to know.
    dated : str
        When the data are from, as people say it.
    """

    title: str = ""
    command: str = ""
    sha256: str = ""
    label: str = ""
    groups: str = ""
    score: str = ""
    warnings: tuple[str, ...] = ()
    note: str = ""
    dated: str = ""
