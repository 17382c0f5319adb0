"""The terminal as it is: pipes that close, and encodings that lack a character, end no command and lose no file."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import click

from selfselect._text import printable

from .errors import BadInput


class PatientStream:
    """A text stream that goes on in silence once nobody reads it, so that the command ends with its true exit code.

    Parameters
    ----------
    stream : text file
        Where texts go; characters that its encoding lacks are written as escapes.
    errors : bool, default=False
        Whether it is where errors are told. Nowhere is left to tell that these cannot be written, and they are lost in
        silence. Other texts that cannot be written are an error, from the first of them on.
    closed : bool, default=False
        Whether there was no such stream when we came, and texts go nowhere.
    """

    def __init__(self, stream: Any, *, errors: bool = False, closed: bool = False) -> None:
        self._stream, self._errors, self.was_closed = stream, errors, closed
        self._trouble: OSError | None = None
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write a text, or lose it if nobody reads."""
        with self._losses_borne():
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Hand over what was written, or lose it if nobody reads."""
        with self._losses_borne():
            self._stream.flush()

    def write_bytes(self, pieces: Iterable[bytes]) -> None:
        """Write bytes as they are, or lose them if nobody reads."""
        with self._losses_borne():
            self._stream.flush()
            for piece in pieces:
                self._stream.buffer.write(piece)
            self._stream.buffer.flush()

    @contextmanager
    def _losses_borne(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            # what is still in buffers must go somewhere, or Python complains at its end
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())
            os.close(nowhere)
            if error.errno != errno.EPIPE and not self._errors:
                self._trouble = error
        if self._trouble is not None:  # again and again: click tries streams out, and does not listen
            raise BadInput(f"Cannot write the output: {self._trouble.strerror or self._trouble}.")


@contextmanager
def patient_streams() -> Iterator[None]:
    """Output and errors to streams that outlive their readers."""
    before = sys.stdout, sys.stderr
    with ExitStack() as nowhere:
        for name, stream in zip(("stdout", "stderr"), before, strict=True):
            closed = stream is None
            if closed:
                stream = nowhere.enter_context(open(os.devnull, "w", encoding="utf-8"))
            setattr(sys, name, PatientStream(stream, errors=name == "stderr", closed=closed))
        try:
            yield
        finally:
            for stream in (sys.stdout, sys.stderr):
                with suppress(BadInput):  # which was said before
                    stream.flush()
            sys.stdout, sys.stderr = before


def print_json(text: str) -> None:
    """JSON that was asked for; what the terminal's encoding lacks is escaped as JSON does it."""
    _refuse_closed()
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        text = "".join(char if char.isascii() else _escaped(char) for char in text)
    click.echo(text, nl=False)


def _escaped(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))


def print_table(pieces: Iterable[bytes]) -> None:
    """A table that was asked for: to a file or another program byte by byte; a terminal gets it harmless."""
    _refuse_closed()
    if isinstance(sys.stdout, PatientStream) and not sys.stdout.isatty():
        sys.stdout.write_bytes(pieces)
    else:
        for piece in pieces:
            click.echo("\n".join(printable(line) for line in piece.decode().split("\n")), nl=False)


def _refuse_closed() -> None:
    """Say so where results were to go nowhere; words may, since files are there without them."""
    if getattr(sys.stdout, "was_closed", False):
        raise BadInput("Cannot write the output: standard output is closed.")
