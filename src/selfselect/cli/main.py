"""The entry point: a group of subcommands."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from selfselect import __version__
from selfselect._errors import InputError

from .commands import SECTIONS
from .errors import BROKEN_PIPE, INTERRUPTED, BadInput, error_message


class Commands(click.Group):
    """Group that lists its subcommands in sections, and turns the library's errors into messages."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of all subcommands, in the order of the help."""
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the subcommands in sections."""
        for title, commands in SECTIONS.items():
            with formatter.section(title):
                limit = formatter.width - 16
                formatter.write_dl([(str(each.name), each.get_short_help_str(limit)) for each in commands])

    def invoke(self, ctx: click.Context) -> Any:
        """Run a subcommand. Errors about the input become a message and exit code 2.

        With SELFSELECT_DEBUG set in the environment they keep their traceback.
        """
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):  # a terminal's encoding may lack a character of a name
                stream.reconfigure(errors="backslashreplace")
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("Interrupted.", err=True)
            ctx.exit(INTERRUPTED)
        except BrokenPipeError:  # the reader has closed the pipe, as head does
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(BROKEN_PIPE)
        except (ValueError, TypeError, OSError, ImportError, MemoryError) as error:
            if os.environ.get("SELFSELECT_DEBUG"):
                raise
            if isinstance(error, MemoryError):
                raise BadInput("There is not enough memory for this. Leave out rows or columns.") from error
            command = self.get_command(ctx, ctx.invoked_subcommand or "")
            if isinstance(error, InputError) and command is not None:
                raise BadInput(error_message(error, command)) from error
            if isinstance(error, OSError) and error.filename is not None:
                raise BadInput(f"Cannot read or write {error.filename}: {error.strerror}.") from error
            raise BadInput(str(error)) from error


@click.group(
    cls=Commands,
    commands=[command for commands in SECTIONS.values() for command in commands],
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="selfselect")
def main() -> None:
    """Train and audit screening classifiers when people choose whether to apply."""
