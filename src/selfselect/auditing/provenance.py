"""Where numbers come from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Provenance:
    """Where the numbers come from, as a report states it.

    ``title`` is usually a file name, ``sha256`` the hash of the file. ``label``, ``groups`` and ``score`` are names of
    columns, ``warnings`` possible problems of the data, ``note`` and ``dated`` what the author of the report adds.
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
