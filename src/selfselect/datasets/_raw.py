"""The raw tables that ship with the package."""

from __future__ import annotations

import hashlib
import lzma
from importlib import resources
from importlib.resources.abc import Traversable
from io import BytesIO

SHA256 = {
    "adult.data": "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
    "adult.test": "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
    "bank-full.csv": "d1513ec63b385506f7cfce9f2c5caa9fe99e7ba4e8c3fa264b3aaf0f849ed32d",
}


class BrokenDataFileError(OSError):
    """A bundled data file is missing or is not the file it should be."""


def read_raw(name: str, folder: Traversable | None = None) -> BytesIO:
    """Decompress a bundled table and check that it is the original."""
    path = (folder or resources.files(__package__) / "raw") / f"{name}.xz"
    try:
        content = lzma.decompress(path.read_bytes())
    except (OSError, lzma.LZMAError, EOFError) as error:
        raise BrokenDataFileError(
            f"Cannot read the bundled data file {path.name}: {error}. Reinstall selfselect."
        ) from error
    checksum = hashlib.sha256(content).hexdigest()
    if checksum != SHA256[name]:
        raise BrokenDataFileError(
            f"The bundled data file {path.name} is not the original: its SHA-256 is {checksum}, "
            f"expected {SHA256[name]}. Reinstall selfselect."
        )
    return BytesIO(content)
