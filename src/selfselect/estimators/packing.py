"""Objects of scikit-learn as text within a model file, by skops: no pickles, nothing unknown, nothing beyond bounds.

skops writes an archive (zip) with a description and one file per array. It is stored as it is, compressed as a whole
and written in base64. On the way back every size is known before anything is taken apart.
"""

from __future__ import annotations

import base64
import math
import zlib
from io import BytesIO
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import numpy as np
import sklearn

from .._files import MOST_BYTES
from .._notices import warn
from .trusting import TRUSTED, check_parts, grow_again, without_leftovers

SCHEMA = 1
#: Uncompressed, the objects of a model are never larger.
MOST_UNPACKED = 4 * MOST_BYTES
#: Older versions of skops let crafted files run things.
OLDEST_SKOPS = (0, 16)
_DESCRIPTION = "schema.json"


def pack(objects: dict[str, Any], whose: str) -> dict[str, Any]:
    """Objects in JSON's own types.

    Parameters
    ----------
    objects : dict
        By name: estimators, fitted or not, and whatever else of scikit-learn's.
    whose : str
        What they belong to, for the words of an error.

    Raises
    ------
    TypeError
        If there is something that would not be read back.
    ValueError
        If it is too large to be read back.
    """
    skops = _skops()
    try:
        raw = skops.dumps(without_leftovers(objects), compression=ZIP_STORED)
    except Exception as error:  # whatever an object of another package makes of being looked into
        raise TypeError(
            f"This {whose} cannot be saved: skops cannot write what is inside ({type(error).__name__}: {error})."
        ) from error
    unknown = _unknown_types(skops, raw)
    if unknown:
        raise TypeError(
            f"This {whose} cannot be saved: inside there is {', '.join(unknown)}. Only scikit-learn's own estimators "
            "with scikit-learn's own parts are read back; use those, or fit again from your code instead of loading."
        )
    if len(raw) > MOST_UNPACKED:
        raise ValueError(f"This {whose} is too large to be saved: {len(raw):,} bytes, at most {MOST_UNPACKED:,}.")
    packed = {
        "schema": SCHEMA,
        "sklearn": sklearn.__version__,
        "bytes": len(raw),
        "data": base64.b64encode(zlib.compress(raw)).decode("ascii"),
    }
    try:
        unpack(packed)  # what cannot be read is noticed now, not when it is needed
    except ValueError as error:
        raise TypeError(f"This {whose} cannot be saved, as it could not be read back: {error}") from error
    return packed


def unpack(packed: Any) -> dict[str, Any]:
    """The way back.

    Raises
    ------
    ValueError
        If it is damaged, too large, or holds a type that is not trusted; nothing of it was run then.
    ImportError
        If skops is not installed.
    """
    if not isinstance(packed, dict) or set(packed) != {"schema", "sklearn", "bytes", "data"}:
        raise ValueError("It is damaged: its objects of scikit-learn lack or hold unknown parts.")
    if packed["schema"] != SCHEMA or packed["schema"] is True:
        raise ValueError(
            f"Its objects of scikit-learn have schema version {packed['schema']!r}; this version reads {SCHEMA}."
        )
    skops, version = _skops(), str(packed["sklearn"])
    raw = _inflate(packed["data"], packed["bytes"])
    try:
        _check_archive(raw)
        unknown = _unknown_types(skops, raw)
    except Exception as error:  # whatever a crafted file makes of those who read it
        raise _damaged(error, version) from error
    if unknown:
        raise ValueError(
            f"It holds what is not trusted: {', '.join(unknown)}. Nothing of it was run. Only scikit-learn's own "
            "estimators are read; if you know who made this file, have the model fitted again with those."
        )
    try:
        objects = skops.loads(raw, trusted=sorted(TRUSTED))
        if type(objects) is not dict:
            raise TypeError(f"a {type(objects).__name__} instead of names and objects")
        check_parts(objects)
        grow_again(objects)
    except Warning:  # of scikit-learn's about other versions, for those who turn warnings into errors
        raise
    except Exception as error:
        raise _damaged(error, version) from error
    _warn_of_version(version)
    return objects


def _skops() -> Any:
    """The functions of skops, of a version that can be relied upon."""
    try:
        import skops  # an extra: models with a logistic regression do without
        import skops.io
    except ImportError as error:
        raise ImportError(
            "Models with other estimators inside than a logistic regression are saved and loaded by skops: "
            "pip install 'selfselect[skops]'."
        ) from error
    if tuple(int(part) for part in skops.__version__.split(".")[:2]) < OLDEST_SKOPS:
        least = ".".join(map(str, OLDEST_SKOPS))
        raise ImportError(
            f"skops {skops.__version__} is too old to be safe: pip install 'selfselect[skops]' brings {least} or later."
        )
    return skops.io


