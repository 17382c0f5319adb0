"""Files that are written whole or not at all, and files of other people that are read within bounds."""

from __future__ import annotations

import errno
import json
import os
import secrets
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from ._validation import LARGEST

#: A model of this package is never larger.
MOST_BYTES = 64 * 2**20
#: Nor has it more parts (numbers, texts, lists, objects), each of which takes far more memory than it has letters.
MOST_PARTS = 4_000_000
#: Names that are tried for a new file: each is taken once in 2**64 cases.
NAMES_TRIED = 10
#: Letters of a file's name that are in the name of the new one beside it: names may have 255 bytes, four to a letter.
NAME_KEPT = 40
#: Links that are followed one after the other, as systems do.
MOST_LINKS = 40
#: Descriptors that output goes to; other open files of the process are nobody's to write to.
OUTPUTS = (1, 2)

Part = TypeVar("Part")


def write_whole(path: str | Path, content: str | bytes | Iterable[bytes]) -> None:
    """Write a file under another name first and move it into place, so that no half of it is ever seen.

    An existing file is replaced. So is a link, by the file itself: what the link leads to is left alone, since somebody
    else may have put it there. A file that others may not read stays one. The new file and its name are on disk when
    this returns; of several writers at once, one wins whole.

    What is no file of a folder (see :func:`is_stream`) is written to and stays what it is.
    """
    target = Path(os.path.abspath(path))
    data = content.encode("utf-8") if isinstance(content, str) else content
    pieces = [data] if isinstance(data, bytes) else data
    if is_stream(target):
        with os.fdopen(_opened_stream(target), "wb") as stream:
            stream.writelines(pieces)
        return
    with _errors_about(path):
        _replace(target, pieces)
    _remember_names(target.parent)


def _replace(target: Path, pieces: Iterable[bytes]) -> None:
    if target.is_dir() and not target.is_symlink():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    handle, name = open_new(target)
    try:
        with os.fdopen(handle, "wb") as file:
            _keep_private(file.fileno(), target)
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, target)
    except BaseException:
        os.unlink(name)
        raise


