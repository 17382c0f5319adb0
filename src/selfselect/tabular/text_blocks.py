"""Bytes of a CSV file as blocks of UTF-8 that end where a row ends."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

import numpy as np

#: A line longer than this is no line of a table (a quote that never closes, a binary file).
LONGEST_LINE = 2**24
#: Encodings by the byte-order mark at the start of a file; the longer marks first.
MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
#: What is not UTF-8 is most often this: older programs write it in western languages.
FALLBACK_ENCODING = "cp1252"
#: What a byte becomes that is not of the encoding.
UNDECODED = re.compile("[\udc80-\udcff]")
NEWLINE, QUOTE = b'\n"'


class Utf8Text:
    """Text of a file as UTF-8, block by block. Bytes that are not of the encoding stay as they are.

    With ``auto``, the encoding is what the byte-order mark says, else UTF-8; if the first block with characters beyond
    ASCII has none of UTF-8, it is :data:`FALLBACK_ENCODING`, which is ``guessed``. The text is ``valid`` as long as all
    bytes are of the encoding.
    """

    def __init__(self, blocks: Iterator[bytes], encoding: str = "auto") -> None:
        self._blocks = blocks
        self._first = b""
        while len(self._first) < 4 and (block := next(blocks, b"")):
            self._first += block
        self._open = encoding == "auto"  # whether the encoding may still turn out to be another
        self.guessed, self.valid = False, True
        if self._open:
            marked = [name for mark, name in MARKS if self._first.startswith(mark)]
            self._open = not marked
            encoding = marked[0] if marked else "utf-8"
        self.encoding = encoding
        self._decoder = codecs.getincrementaldecoder(encoding)("surrogateescape")

    def described(self) -> str:
        """The encoding, for a note."""
        return f"the encoding {self.encoding}" + (" (a guess: it is not UTF-8)" if self.guessed else "")

    def __iter__(self) -> Iterator[bytes]:
        """Blocks of UTF-8; the last one may be empty."""
        block, self._first = self._first, b""
        is_first = self.encoding != "utf-8"
        block = block if is_first else block.removeprefix(codecs.BOM_UTF8)
        while block:
            text = self._converted(block, final=False)
            if is_first and text:
                text, is_first = text.removeprefix("\ufeff".encode()), False
            yield text
            block = next(self._blocks, b"")
        yield self._converted(b"", final=True)

    def _converted(self, data: bytes, *, final: bool) -> bytes:
        held = self._decoder.getstate()[0]
        if self.encoding == "utf-8" and not held and data.isascii():
            return data
        text = self._decoder.decode(data, final)
        is_decisive = self._open and not text.isascii()
        self._open = self._open and not is_decisive
        try:
            return text.encode()
        except UnicodeEncodeError:
            converted = text.encode("utf-8", "surrogateescape")
        if is_decisive and UNDECODED.sub("", text).isascii():  # not a single character of UTF-8 among them
            try:
                other = (held + data).decode(FALLBACK_ENCODING)
            except UnicodeDecodeError:
                pass  # neither: the error names the row
            else:
                self.encoding, self.guessed = FALLBACK_ENCODING, True
                self._decoder = codecs.getincrementaldecoder(FALLBACK_ENCODING)("surrogateescape")
                return other.encode()
        self.valid = False
        return converted


def whole_rows(text: Utf8Text) -> Iterator[bytes]:
    r"""Blocks of UTF-8 that end where a row ends, as far as quotes tell; a line that is too long ends anywhere.

    Examples
    --------
    >>> list(whole_rows(Utf8Text(iter([b'a,b\n1,"x\n', b'y"\n3']))))
    [b'a,b\n', b'1,"x\ny"\n', b'3']
    """
    held = b""
    for block in text:
        held += block
        end = _end_of_rows(held)
        if not end and len(held) >= LONGEST_LINE:
            end = held.rfind(b"\n") + 1 or len(held)
        if end:
            yield held[:end]
            held = held[end:]
    if held:
        yield held


def _end_of_rows(data: bytes) -> int:
    """Where the last row ends: at a line end after an even number of quotes; 0 if there is none."""
    sign = b"\n" if b"\n" in data else b"\r"
    end = data.rfind(sign, 0, len(data) if sign == b"\n" else max(len(data) - 1, 0)) + 1
    quotes = data.count(b'"', 0, end) if b'"' in data else 0
    while end and quotes % 2:
        before = data.rfind(sign, 0, end - 1) + 1
        quotes -= data.count(b'"', before, end)
        end = before
    return end


def has_blank_lines(block: bytes, n_rows: int) -> bool:
    """Whether there are blank lines in a block of so many rows that does not end with a line end."""
    if b"\r" not in block and np.count_nonzero(np.frombuffer(block, dtype=np.uint8) == NEWLINE) + 1 == n_rows:
        return False
    return block[:1] in (b"\n", b"\r") or any(pair in block for pair in (b"\n\n", b"\n\r", b"\r\r"))


def is_regular(block: bytes, delimiter: str) -> bool:
    r"""Whether pyarrow reads a block as it is meant: quotes surround whole cells, within which they are doubled.

    Examples
    --------
    >>> is_regular(b'1,"a""b"\n', ","), is_regular(b'1,"a"b\n', ","), is_regular(b'1,a "b"\n', ",")
    (True, False, False)
    """
    if b"\0" in block or block.startswith(codecs.BOM_UTF8):  # pyarrow would leave out a mark within the file
        return False
    if b'"' not in block:
        return True
    signs = np.frombuffer(block, dtype=np.uint8)
    quotes = np.flatnonzero(signs == QUOTE)
    if len(quotes) % 2:
        return False
    opening, closing = quotes[::2], quotes[1::2]
    ends_cell = np.zeros(256, dtype=bool)
    ends_cell[[*b"\n\r", ord(delimiter)]] = True
    doubled = closing[:-1] + 1 == opening[1:]
    begun = ends_cell[signs[opening - 1]] | (opening == 0)
    begun[1:] |= doubled
    ended = ends_cell[signs[np.minimum(closing + 1, len(signs) - 1)]] | (closing == len(signs) - 1)
    ended[:-1] |= doubled
    return bool(begun.all() and ended.all())
