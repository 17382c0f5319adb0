"""Declarations of commands are light, so that help and usage errors come at once; work is imported when it runs."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def work_of(command: str) -> Any:
    """Module of :mod:`selfselect.cli.work` that does what a command declares: its ``run`` takes the options."""
    return import_module(f"{__package__}.work.{command}")
