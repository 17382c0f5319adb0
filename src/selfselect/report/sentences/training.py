"""Sentences about a trained model that its audit does not say: whose counts are published, and who is counted."""

from __future__ import annotations

from ..._formats import count
from ..pages import Opening


def training_note(trained_on: float, held_out: float, unseen: bool) -> str:
    """Whose counts are published, and whom the other numbers are about."""
    each = "; each of them was scored by a model fitted to others" if unseen else ""
    trained = f"the {count(trained_on)} people that the model was trained on{each}"
    if not held_out:
        return f"All numbers are about {trained}. Nobody was held out."
    return f"Published precision is about {trained}. All other numbers are about {count(held_out)} held-out people."


def training_opening(trained_on: float, held_out: float, unseen: bool) -> Opening:
    """What the report of a trained model says first."""
    return Opening(
        "A trained model: who will apply",
        paragraphs=(training_note(trained_on, held_out, unseen),),
        published="training people" if held_out else "people it was trained on",
        counted="held-out people" if held_out else "",
    )
