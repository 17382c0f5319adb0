"""Files that are written whole or not at all, and files of other people that are read within bounds."""

from __future__ import annotations

import json
import os
import secrets
from pathlib import Path
from typing import Any

#: A model of this package is never larger.
MOST_BYTES = 64 * 2**20
#: Names that are tried for a new file: each is taken once in 2**64 cases.
NAMES_TRIED = 10


def write_whole(path: str | Path, content: str | bytes) -> None:
    """Write a file under another name first and move it into place, so that no half of it is ever seen.

    An existing file is replaced. So is a link, by the file itself: what the link leads to is left alone, since somebody
    else may have put it there. The new file and its name are on disk when this returns; of several writers at once, one
    wins whole.
    """
    target = Path(os.path.abspath(path))
    data = content.encode("utf-8") if isinstance(content, str) else content
    handle, name = _open_new(target)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, target)
    except BaseException:
        os.unlink(name)
        raise
    _remember_names(target.parent)


def _open_new(target: Path) -> tuple[int, str]:
    """A new file beside another, with the permissions that people give to new files; never one that is there."""
    for _ in range(NAMES_TRIED):
        name = str(target.with_name(f".{target.name[:100]}.{secrets.token_hex(8)}"))
        try:
            return os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666), name
        except FileExistsError:
            continue
    raise FileExistsError(f"Found no new name beside {target}.")


def _remember_names(folder: Path) -> None:
    """See to it that a new name in a folder outlives a power cut, where the system can do that."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return  # folders cannot be opened on Windows
    try:
        os.fsync(handle)
    except OSError:
        pass  # nor told to keep their names by every file system
    finally:
        os.close(handle)


def read_json(path: str | Path, what: str = "model") -> Any:
    """Content of a JSON file of at most :data:`MOST_BYTES`; numbers that are none (NaN, Infinity) are refused.

    Raises
    ------
    ValueError
        If the file is absurdly large or not JSON, in words that say that it is no ``what``.
    """
    with open(path, "rb") as file:
        data = file.read(MOST_BYTES + 1)  # a size on disk says nothing about pipes and devices
    if len(data) > MOST_BYTES:
        raise ValueError(f"{path} is no {what}: it has more than {MOST_BYTES:,} bytes.")
    try:
        return json.loads(data.decode("utf-8"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is no {what}: it is not JSON ({error}). Pickles are never read.") from error


def _refuse_constant(name: str) -> float:
    raise ValueError(f"it holds {name}, which is no number")


#: What a damaged file may raise while it is taken apart.
DAMAGE = (KeyError, IndexError, TypeError, AttributeError, OverflowError)
