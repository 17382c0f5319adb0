"""Wrong input in the words of the command: what the library says, and which option would settle it."""

from __future__ import annotations

from dataclasses import dataclass

import click

from selfselect._errors import InputError
from selfselect._text import printable, shown
from selfselect.tabular.errors import TableError

#: Exit codes: 0 fine, 1 a stated condition failed, 2 bad input or usage.
CONDITION_FAILED, BAD_INPUT = 1, 2


class BadInput(click.ClickException):
    """Wrong input: a message without a traceback, and exit code 2."""

    exit_code = BAD_INPUT

    def format_message(self) -> str:
        """What is wrong, harmless to a terminal whatever files are called."""
        return "\n".join(map(printable, self.message.split("\n")))


@dataclass(frozen=True)
class Hint:
    """What to pass, if a command has the option.

    Attributes
    ----------
    option : str
        The option.
    text : str
        What is said after the error; fields in braces are the error's details.
    clause : bool, default=False
        Whether it goes on where the statement of the problem ends, instead of being a sentence of its own.
    """

    option: str
    text: str
    clause: bool = False


#: Hints by the key of an error.
HINTS = {
    "delimiter": Hint("--delimiter", "If so, pass --delimiter {delimiter!r}."),
    "which_delimiter": Hint("--delimiter", "with --delimiter", clause=True),
    "decimal": Hint("--decimal", "Or pass --decimal {decimal!r}."),
    "which_decimal": Hint("--decimal", "with --decimal", clause=True),
    "most_bytes": Hint("--max-size", "If it is what you expect, raise the limit with --max-size."),
    "encoding": Hint("--encoding", "Or pass --encoding {encoding}."),
    "untested": Hint(
        "--untested",
        "If only people who did not pass lack it, pass --untested: precision and who applies are known all the same, "
        "the rest within bounds.",
    ),
    "missing": Hint("--missing", "Or pass --missing own-group to count them as a group."),
    "more_labels": Hint("--positive", "(--positive VALUE: all others then mean that they are not)", clause=True),
    "positive": Hint("--positive", "with --positive VALUE", clause=True),
    "prediction_positive": Hint("--prediction-positive", "with --prediction-positive VALUE", clause=True),
    "score": Hint("--score", "If {name} is a score, pass it as --score."),
    "subsidy": Hint("--proportional", "If they are shares of the cost, pass --proportional."),
    "threshold": Hint("--threshold", "Say it with --threshold."),
    "ignore": Hint("--ignore", "To leave it out, pass --ignore {name}."),
}


def has_option(command: click.Command, option: str) -> bool:
    """Whether a command has an option of this name."""
    return any(option in parameter.opts for parameter in command.params)


def worded(error: InputError, command: click.Command, given: dict[str, object] | None = None) -> str:
    """An error of the library in the words of a command: options are named only if the command has them.

    Parameters
    ----------
    error : InputError
        What the library says.
    command : Command
        The running command.
    given : dict, optional
        Its options, for details that the library does not know.
    """
    named_by = "--" + str(error.details.get("named_by") or "").replace("_", "-")
    remark = f"({named_by})" if has_option(command, named_by) else ""
    hint = HINTS.get(error.key or "")
    text = ""
    if error.key == "untested" and not has_option(command, "--untested"):
        text = "If only people who did not pass lack it, the command audit can count them apart."
    if hint is not None and has_option(command, hint.option) and hint.option not in str(error):
        text = hint.text.format_map(_Details({**(given or {}), **error.details}))
    if not isinstance(error, TableError):
        return " ".join(part for part in (str(error), text) if part)
    if hint is not None and hint.clause:
        remark, text = f"{remark} {text}".strip(), ""
    return f"{error.said(remark)} {text}".rstrip()


class _Details(dict[str, object]):
    """Details of an error as they fit into a sentence: texts of strangers are quoted, unknown ones are left open."""

    def __init__(self, details: dict[str, object]) -> None:
        super().__init__(details)
        if isinstance(details.get("name"), str):
            self["name"] = shown(str(details["name"]))

    def __missing__(self, key: str) -> str:
        return key.upper()
