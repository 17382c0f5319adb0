"""Files that are written whole or not at all."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from ._validation import MAX_MAGNITUDE

#: Names of standard streams. Opened by name, a file behind one would be overwritten from its start.
STANDARD_STREAMS = {"/dev/stdout": 1, "/dev/stderr": 2}


def write_atomically(path: str | Path, content: str | bytes | Iterable[bytes]) -> None:
    """Write a file under a temporary name and rename it, so that nobody ever sees half of it.

    An existing file is replaced and keeps its permissions. A link is replaced by the file. A pipe or a device is
    written to directly.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_atomically(Path(folder, "a.txt"), "all of it")
    ...     Path(folder, "a.txt").read_text(), os.listdir(folder)
    ('all of it', ['a.txt'])
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
    except OSError as error:
        temporary.unlink(missing_ok=True)
        if error.filename != str(temporary):
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error  # the name that the caller knows
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def is_stream(path: str | Path) -> bool:
    """Whether a path is a pipe, a terminal, a device or a standard stream.

    Examples
    --------
    >>> is_stream(os.devnull), is_stream(".")
    (True, False)
    """
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return str(path) in STANDARD_STREAMS or stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)


# ---------------------------------------------------------------------- JSON models; goes when models are skops files

MOST_BYTES = 64 * 2**20
MOST_PARTS = 4_000_000
Part = TypeVar("Part")


def open_new(target: Path) -> tuple[int, str]:
    """A new file beside another."""
    name = str(target.with_name(f".{target.name[:40]}.{secrets.token_hex(8)}"))
    return os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), name


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
    if not abs(value) <= MAX_MAGNITUDE:  # nor does NaN
        raise WrongPartError(where, f"is {_told(value)}, too large to compute with (at most {MAX_MAGNITUDE:g})")
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
