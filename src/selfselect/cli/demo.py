"""``selfselect demo``."""

from __future__ import annotations

import click


@click.command()
def demo() -> None:
    """Show on bundled data what self-selection does to an ordinary screening model."""
    from selfselect.demo import run

    run(click.echo)
