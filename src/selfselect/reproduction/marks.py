"""Files that must not change while they are worked with."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field

from .._errors import InputError


@dataclass(frozen=True)
class FileMark:
    """How a file was when it was first looked at.

    Attributes
    ----------
    digest : str
        SHA-256 of its content.
    place : tuple of int
        Number, size and time of change as its file system has them: while these stay, so does the content.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     mark = FileMark.of(file.name)
    ...     before = mark.is_of(file.name)
    ...     _ = file.write(b"more"), file.flush()
    ...     before, mark.is_of(file.name)
    (True, False)
    """

    digest: str
    place: tuple[int, ...] = field(compare=False)

    @classmethod
    def of(cls, path: str) -> FileMark:
        """The mark of a file as it is."""
        place = _place(path)  # before it is read: what changes meanwhile is noticed later
        with open(path, "rb") as file:
            return cls(hashlib.file_digest(file, "sha256").hexdigest(), place)

    def is_of(self, path: str) -> bool:
        """Whether a file is as it was; it is read again only if it was touched."""
        try:
            return _place(path) == self.place or FileMark.of(path).digest == self.digest
        except OSError:
            return False  # gone

    def check(self, path: str) -> None:
        """Refuse a file that is not as it was.

        Raises
        ------
        InputError
            If it has changed, or is gone.
        """
        if not self.is_of(path):
            raise InputError(
                f"{path} has changed since it was first read: what comes out of it now does not belong to what came "
                "out before, and was not stored. Put the file back to go on; for the new one, choose another store.",
                key="store",
            )


def _place(path: str) -> tuple[int, ...]:
    found = os.stat(path)
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
