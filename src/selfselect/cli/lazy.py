"""Declarations of commands are light, so that help and usage errors come at once; work is imported when it runs."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import click

from .starting import ends_at_once

#: Where the options of the running command are kept for the wording of errors; nested contexts share it.
GIVEN = "selfselect.given"


def work_of(command: str) -> Any:
    """Module of :mod:`selfselect.cli.work` that does what a command declares: its ``run`` takes the options."""
    context = click.get_current_context()
    context.meta[GIVEN] = context.params
    with ends_at_once():
        return import_module(f"{__package__}.work.{command}")
