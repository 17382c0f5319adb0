"""The entry: a group of subcommands, each in a module of its own."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

import click

from selfselect import __version__
from selfselect._errors import InputError

from .errors import BadInput, worded
from .lazy import GIVEN
from .starting import INTERRUPTED
from .streams import patient_streams

#: Subcommands, in the order of the help: each a module of this package with a click command of the same name.
COMMANDS = (
    "demo",
    "check",
    "audit",
    "plan",
    "frontier",
    "compare",
    "train",
    "predict",
)


class LazyGroup(click.Group):
    """Group that imports a subcommand only when it is asked for, and turns wrong input into a message."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of all subcommands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of a subcommand."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(f"{__package__}.{cmd_name}"), cmd_name)
        return command

    def main(self, *args: Any, **options: Any) -> Any:
        """Run the command with output that a closed pipe or a poor encoding does not stop."""
        with patient_streams():
            return super().main(*args, **options)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a subcommand; the library's complaints about input are for the user, not for a debugger.

        With SELFSELECT_DEBUG set in the environment they keep their traceback.
        """
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # whoever reads our output has read enough; click ends quietly
            raise
        except (ValueError, TypeError, OSError) as error:
            if os.environ.get("SELFSELECT_DEBUG"):
                raise
            command = self.get_command(ctx, ctx.invoked_subcommand or "")
            if isinstance(error, InputError) and command is not None:
                raise BadInput(worded(error, command, ctx.meta.get(GIVEN))) from error
            raise BadInput(str(error)) from error
        except MemoryError as error:
            if os.environ.get("SELFSELECT_DEBUG"):
                raise
            advice = "Leave out rows and columns that are not needed, or take a machine with more of it."
            raise BadInput(f"There is not enough memory for this. {advice}") from error
        except KeyboardInterrupt:
            click.echo("Interrupted.", err=True)
            ctx.exit(INTERRUPTED)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="selfselect")
def main() -> None:
    """Train and audit screening classifiers when people choose whether to apply."""
