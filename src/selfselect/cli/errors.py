"""Errors and findings as the command words them: what the library says, and the option that would settle it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import click

from selfselect._errors import InputError
from selfselect._text import printable, quote
from selfselect.tabular.errors import TableError, TableErrors

if TYPE_CHECKING:
    from selfselect.tabular.data_checks import Finding

#: Exit codes: 0 fine, 1 a stated condition failed, 2 bad input or usage, 130 interrupted.
CONDITION_FAILED, BAD_INPUT, INTERRUPTED, BROKEN_PIPE = 1, 2, 130, 141

#: Option and hint by the key of an error. A command that lacks the option does not show the hint.
ERROR_HINTS = {
    "delimiter": ("--delimiter", "If so, pass --delimiter {delimiter!r}."),
    "which_delimiter": ("--delimiter", "Pass it as --delimiter."),
    "decimal": ("--decimal", "Or pass --decimal {decimal!r}."),
    "which_decimal": ("--decimal", "Pass it as --decimal."),
    "header_row": ("--header-row", "Row {header_row} seems to name the columns: pass --header-row {header_row}."),
    "max_bytes": ("--max-size", "If it is what you expect, raise the limit with --max-size."),
    "encoding": ("--encoding", "Or pass --encoding {encoding}."),
    "untested": (
        "--untested",
        "If only people who did not pass lack it, pass --untested: precision and who applies are known all the same, "
        "the rest within bounds.",
    ),
    "missing": (
        "--missing",
        "Or pass --missing own-group to count them as a group, or --missing drop to leave them out.",
    ),
    "more_labels": ("--positive", "Pass --positive VALUE: all other values then mean not qualified."),
    "positive": ("--positive", "Pass it as --positive VALUE."),
    "prediction_positive": ("--prediction-positive", "Pass it as --prediction-positive VALUE."),
    "score": ("--score", "If {name} is a score, pass it as --score."),
    "subsidy": ("--proportional", "If they are shares of the cost, pass --proportional."),
    "threshold": ("--threshold", "Pass it as --threshold."),
    "no_pool": ("--pool", "Pass the column as --pool."),
    "not_identified": ("--common-cost", "The options are --common-cost and --scale."),
    "ignore": ("--ignore", "To leave it out, pass --ignore {name}."),
}
#: Option and hint by the key of a finding.
FINDING_HINTS = {
    "lower_passes": ("--lower-passes", "Pass --lower-passes."),
    "copies": ("--person", "If a column names the person of each row, pass it as --person COLUMN."),
    "higher_passes": ("--lower-passes", "Leave out --lower-passes."),
    "threshold_outside": ("--threshold", "Pass it as --threshold."),
    "decisions_reversed": ("--prediction-positive", "Pass it as --prediction-positive VALUE."),
    "more_labels": ("--positive", "Repeat --positive for each."),
    "unknown_group": (
        "--unknown",
        "With --unknown VALUE they count as empty, and --missing says what becomes of them.",
    ),
    "names_people": ("--ignore", "Leave out: {ignore}."),
    "leaks": ("--ignore", "To leave out: {ignore}."),
    "label_is_group": ("--group", "Pass another --group."),
    "group_is_label": ("--group", "Pass another --group."),
    "groups_of_one": ("--group", "Pass another --group."),
    "label_is_model": ("--label", "Pass another --label."),
}
#: First word of a finding by its severity, the gravest first.
SEVERITY_WORDS = {"error": "Error", "warning": "Warning", "hint": "Note"}


class BadInput(click.ClickException):
    """Wrong input: a message without a traceback, and exit code 2."""

    exit_code = BAD_INPUT

    def format_message(self) -> str:
        """The message, without characters that a terminal would obey."""
        return "\n".join(map(printable, self.message.split("\n")))


def _has_option(command: click.Command, option: str) -> bool:
    return any(option in parameter.opts for parameter in command.params)


def _hint(hints: Mapping[str, tuple[str, str]], cause: InputError | Finding, command: click.Command) -> str:
    option, text = hints.get(cause.key or "", ("", ""))
    if not _has_option(command, option):
        return ""
    ignored = " ".join(f"--ignore {quote(name)}" for name in cause.details.get("names", ["NAME"]))
    values = {"delimiter": ";", "decimal": ",", "encoding": "ENCODING", "header_row": 2, "ignore": ignored}
    return text.format_map({**values, **cause.details, "name": quote(str(cause.details.get("name", "NAME")))})


def error_message(error: InputError, command: click.Command) -> str:
    """An error of the library, with the option that it is about and the option that would settle it."""
    if isinstance(error, TableErrors):
        return "\n".join(error_message(one, command) for one in error.errors)
    hint = _hint(ERROR_HINTS, error, command)
    if error.key == "untested" and not hint:
        hint = "If only people who did not pass lack it: audit, check, plan and compare can count them apart."
    blamed = "--" + str(error.details.get("named_by") or "").replace("_", "-")
    message = str(error)
    if isinstance(error, TableError) and _has_option(command, blamed):
        message = error.with_remark(f"({blamed})")
    return f"{message} {hint}".rstrip()


def finding_message(finding: Finding, command: click.Command) -> str:
    """A finding, with the option that would settle it."""
    return printable(f"{finding} {_hint(FINDING_HINTS, finding, command)}".rstrip())


def sort_findings(findings: Iterable[Finding]) -> list[Finding]:
    """Findings, the gravest first."""
    severities = list(SEVERITY_WORDS)
    return sorted(findings, key=lambda finding: severities.index(finding.severity))


def show_findings(findings: Iterable[Finding]) -> None:
    """Show findings on standard error. An error ends the command.

    Training itself says which columns it leaves out, so these findings are not shown here.
    """
    command = click.get_current_context().command
    for finding in sort_findings(findings):
        message = finding_message(finding, command)
        if finding.severity == "error":
            raise BadInput(message)
        if finding.key != "left_out":
            click.echo(f"{SEVERITY_WORDS[finding.severity]}: {message}", err=True)
