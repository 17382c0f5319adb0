"""Bytes of a CSV file as text: decoded as they come, in blocks that end with a line, and never more than is allowed."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from .errors import TableError

#: A line longer than this is no line of a table (a quote that never closes, a binary file).
LONGEST_LINE = 16 * 2**20
#: Bytes that are read at a time.
BLOCK_BYTES = 2**19
#: What a byte becomes that the encoding does not know.
UNDECODED = re.compile("[\udc80-\udcff]")
#: Encodings by the mark that a file begins with; the longer marks first.
MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
#: What is not UTF-8 is most often this: what older programs write in western languages.
GUESS = "cp1252"

#: Makes the complaint about a file that holds more than is allowed.
TooLarge: TypeAlias = Callable[[int], TableError]


class Bounded:
    """Bytes of a file that is decompressed as it is read, up to a limit.

    Parameters
    ----------
    source : binary file
        Decompresses.
    most : int
        Bytes that may come out of it.
    too_large : callable
        Makes the complaint, from the limit.
    """

    def __init__(self, source: Any, most: int, too_large: TooLarge) -> None:
        self._source, self._most, self._too_large = source, most, too_large
        self._read = 0

    def read(self, size: int) -> bytes:
        """The next bytes."""
        data: bytes = self._source.read(size)
        self._read += len(data)
        if self._read > self._most:
            raise self._too_large(self._most)
        return data


class Decoded:
    """Text of a binary file, piece by piece; bytes that the encoding does not know become lone surrogates.

    Parameters
    ----------
    binary : binary file
        Its bytes, decompressed.
    encoding : str
        A name that Python knows, or ``auto``: what the mark at the start says, else UTF-8; if the first bytes beyond
        ASCII are not UTF-8 at all, :data:`GUESS`.

    Attributes
    ----------
    encoding : str
        The one that is used, so far as is known.
    guessed : bool
        Whether nothing but the bytes speaks for it.
    """

    def __init__(self, binary: Any, encoding: str = "auto") -> None:
        self._binary = binary
        self._open = encoding == "auto"  # whether it may still turn out to be another
        self.guessed = False
        self._start = b""
        if self._open:
            while len(self._start) < 4 and (more := binary.read(4 - len(self._start))):
                self._start += more
            marked = [name for mark, name in MARKS if self._start.startswith(mark)]
            self._open = not marked
            encoding = marked[0] if marked else "utf-8"
        self.encoding = encoding
        self._decoder = codecs.getincrementaldecoder(encoding)("surrogateescape")

    def __iter__(self) -> Iterator[str]:
        """The pieces; none is empty."""
        first = True
        for data, final in self._data():
            text = self._guess(data, final) if self._open else self._decoder.decode(data, final)
            if first and text:
                text, first = text.removeprefix("\ufeff"), False
            if text:
                yield text

    def _data(self) -> Iterator[tuple[bytes, bool]]:
        data = self._start
        while more := self._binary.read(BLOCK_BYTES):
            yield data + more, False
            data = b""
        yield data, True

    def _guess(self, data: bytes, final: bool) -> str:
        """Decode while all that came before was ASCII, which is the same in every encoding that can be meant."""
        held = self._decoder.getstate()[0]
        text = self._decoder.decode(data, final)
        if text.isascii():
            return text
        self._open = False
        if undecoded(text) and UNDECODED.sub("", text).isascii():  # not a single character of UTF-8 among them
            try:
                other = (held + data).decode(GUESS)
            except UnicodeDecodeError:
                return text  # neither: the complaint says where
            self.encoding, self.guessed = GUESS, True
            self._decoder = codecs.getincrementaldecoder(GUESS)("surrogateescape")
            return other
        return text


def undecoded(text: str) -> bool:
    """Whether a text holds bytes that its encoding does not know."""
    if text.isascii():
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def whole_lines(pieces: Decoded) -> Iterator[str]:
    r"""Blocks of text that end where a line ends; the last one, and a line that is too long, end anywhere.

    A carriage return and the newline after it are never parted.

    Examples
    --------
    >>> import io
    >>> list(whole_lines(Decoded(io.BytesIO(b"a,b\n1,2\n3"))))
    ['a,b\n1,2\n', '3']
    """
    parts: list[str] = []
    size = 0
    for piece in pieces:
        parts.append(piece)
        size += len(piece)
        end = _last_line_end(piece)
        if end or size >= LONGEST_LINE:
            block = "".join(parts)
            end = len(block) - len(piece) + end if end else _last_line_end(block) or len(block)
            yield block[:end]
            parts, size = [block[end:]], len(block) - end
    rest = "".join(parts)
    if rest:
        yield rest


def _last_line_end(text: str) -> int:
    """Where the last line that surely ends here ends; 0 if none does."""
    return text.rfind("\n") + 1 or text.rfind("\r", 0, max(len(text) - 1, 0)) + 1
