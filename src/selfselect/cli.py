"""The command ``selfselect``."""

from __future__ import annotations

import click

from . import __version__


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="selfselect")
def main() -> None:
    """Train and audit screening classifiers when people choose whether to apply."""


@main.command()
def demo() -> None:
    """Show on bundled data what self-selection does to an ordinary screening model."""
    from .demo import run

    run(click.echo)
