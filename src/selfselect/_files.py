"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
import stat
from collections.abc import Iterable
from pathlib import Path

#: Names of standard streams. Opened by name, a file behind one would be overwritten from its start.
STANDARD_STREAMS = {"/dev/stdout": 1, "/dev/stderr": 2}


def write_atomically(path: str | Path, content: str | bytes | Iterable[bytes]) -> None:
    """Write a file under a temporary name and rename it, so that it is there whole or not at all.

    An existing file is replaced and keeps its permissions. A link is replaced by the file. A pipe or a device is
    written to directly.
    """
    path = Path(path)
    data = content.encode("utf-8") if isinstance(content, str) else content
    chunks = [data] if isinstance(data, bytes) else data
    if is_stream(path):
        number = STANDARD_STREAMS.get(str(path))
        with open(path if number is None else os.dup(number), "wb") as stream:
            stream.writelines(chunks)
        return
    temporary = path.with_name(f".{path.name[:40]}.{secrets.token_hex(8)}")
    try:
        with open(temporary, "xb") as file:
            if path.is_file() and not path.is_symlink():
                shutil.copymode(path, temporary)
            file.writelines(chunks)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise OSError(error.errno, error.strerror, str(path)) from error  # the name that the caller knows
        raise


def is_stream(path: str | Path) -> bool:
    """Whether a path is a pipe, a terminal, a device or a standard stream."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return str(path) in STANDARD_STREAMS or stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)
