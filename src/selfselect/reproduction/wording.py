"""Methods in words, for people who do not have the paper at hand."""

from __future__ import annotations

from collections.abc import Iterable

from .methods import ALL_METHODS
from .people import BUNDLED

#: What each method does; the others' titles say it.
_WORDS = {
    "naive": "blind to applications",
    "semi": "one good threshold",
    "strat_x": "strategic, seeing the group",
    "strat_no_group": "strategic, not seeing the group",
    "strat_parity": "strategic, equal selection rates",
    "strat_order": "strategic, in the order of base rates",
}


def in_words(method: str) -> str:
    """What a method does, with its name.

    Examples
    --------
    >>> in_words("strat_x"), in_words("naive_honest")
    ('strategic, seeing the group (strat_x)', 'blind to applications, published honestly (naive_honest)')
    """
    if method in _WORDS:
        return f"{_WORDS[method]} ({method})"
    plain = method.removesuffix("_honest")
    if plain != method and plain in _WORDS:
        return f"{_WORDS[plain]}, published honestly ({method})"
    return f"{ALL_METHODS[method].title} ({method})"


def is_ones_own(datasets: Iterable[str]) -> bool:
    """Whether none of some data sets is the paper's, so that there is nothing of the paper's to compare with.

    Examples
    --------
    >>> is_ones_own(["mine"]), is_ones_own(["adult", "mine"])
    (True, False)
    """
    return not set(datasets) & set(BUNDLED)
