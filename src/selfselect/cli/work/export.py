"""What ``selfselect export`` does."""

from __future__ import annotations

import click

from selfselect._errors import InputError
from selfselect._text import printable
from selfselect.reproduction import Store
from selfselect.reproduction.sweep.exchange import exported

from ..outputs import refuse_existing, write_output


def run(*, path: str, out: str, datasets: tuple[str, ...], methods: tuple[str, ...], force: bool) -> None:
    """Write results of a store to a file."""
    refuse_existing([out], force=force, inputs=[path])
    with Store(path, read_only=True) as store:
        chosen = [
            result
            for result in store.results()
            if result.cell.dataset in (datasets or (result.cell.dataset,))
            and result.cell.method in (methods or (result.cell.method,))
        ]
    if not chosen:
        raise InputError(f"{printable(path)} has no such result.", key="no_results", path=path)
    write_output(out, exported(chosen, compress=out.endswith(".gz")), force=force)
    click.echo(f"Wrote {len(chosen)} results to {printable(out)}.")
