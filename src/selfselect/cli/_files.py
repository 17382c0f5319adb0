"""Output files: written whole or not at all, and never over an existing one unless asked."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from . import BadInput


def refuse_existing(paths: Iterable[str | Path | None], *, force: bool) -> None:
    """Complain before any work is done, rather than after it, about output files that are there already."""
    existing = [str(path) for path in paths if path is not None and Path(path).exists()]
    if existing and not force:
        raise BadInput(f"{', '.join(existing)} exists already; choose another name or pass --force.")


def write_whole(path: str | Path, content: str | bytes, *, force: bool) -> None:
    """Write a file under another name first and move it into place, so that no half of it is ever seen."""
    target = Path(path)
    refuse_existing([target], force=force)
    data = content.encode("utf-8") if isinstance(content, str) else content
    try:
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
    except OSError as error:
        raise BadInput(f"Cannot write {target}: {error.strerror or error}.") from error
