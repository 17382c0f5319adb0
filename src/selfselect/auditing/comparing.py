"""Two audits side by side: which groups start or stop applying, and intervals of the differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._validation import check_fraction
from ..behaviour import as_decisions
from ..counting import position_of
from ..publishing.privacy import MIN_CELL, check_min_cell, merge_groups
from .audits import Audit
from .paired import PairedCounts
from .reported import Provenance, Reported
from .resampling import Design, Uncertainty, intervals
from .screening import group_names
from .undecided import MEASURED

#: Change of a group, by whether it applies before and after (None: it is not there).
CHANGES = {
    (True, True): "applies",
    (False, False): "stays away",
    (False, True): "comes",
    (True, False): "leaves",
    (None, True): "new, applies",
    (None, False): "new, stays away",
    (True, None): "gone, applied",
    (False, None): "gone, stayed away",
}
#: The same for a group of which nobody passes screening afterwards.
SHUT_OUT = {"stays away": "shut out", "leaves": "shut out now", "new, stays away": "new, shut out"}


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Reported):
    """Two audits side by side. Made by :func:`compare`.

    Attributes
    ----------
    before, after : Audit
        The audits to compare.
    names : tuple of two str
        Their names.
    drawn : tuple of two Uncertainty
        Outcomes of each resample; if both audits are of the same people, the same people are drawn for both.
    paired : bool
        Whether the audits are of the same people under two models.
    confidence : float
        Level of the intervals.
    seed : int or other
        Seed of the draws.
    title : str
        Title of the report; by default the names of both.
    pairs : PairedCounts or None
        If both audits are of the same people: how many pass under each model.
    design : {"random", "fixed"}
        How people are drawn; see :meth:`Audit.uncertainty`.
    """

    before: Audit
    after: Audit
    names: tuple[str, str]
    drawn: tuple[Uncertainty, Uncertainty]
    paired: bool
    confidence: float
    seed: Any
    title: str = ""
    pairs: PairedCounts | None = None
    design: Design = "random"

    @cached_property
    def groups(self) -> pd.Index:
        """The groups of both."""
        return (self.before.published + self.after.published).groups

    @cached_property
    def group_names(self) -> list[str]:
        """One text per group."""
        return group_names(self.groups)

    def positions(self, one: Audit) -> NDArray[np.intp]:
        """Position among :attr:`groups` of each group of one of the audits."""
        return position_of(one.published.groups, self.groups, "A table", "the list of groups")

    @property
    def source(self) -> Provenance:
        """Where the numbers of the second audit come from."""
        return self.after.provenance

    def row_names(self) -> list[str]:
        """Names of the groups of both."""
        return self.group_names

    def protected(self, min_cell: int = MIN_CELL) -> Comparison:
        """The same comparison of merged groups; see :meth:`Audit.protected`. Resamples are drawn again."""
        least = check_min_cell(min_cell)
        if least == 0 or self.before.provenance.min_cell >= least:
            return self
        cells = [one.cells(self.groups) for one in (self.before, self.after)]
        both = cells[0].join(cells[1])
        if self.pairs is not None:
            both = both.join(self.pairs.nested_cells(self.groups))
        merging = merge_groups(self.groups, both, least)
        before, after = (
            one.with_merged(merging.among(one.published.groups), least) for one in (self.before, self.after)
        )
        pairs = None if self.pairs is None else self.pairs.merged(merging.among(self.pairs.groups))
        made = compare(
            before,
            after,
            pairs=pairs,
            names=self.names,
            n_resamples=self.drawn[0].n_resamples,
            confidence=self.confidence,
            random_state=self.seed,
            design=self.design,
        )
        return replace(made, title=self.title)

    def differences(self) -> pd.DataFrame:
        """Each number of both, and the difference with its interval.

        Returns
        -------
        DataFrame, indexed by number (assumed_accuracy, induced_accuracy, application_rate, social_cost)
            before, after, difference (after less before), low and high (the ends of its interval, over the resamples
            in which it is defined), undefined (the share of resamples in which it is not).
        """
        one, other = self.drawn
        rows = [(getattr(self.before, name), getattr(self.after, name)) for name in MEASURED]
        frame = pd.DataFrame(rows, index=list(MEASURED), columns=["before", "after"])
        frame["difference"] = frame["after"] - frame["before"]
        undefined = one.undefined | other.undefined
        return frame.join(intervals(other.low - one.high, other.high - one.low, undefined, self.confidence))

    def to_frame(self) -> pd.DataFrame:
        """Change of each group, one row per group of either audit.

        Returns
        -------
        DataFrame, indexed by group
            change ("comes", "leaves", "applies", "stays away", "shut out", "new, applies", ...); and for both, with
            ``_before`` and ``_after`` behind the name: n, base_rate, selected, precision, cost, applies (None if the
            group is not there) and applies_in (the share of resamples in which it applies).
        """
        tables = [
            (when, self.positions(one), one.to_frame().assign(applies_in=drawn.applies.to_numpy()))
            for when, one, drawn in zip(("before", "after"), (self.before, self.after), self.drawn, strict=True)
        ]
        columns: dict[str, Any] = {"change": None}
        for name in ("n", "base_rate", "selected", "precision", "cost", "applies", "applies_in"):
            absent = None if name == "applies" else 0 if name in ("n", "selected") else np.nan
            for when, position, table in tables:
                column = np.full(len(self.groups), absent, dtype=object if absent is None else np.float64)
                column[position] = table[name]
                whole = absent == 0 and (column == np.floor(column)).all()
                columns[f"{name}_{when}"] = column.astype(np.int64) if whole else column
        changes = map(CHANGES.__getitem__, zip(columns["applies_before"], columns["applies_after"], strict=True))
        columns["change"] = [
            change if selected else SHUT_OUT.get(change, change)
            for change, selected in zip(changes, columns["selected_after"], strict=True)
        ]
        return pd.DataFrame(columns, index=self.groups)

    def chance_of(self, group: Any, change: str) -> float:
        """Share of pairs of resamples in which a group comes, or leaves."""
        before, after = (as_decisions(drawn.shares[:, list(drawn.groups).index(group)]) for drawn in self.drawn)
        return float(((after & ~before) if change == "comes" else (before & ~after)).mean())


def compare(
    before: Audit,
    after: Audit,
    *,
    pairs: PairedCounts | None = None,
    names: Sequence[str] = ("A", "B"),
    n_resamples: int = 1000,
    confidence: float = 0.95,
    random_state: Any = 0,
    design: Design = "random",
) -> Comparison:
    """Compare two audits: this year with last, or one model with another.

    Parameters
    ----------
    before, after : Audit
        The audits to compare.
    pairs : PairedCounts, optional
        If both audits are of the same people under two models: how many pass under each. This makes the intervals of
        differences much narrower. Without it, the two sets of people are taken as independent. Persons who are in both
        make intervals wider than needed, not shorter, as long as their rows in both are alike.
    names : two str, default=("A", "B")
        Names of the audits.
    n_resamples, confidence, random_state, design
        As in :meth:`Audit.uncertainty`.

    Returns
    -------
    Comparison
        With ``verdict()``, ``differences()``, ``to_frame()``, ``to_json()``, ``to_html()``.

    Examples
    --------
    >>> from selfselect.auditing import audit
    >>> y, z = [1, 1, 0, 1, 0, 0] * 20, list("AAABBB") * 20
    >>> last = audit(y, y_pred=[1, 1, 1, 1, 1, 0] * 20, sensitive_features=z, cost=0.6)
    >>> this = audit(y, y_pred=[1, 1, 1, 1, 0, 0] * 20, sensitive_features=z, cost=0.6)
    >>> compare(last, this).to_frame()["change"].to_dict()
    {'A': 'applies', 'B': 'comes'}
    """
    level = check_fraction(confidence, "confidence", inclusive=False)
    if len(names) != 2:
        raise ValueError(f"names must be two, one for each audit, got {names!r}.")
    if pairs is None:
        seeds = [random_state] if isinstance(random_state, int | np.integer) else list(random_state)
        drawn = [one.uncertainty(n_resamples, [*seeds, i], level, design) for i, one in enumerate((before, after))]
    else:
        _check_pairs(pairs, before, after)
        drawn = pairs.resample((before.terms, after.terms), n_resamples, random_state, level, design)
    called = (str(names[0]), str(names[1]))
    return Comparison(
        before, after, called, (drawn[0], drawn[1]), pairs is not None, level, random_state, pairs=pairs, design=design
    )


def _check_pairs(pairs: PairedCounts, *audits: Audit) -> None:
    for one, counted, which in zip(audits, pairs.counts(), ("first", "second"), strict=True):
        if one.of_new_people or not one.published.groups.equals(pairs.groups):
            raise ValueError(f"pairs and the {which} audit are not about the same people: their groups differ.")
        if not all(np.allclose(*both) for both in zip(counted.columns, one.published.counts.columns, strict=True)):
            raise ValueError(f"pairs and the {which} audit are not about the same people: their counts differ.")
        own = one.published.counts
        if not np.allclose((counted.squares or counted).n, (own.squares or own).n):
            raise ValueError(f"pairs and the {which} audit differ in weights or persons: give both the same.")
