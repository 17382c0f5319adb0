"""Pictures that a command may draw."""

from __future__ import annotations

from pathlib import Path

from selfselect._text import printable

from .errors import BadInput

#: Kinds of pictures that can be drawn.
PICTURES = ("png", "svg", "pdf")


def check_picture(figure: str | None) -> None:
    """Complain about a picture that cannot be drawn before anything is read."""
    if figure is None:
        return
    if Path(figure).suffix.lower().lstrip(".") not in PICTURES:
        raise BadInput(f"{printable(figure)}: a picture ends in {', '.join('.' + kind for kind in PICTURES)}.")
    try:
        import matplotlib  # noqa: F401 (an optional extra)
    except ImportError as error:
        raise BadInput("A picture needs matplotlib: pip install matplotlib (extra plot).") from error
