"""Files that are written whole or not at all, and files of other people that are read within bounds."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

#: A model of this package is never larger.
MOST_BYTES = 64 * 2**20


def write_whole(path: str | Path, content: str | bytes) -> None:
    """Write a file under another name first and move it into place, so that no half of it is ever seen.

    An existing file is replaced; where the path is a link, the file that it leads to is.
    """
    target = Path(os.path.realpath(path))
    data = content.encode("utf-8") if isinstance(content, str) else content
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:100]}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, 0o666 & ~umask)
        os.replace(name, target)
    except BaseException:
        os.unlink(name)
        raise


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
