"""``selfselect template``."""

from __future__ import annotations

import click

from selfselect._files import write_atomically
from selfselect._text import printable
from selfselect.tabular.excel import template_bytes

from .outputs import check_files


def run(xlsx: str, decisions: bool, force: bool) -> None:
    """Write a workbook to fill in."""
    check_files({"xlsx": xlsx}, force=force)
    write_atomically(xlsx, template_bytes(decisions=decisions))
    name = printable(xlsx)
    click.echo(f"Wrote {name}. Fill in its sheets people and settings, then: selfselect audit {name}")
