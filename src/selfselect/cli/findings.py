"""What looks wrong with a table, in the words of the command: on the screen before anything else, and never silent."""

from __future__ import annotations

import click

from selfselect._text import printable, shown
from selfselect.tabular.data_checks import SEVERITIES, Finding

from .errors import BadInput, has_option

#: Options that settle what was found, by its key; they are named only if the running command has them.
OPTIONS = {
    "lower_passes": ("--lower-passes", "Pass --lower-passes."),
    "higher_passes": ("--lower-passes", "Leave out --lower-passes."),
    "threshold_outside": ("--threshold", "Say it with --threshold."),
    "decisions_reversed": ("--prediction-positive", "Say it with --prediction-positive VALUE."),
    "more_labels": ("--positive", "Repeat --positive for each."),
    "unknown_group": ("--missing", "With --missing own-group, empty cells are a group of their own."),
    "names_people": ("--ignore", "Pass --ignore {name}."),
    "label_again": ("--ignore", "To leave it out, pass --ignore {name}."),
    "label_is_group": ("--group", "Pass another --group."),
    "group_is_label": ("--group", "Pass another --group."),
    "groups_of_one": ("--group", "Pass another --group."),
    "label_is_model": ("--label", "Pass another --label."),
}
#: What a finding begins with, by its severity.
WORDS = {"error": "Error", "warning": "Warning", "hint": "Note"}


def worded_finding(finding: Finding, command: click.Command) -> str:
    """A finding with the option that settles it, if the command has it."""
    option, text = OPTIONS.get(finding.key, ("", ""))
    hint = text.format(name=shown(str(finding.details.get("name", "")))) if has_option(command, option) else ""
    return printable(" ".join(part for part in (str(finding), hint) if part))


def in_order(findings: list[Finding]) -> list[Finding]:
    """The gravest first."""
    return sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity))


def tell_findings(findings: list[Finding]) -> None:
    """Show findings on the standard error; those that nothing should be computed from end the command.

    Columns that are left out are told by training itself, once it has left them out.
    """
    command = click.get_current_context().command
    for finding in in_order(findings):
        said = worded_finding(finding, command)
        if finding.severity == "error":
            raise BadInput(said)
        if finding.key != "left_out":
            click.echo(f"{WORDS[finding.severity]}: {said}", err=True)
