"""``selfselect demo``."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import click

from selfselect._text import printable

from . import BadInput
from ._files import refuse_existing, write_whole
from ._inputs import check_report_available


@click.command()
@click.option("--report", metavar="HTML", help="Where to write the report [default: selfselect-demo.html, numbered].")
@click.option("--force", is_flag=True, help="Write over a report that exists.")
def demo(report: str | None, force: bool) -> None:
    """Show on bundled data what self-selection does to an ordinary screening model."""
    from selfselect.demo import run

    refuse_existing([report], force=force)
    found = run(click.echo)
    try:
        check_report_available()
    except BadInput as error:
        if report is not None:
            raise
        click.echo(f"\n{error.format_message()} Then this ends with a page to play with.")
        return
    target = Path(report) if report is not None else _free_name()
    write_whole(target, found.to_html(), force=force)
    click.echo(
        f"\nA page to play with: {printable(str(target))}"
        f"\nOpen it in any browser ({printable(target.resolve().as_uri())}); it needs no network."
    )


def _free_name() -> Path:
    names = (Path(f"selfselect-demo{'' if i == 1 else f'-{i}'}.html") for i in count(1))
    return next(name for name in names if not name.exists())
