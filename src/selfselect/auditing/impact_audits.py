"""Selection rates and scoring rates by category, without labels and costs.

New York City's Local Law 144 asks for them (6 RCNY 5-300 and 5-301): the selection rate of each category or, of a tool
that gives scores, its scoring rate, which is the share above the median score of all applicants; and impact ratios.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pandas as pd

from .._validation import BoolArray, FloatArray
from ..counting import GroupCodes, GroupCounts
from ..publishing import PublishedStatistics
from ..publishing.privacy import MIN_CELL, Cells, Merging, check_min_cell, merge_groups
from .impact import SMALL_SHARE, impact_ratios, is_unknown
from .reported import Provenance, Reported
from .screening import group_names

#: Names of the two rates.
SELECTION, SCORING = "selection rate", "scoring rate"
#: Name of merged groups of whom nothing is known.
UNKNOWN_NAME = "unknown"


@dataclass(frozen=True, eq=False, repr=False)
class ImpactAudit(Reported):
    """Rates and impact ratios of each category, by each column of groups and by their combinations.

    Attributes
    ----------
    counts : dict of PublishedStatistics
        By the name of the rate (``"selection rate"``, ``"scoring rate"``): people of each group, and how many of them
        pass, or score above the median. Labels are not known, so that the other counts mean nothing.
    median : float or None
        Median score of all people, those of unknown category included; None if decisions were given.
    threshold : float or None
        The score above which people pass, if one was given.
    small_share : float
        Categories with a smaller share of people are never the highest.
    provenance : Provenance
        Where the numbers come from.
    """

    counts: dict[str, PublishedStatistics]
    median: float | None = None
    threshold: float | None = None
    lower_passes: bool = False
    small_share: float = SMALL_SHARE
    provenance: Provenance = field(default_factory=Provenance)

    @classmethod
    def from_decisions(cls, selected: BoolArray, groups: GroupCodes) -> ImpactAudit:
        """Selection rates.

        Examples
        --------
        >>> import numpy as np
        >>> from selfselect.counting import encode_groups
        >>> sex = encode_groups(["f", "f", "f", "m", "m", "m"])
        >>> found = ImpactAudit.from_decisions(np.array([True, False, False, True, True, False]), sex)
        >>> found.to_frame()[["category", "selected", "impact_ratio", "under_four_fifths"]].values.tolist()
        [['f', 1, 0.5, True], ['m', 2, 1.0, False]]
        """
        return cls({SELECTION: _counted(selected, groups)})

    @classmethod
    def from_scores(
        cls, score: FloatArray, groups: GroupCodes, threshold: float | None = None, *, lower_passes: bool = False
    ) -> ImpactAudit:
        """Scoring rates and, with a threshold, selection rates. With ``lower_passes``, low scores are good.

        Examples
        --------
        >>> import numpy as np
        >>> from selfselect.counting import encode_groups
        >>> found = ImpactAudit.from_scores(np.array([1.0, 2, 3, 4]), encode_groups(["f", "m", "f", "m"]))
        >>> found.median, found.to_frame()["selection_rate"].tolist()
        (2.5, [0.5, 0.5])
        """
        sign = -1 if lower_passes else 1
        middle = np.partition(sign * score, [(len(score) - 1) // 2, len(score) // 2])
        below, above = middle[(len(score) - 1) // 2], middle[len(score) // 2]
        # whoever is above the mean of the two middle scores is above the lower one, which is exact
        counts = {SCORING: _counted(sign * score > below, groups)}
        if threshold is not None:
            counts[SELECTION] = _counted(sign * score > sign * threshold, groups)
        return cls(counts, float(sign * (below / 2 + above / 2)), threshold, lower_passes)

    @property
    def n_people(self) -> int:
        """Number of people, those of unknown category included."""
        return int(next(iter(self.counts.values())).counts.n.sum())

    @cached_property
    def tables(self) -> dict[str, pd.DataFrame]:
        """Impact ratios by the name of the rate; see :func:`selfselect.auditing.impact.impact_ratios`."""
        return {name: impact_ratios(table, small_share=self.small_share) for name, table in self.counts.items()}

    def to_frame(self) -> pd.DataFrame:
        """All tables below each other, with the name of the rate first; ``selected`` are those who count for it."""
        return pd.concat([frame.assign(rate=name) for name, frame in self.tables.items()], ignore_index=True)[
            ["rate", *next(iter(self.tables.values())).columns]
        ]

    def with_source(self, provenance: Provenance, small_share: float = SMALL_SHARE) -> ImpactAudit:
        """The same with a record of where it comes from, and another bound of small categories."""
        return replace(self, provenance=provenance, small_share=small_share)

    def protected(self, min_cell: int = MIN_CELL) -> ImpactAudit:
        """The same of merged groups: no number is about fewer than ``min_cell`` people.

        Examples
        --------
        >>> import numpy as np
        >>> from selfselect.counting import encode_groups
        >>> groups = encode_groups(["a"] * 40 + ["b"] * 30 + ["c"] * 3)
        >>> ImpactAudit.from_decisions(np.arange(73) % 2 == 0, groups).protected().to_frame()["category"].tolist()
        ['a', 'the rest']
        """
        least = check_min_cell(min_cell)
        if least == 0 or self.provenance.min_cell >= least:
            return self
        tables = list(self.counts.values())
        merging = _unknown_named(merge_groups(tables[0].groups, _cells(tables), least))
        counts = {name: merging.counts(table) for name, table in self.counts.items()}
        return replace(self, counts=counts, provenance=self.provenance.of_merged(least, merging.members(group_names)))


def _cells(tables: list[PublishedStatistics]) -> Cells:
    """People who pass by both rates, by one of them, and by none: of two scores' cuts one is the stricter."""
    selected = np.sort([table.counts.selected for table in tables], axis=0)
    people, between = tables[0].counts.n, selected[-1] - selected[0]
    pairs = [(selected[0], people - selected[-1]), (between, between)]
    return Cells(np.stack([np.stack(pair, axis=-1) for pair in pairs], axis=-2).astype(np.float64))


def _unknown_named(merging: Merging) -> Merging:
    """The same, with a word for not known as the name of units that merge nothing else."""
    known = np.array([not is_unknown(label) for label in merging.groups], dtype=np.int64)
    renamed = merging.is_merged & (merging.added(known) == 0)
    frame = merging.units.to_frame(index=False)
    frame.loc[renamed] = UNKNOWN_NAME
    units = pd.MultiIndex.from_frame(frame) if merging.units.nlevels > 1 else pd.Index(frame.iloc[:, 0], dtype=object)
    return replace(merging, units=units.set_names(merging.units.names))


def _counted(selected: BoolArray, groups: GroupCodes) -> PublishedStatistics:
    nobody = np.zeros(len(selected), dtype=bool)
    return PublishedStatistics(groups.labels, GroupCounts.from_rows(nobody, selected, groups.codes, groups.n_groups))
