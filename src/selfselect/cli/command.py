"""A subcommand: all usage errors at once, and options in sections of the help."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import click

#: Sections of the help with the options that belong there, in this order; all others are under "Further options".
SECTIONS = {
    "Columns and groups": "label positive group unknown missing bands person weight untested same-people ignore score "
    "threshold lower-passes prediction prediction-positive use-group",
    "Cost, subsidies and money": "cost cost-of costs subsidy proportional target budget confidence worth currency",
    "Conditions": "require max-social-cost min-selection-rate allow-shut-out parity tpr-parity surely",
    "Output": "report json csv xlsx model output figure title note data-date impact separately pool force "
    "prefix min-cell",
    "File format": "encoding delimiter decimal sheet header-row max-size",
}


class Command(click.Command):
    """Command whose usage errors come together, and whose help lists options in sections.

    ``first`` names the options that people use first, besides those that are required; see :data:`SECTIONS` for the
    sections of all others.
    """

    def __init__(self, *arguments: Any, first: tuple[str, ...] = (), **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.first = first

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse what was typed. What is wrong with single options is told of all of them."""
        workbooks = [text for text in args if text.lower().endswith(".xlsx")]
        if workbooks:
            from selfselect.tabular.excel import read_settings  # heavy, and only workbooks need it

            ctx.default_map = self._defaults(read_settings(workbooks[0]))
        try:
            return super().parse_args(ctx, list(args))
        except click.BadParameter:
            values, rest, order = self.make_parser(ctx).parse_args(args=list(args))
            errors: list[click.UsageError] = []
            for param in click.core.iter_params_for_processing(order, self.get_params(ctx)):
                try:
                    param.handle_parse_result(ctx, values, rest)
                except click.UsageError as error:
                    errors.append(error)
            raise_together(errors, ctx)
            raise

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the options in sections: first those that are needed or used first."""
        known = {name: title for title, names in SECTIONS.items() for name in names.split()}
        sections: dict[str, list[tuple[str, str]]] = {"Needed, or used first": []}
        sections |= {title: [] for title in (*SECTIONS, "Further options")}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is None or isinstance(param, click.Argument):
                continue
            name = param.opts[-1].removeprefix("--")
            first = param.required or name in self.first
            title = "Needed, or used first" if first else known.get(name, "Further options")
            sections[title].append(record)
        for title, records in sections.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)

    def _defaults(self, settings: dict[str, list[str]]) -> dict[str, Any]:
        """Options of this command that a workbook sets, by the name of their parameter."""
        defaults: dict[str, Any] = {}
        for param in self.params:
            values = [value for name in param.opts for value in settings.get(name.removeprefix("--"), [])]
            if isinstance(param, click.Option) and values:
                defaults[str(param.name)] = values if param.multiple else values[-1]
        return defaults


def raise_together(errors: list[click.UsageError], ctx: click.Context) -> None:
    """Raise usage errors as one, if there are any."""
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise click.UsageError("\n       ".join(error.format_message() for error in errors), ctx)


def check_together(*checks: Callable[[], None]) -> None:
    """Make several checks of options that belong together; what they complain about comes at once."""
    errors = []
    for check in checks:
        try:
            check()
        except click.UsageError as error:
            errors.append(error)
    raise_together(errors, click.get_current_context())


command = partial(click.command, cls=Command)
