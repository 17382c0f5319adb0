"""Who is tested, and whose labels become known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from .._validation import FloatArray, check_choice, check_fraction

#: Who gets a label: people who apply and pass, all who apply, or everybody.
Labels: TypeAlias = Literal["selected", "applicants", "all"]


@dataclass(frozen=True)
class Exploration:
    """People who are tested at random, at the expense of the firm.

    Parameters
    ----------
    share : float, default=0.0
        Share of people who are drawn in each round. Those of them who would not be tested otherwise are.
    among : {"pool", "applicants"}, default="pool"
        Who is drawn: everybody, by an invitation to those who stay away, or only people who apply. Of a group that
        stays away as a whole, the latter finds nobody.
    """

    share: float = 0.0
    among: Literal["pool", "applicants"] = "pool"

    def __post_init__(self) -> None:
        check_fraction(self.share, "exploration")
        check_choice(self.among, "among", ("pool", "applicants"))

    def chances(self, labels: Labels, applies: FloatArray, passes: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Chances to be tested by exploration only, and to get a label, given those to apply, and to apply and pass."""
        reached = applies if self.among == "applicants" else np.ones_like(applies)
        explored = self.share * (reached - passes)
        if labels == "all":
            return explored, np.ones_like(applies)
        return explored, passes + explored if labels == "selected" else applies + self.share * (reached - applies)
