"""What ``selfselect page`` does."""

from __future__ import annotations

import click

from selfselect._text import printable
from selfselect.reproduction import Store
from selfselect.reproduction.paper.own_page import comparison_page
from selfselect.reproduction.paper.page import reproduction_page
from selfselect.reproduction.sweep.exchange import read_all
from selfselect.reproduction.wording import is_ones_own

from ..outputs import refuse_existing, write_output


def run(*, path: str, beside: tuple[str, ...], out: str, force: bool) -> None:
    """Write the page of the reproduction."""
    refuse_existing([out], force=force, inputs=[path, *beside])
    more = read_all(beside)
    with Store(path, read_only=True) as store:
        there = {result.cell.dataset for result in (*store.results(), *more)}
        text = comparison_page(store) if there and is_ones_own(there) else reproduction_page(store, more=more)
    write_output(out, text, force=force)
    click.echo(f"Wrote {printable(out)}.")