@contextmanager
def _errors_about(path: str | Path) -> Iterator[None]:
    """Errors of the system that name the file that was asked for, not the one beside it."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error


def _keep_private(handle: int, target: Path) -> None:
    """Let nobody read or write a new file who might not do so with the one that it replaces."""
    try:
        before = os.lstat(target).st_mode
    except OSError:
        return  # there is none
    if stat.S_ISREG(before) and hasattr(os, "fchmod"):
        os.fchmod(handle, stat.S_IMODE(os.fstat(handle).st_mode) & stat.S_IMODE(before))


def is_stream(path: str | Path) -> bool:
    """Whether a name leads to a pipe, a terminal or a device, or to whatever our own output goes to (``/dev/stdout``).

    Examples
    --------
    >>> is_stream(os.devnull), is_stream(".")
    (True, False)
    """
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or _own_descriptor(path) in OUTPUTS


def _opened_stream(path: Path) -> int:
    own = _own_descriptor(path)  # opened by its name, a file would be written from its beginning again
    return os.open(path, os.O_WRONLY | getattr(os, "O_BINARY", 0)) if own is None else os.dup(own)


def _own_descriptor(path: str | Path) -> int | None:
    """Number of the open file of this process that a name, or the end of its links, stands for; None if it does not."""
    name = os.fspath(path)
    for _ in range(MOST_LINKS):
        folder, last = os.path.realpath(os.path.dirname(name)), os.path.basename(name)
        if folder in (f"/proc/{os.getpid()}/fd", "/dev/fd"):
            return int(last) if last.isdecimal() else None
        try:
            name = os.path.join(folder, os.readlink(os.path.join(folder, last)))
        except OSError:
            return None  # no link any more
    return None


def open_new(target: Path) -> tuple[int, str]:
    """A new file beside another, with the permissions that people give to new files; never one that is there."""
    for _ in range(NAMES_TRIED):
        name = str(target.with_name(f".{target.name[:NAME_KEPT]}.{secrets.token_hex(8)}"))
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
    """Content of a JSON file of at most :data:`MOST_BYTES` and :data:`MOST_PARTS`.

    Numbers that are none (NaN, Infinity) are refused, and so are keys that an object holds twice, of which other
    programs would read one or the other.

    Raises
    ------
    ValueError
        If the file is absurdly large or not JSON, in words that say that it is no ``what``.
    """
    with open(path, "rb") as file:
        data = file.read(MOST_BYTES + 1)  # a size on disk says nothing about pipes and devices
    if len(data) > MOST_BYTES:
        raise ValueError(f"{path} is no {what}: it has more than {MOST_BYTES:,} bytes.")
    if sum(map(data.count, (b",", b"[", b"{"))) > MOST_PARTS:
        raise ValueError(f"{path} is no {what}: it has more than {MOST_PARTS:,} parts.")
    repeating: list[_Repeating] = []
    try:
        content = json.loads(
            data.decode("utf-8"),
            parse_constant=_refuse_constant,
            object_pairs_hook=lambda pairs: _made(pairs, repeating),
        )
        where = next(_repeated_keys(content, "")) if repeating else None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is no {what}: it is not JSON ({error}). Pickles are never read.") from error
    if where is not None:
        raise ValueError(f"{path} is no {what} that can be relied on: it holds {where} twice.")
    return content


def _refuse_constant(name: str) -> float:
    raise ValueError(f"it holds {name}, which is no number")


class _Repeating(list[tuple[str, Any]]):
    """The keys and values of an object of a JSON file that holds a key twice."""


def _made(pairs: list[tuple[str, Any]], repeating: list[_Repeating]) -> Any:
    """An object from its keys and values; where one repeats, all of them, and noted."""
    made = dict(pairs)
    if len(made) == len(pairs):
        return made
    repeating.append(_Repeating(pairs))
    return repeating[-1]


def _repeated_keys(content: Any, where: str) -> Iterator[str]:
    """Paths of keys that are there twice."""
    if isinstance(content, _Repeating):
        times = Counter(key for key, _ in content)
        yield from (inside(where, key) for key in times if times[key] > 1)
    elif isinstance(content, dict):
        for key, value in content.items():
            yield from _repeated_keys(value, inside(where, key))
    elif isinstance(content, list):
        for i, value in enumerate(content):
            yield from _repeated_keys(value, inside(where, i))


# ---------------------------------------------------------------------- values of such a file


class WrongPartError(ValueError):
    """A part of a file that is not what it must be.

    Parameters
    ----------
    path : str
        Where it is, as keys and positions.
    problem : str
        What is wrong, after the path.
    """

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"It is damaged: {path} {problem}.")
        self.path, self.problem = path, problem

    def within(self, outer: str) -> WrongPartError:
        """The same, of a file that holds this one in a part of its own."""
        return WrongPartError(inside(outer, self.path), self.problem)


def inside(where: str, key: str | int) -> str:
    """Path of a key or position inside another path.

    Examples
    --------
    >>> inside(inside("fitted", "coef"), 3), inside("", "schema")
    ('fitted.coef[3]', 'schema')
    """
    if isinstance(key, int):
        return f"{where}[{key}]"
    shown = key if key.isprintable() and len(key) <= 60 else repr(key[:60])
    return f"{where}.{shown}" if where else shown


def number_at(value: Any, where: str) -> float:
    """A number of a file that can be computed with: no text, no truth value, and of no absurd size.

    Examples
    --------
    >>> number_at(3, "fitted.intercept")
    3.0
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise WrongPartError(where, f"is {_told(value)}, not a number")
    if not abs(value) <= LARGEST:  # nor does NaN
        raise WrongPartError(where, f"is {_told(value)}, too large to compute with (at most {LARGEST:g})")
    return float(value)


def numbers_at(values: Any, where: str) -> list[float]:
    """A list of such numbers."""
    return _all_at(values, where, number_at, "numbers")


def truth_at(value: Any, where: str) -> bool:
    """Yes or no of a file; nothing else stands for either."""
    if not isinstance(value, bool):
        raise WrongPartError(where, f"is {_told(value)}, neither true nor false")
    return value


def truths_at(values: Any, where: str) -> list[bool]:
    """A list of yes and no."""
    return _all_at(values, where, truth_at, "true and false")


def text_at(value: Any, where: str) -> str:
    """A text of a file."""
    if not isinstance(value, str):
        raise WrongPartError(where, f"is {_told(value)}, not a text")
    return value


def texts_at(values: Any, where: str) -> list[str]:
    """A list of texts."""
    return _all_at(values, where, text_at, "texts")


def _all_at(values: Any, where: str, each: Callable[[Any, str], Part], called: str) -> list[Part]:
    """A list of a file; a text is none, though it has letters."""
    if not isinstance(values, list | tuple):
        raise WrongPartError(where, f"is {_told(values)}, not a list of {called}")
    return [each(value, inside(where, i)) for i, value in enumerate(values)]


def _told(value: Any) -> str:
    try:
        text = repr(value)
    except ValueError:  # a whole number of more digits than Python writes
        text = "a number of thousands of digits"
    return text if len(text) <= 40 else text[:37] + "..."


#: What a damaged file may raise while it is taken apart.
DAMAGE = (KeyError, IndexError, TypeError, AttributeError, OverflowError)
