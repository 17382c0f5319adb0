"""What ``selfselect page`` does."""

from __future__ import annotations

import click

from selfselect.reproduction import Store
from selfselect.reproduction.paper.page import reproduction_page

from ..outputs import refuse_existing, write_output


def run(*, path: str, out: str, force: bool) -> None:
    """Write the page of the reproduction."""
    refuse_existing([out], force=force)
    with Store(path, create=False) as store:
        text = reproduction_page(store)
    write_output(out, text, force=force)
    click.echo(f"Wrote {out}.")
