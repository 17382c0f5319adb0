"""The entry point: a group of subcommands, each in a module of its own."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Any

import click

from selfselect import __version__
from selfselect._errors import InputError

from .errors import BROKEN_PIPE, INTERRUPTED, BadInput, error_message

#: Subcommands by section of the help. Each is a module of this package with a click command of the same name.
SECTIONS = {
    "Start here": ("demo", "check", "audit"),
    "Decide": ("plan", "frontier", "compare"),
    "Models": ("train", "predict"),
}
COMMANDS = tuple(name for names in SECTIONS.values() for name in names)


class LazyGroup(click.Group):
    """Group that imports a subcommand when it is needed, and turns the library's errors into messages."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of all subcommands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of a subcommand."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(f"{__package__}.{cmd_name}"), cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the subcommands in sections."""
        for title, names in SECTIONS.items():
            with formatter.section(title):
                commands = [(name, self.get_command(ctx, name)) for name in names]
                limit = formatter.width - 16
                formatter.write_dl([(name, command.get_short_help_str(limit)) for name, command in commands if command])

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


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="selfselect")
def main() -> None:
    """Train and audit screening classifiers when people choose whether to apply."""