def _unknown_types(skops: Any, raw: bytes) -> list[str]:
    return sorted(set(skops.get_untrusted_types(data=raw)) - TRUSTED)


def _damaged(error: Exception, version: str) -> ValueError:
    said = f"It is damaged: its objects of scikit-learn cannot be read ({type(error).__name__}: {error})."
    if _minor(version) != _minor(sklearn.__version__):
        said += f" Or scikit-learn {version}, which wrote them, had them otherwise; this is {sklearn.__version__}."
    return ValueError(said)


def _minor(version: str) -> list[str]:
    return version.split(".")[:2]


def _warn_of_version(version: str) -> None:
    if _minor(version) != _minor(sklearn.__version__):
        warn(
            f"The estimator in this model was fitted with scikit-learn {version}; this is {sklearn.__version__}. It "
            "may predict otherwise than it did: compare its predictions, or fit it again.",
            UserWarning,
        )


# ---------------------------------------------------------------------- sizes, before anything is taken apart


def _inflate(data: Any, size: Any) -> bytes:
    """Bytes of a text, which must be as many as it says and no more than allowed."""
    if type(size) is not int or size < 0 or not isinstance(data, str):
        raise ValueError("It is damaged: its objects of scikit-learn have no size, or are no text.")
    if size > MOST_UNPACKED:
        raise ValueError(f"Its objects of scikit-learn are too large: {size:,} bytes, at most {MOST_UNPACKED:,}.")
    stream = zlib.decompressobj()
    try:
        raw = stream.decompress(base64.b64decode(data, validate=True), size + 1)
    except (ValueError, zlib.error) as error:
        raise ValueError(f"It is damaged: its objects of scikit-learn are cut or changed ({error}).") from error
    if len(raw) != size or not stream.eof or stream.unused_data:
        raise ValueError("It is damaged: its objects of scikit-learn are of another size than it says.")
    return raw


def _check_archive(raw: bytes) -> None:
    """Refuse an archive that could grow: its files are stored as they are, and arrays have the sizes they declare."""
    with ZipFile(BytesIO(raw)) as archive:
        members = archive.infolist()
        names = {member.filename for member in members}
        if len(names) != len(members) or _DESCRIPTION not in names:
            raise ValueError("its archive has files of one name, or no description")
        if any(not _is_stored(member) for member in members) or sum(one.file_size for one in members) > len(raw):
            raise ValueError("its archive grows when it is read")
        if archive.getinfo(_DESCRIPTION).file_size > MOST_BYTES:
            raise ValueError(f"its description has more than {MOST_BYTES:,} bytes")
        room = MOST_UNPACKED
        for member in members:
            if member.filename != _DESCRIPTION:
                with archive.open(member) as file:
                    room -= _check_file(file, member.file_size, room)


def _is_stored(member: ZipInfo) -> bool:
    return member.compress_type == ZIP_STORED and member.file_size == member.compress_size and not member.flag_bits & 1


def _check_file(file: IO[bytes], size: int, room: int) -> int:
    """Check the sizes of an array, or of a matrix (an archive of arrays); what it takes when it is read."""
    start = file.read(6)
    file.seek(0)
    if start == b"\x93NUMPY":
        _check_array(file, size)
    if start[:2] != b"PK":
        return size
    with ZipFile(file) as matrix:
        parts = matrix.infolist()
        taken = sum(part.file_size for part in parts)
        if taken > room or any(part.compress_type not in (ZIP_STORED, ZIP_DEFLATED) for part in parts):
            raise ValueError(f"a matrix has more than {MOST_UNPACKED:,} bytes, or is packed in an unknown way")
        for part in parts:
            with matrix.open(part) as array:
                _check_array(array, part.file_size)
    return taken


def _check_array(file: IO[bytes], size: int) -> None:
    """Refuse an array that would take other memory than its file."""
    version = np.lib.format.read_magic(file)
    readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    if version not in readers:
        raise ValueError(f"an array has the unknown format {version}")
    shape, _, dtype = readers[version](file)
    if dtype.hasobject or math.prod(shape) * dtype.itemsize != size - file.tell():
        raise ValueError("an array is of another size than it says")
