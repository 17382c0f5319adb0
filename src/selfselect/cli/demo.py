"""``selfselect demo``."""

from __future__ import annotations

from typing import Any

import click

from .lazy import work_of


@click.command()
@click.option("--report", metavar="HTML", help="Where to write the report [default: selfselect-demo.html, numbered].")
@click.option("--force", is_flag=True, help="Write over a report that exists.")
def demo(**options: Any) -> None:
    """Show on bundled data what self-selection does to an ordinary screening model."""
    work_of("demo").run(**options)
