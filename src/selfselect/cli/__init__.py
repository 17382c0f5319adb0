"""The command ``selfselect``: one module per subcommand, loaded when it is called."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

import click

from selfselect import __version__

#: Where each subcommand lives: a module of this package, with a click command of the same name.
COMMANDS = {
    "demo": "demo",
    "audit": "audit",
    "plan": "plan",
    "train": "train",
    "predict": "predict",
    "reproduce": "reproduce",
    "status": "status",
    "tables": "tables",
    "figures": "figures",
    "page": "page",
}

#: Exit codes: 0 fine, 1 a stated condition failed, 2 bad input or usage.
CONDITION_FAILED, BAD_INPUT = 1, 2
#: What the shell expects of a command that was interrupted: 128 and the number of the signal.
INTERRUPTED = 130


class BadInput(click.ClickException):
    """Wrong input: a message without a traceback, and exit code 2."""

    exit_code = BAD_INPUT


class LazyGroup(click.Group):
    """Group that imports a subcommand only when it is asked for, and turns wrong input into a message."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of all subcommands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of a subcommand."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(f"{__name__}.{COMMANDS[cmd_name]}"), cmd_name)
        return command

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
            raise BadInput(str(error)) from error
        except KeyboardInterrupt:
            click.echo("Interrupted.", err=True)
            ctx.exit(INTERRUPTED)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="selfselect")
def main() -> None:
    """Train and audit screening classifiers when people choose whether to apply."""
