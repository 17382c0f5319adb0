"""What happened in all rounds: arrays of rounds by groups, a tidy table, a picture and a page."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .._notices import warn
from .._validation import BoolArray, FloatArray
from ..auditing import Provenance, group_names
from ..auditing.reported import Reported
from ..behaviour import as_decisions
from ..counting import GroupCounts, ratio
from ..outcomes import outcome_bounds
from ..publishing.privacy import MIN_CELL, Cells, check_min_cell
from ..publishing.published import expected_utility

if TYPE_CHECKING:
    from .rounds import Run

#: Digits of shares in what is passed on.
ROUNDED = 2


@dataclass(frozen=True, eq=False)
class Round:
    """One round: one number per group.

    ``counts`` are decisions of the model about everybody in the pool; ``cost`` is before subsidies, ``subsidy`` what
    each selected applicant is paid; ``explored`` people were tested by exploration only, ``found`` of them qualify.
    """

    counts: GroupCounts
    published: FloatArray
    believed: FloatArray
    cost: FloatArray
    subsidy: FloatArray
    share: FloatArray
    explored: FloatArray
    found: FloatArray

    def rounded(self, least: int) -> Round:
        """The same round with multiples of so many people of either label among those who pass and who do not."""
        cells = np.rint(Cells.of(self.counts).people / least) * least
        (hits, wrong), (missed, rejected) = (np.moveaxis(cells[:, pair], -1, 0) for pair in (0, 1))
        counts = GroupCounts(hits + wrong + missed + rejected, hits + missed, hits + wrong, hits)
        explored, found = (np.rint(part / least) * least for part in (self.explored, self.found))
        published, believed = (np.round(part, ROUNDED) for part in (self.published, self.believed))
        share = np.round(self.share, ROUNDED)
        return replace(
            self,
            counts=counts,
            explored=explored,
            found=np.minimum(found, explored),
            published=published,
            believed=believed,
            share=share,
        )

    def delivered(self) -> GroupCounts:
        """Applicants, qualified and selected ones among them."""
        return GroupCounts(*(self.share * part for part in self.counts.columns))


@dataclass(frozen=True, eq=False, repr=False)
class History(Reported):
    """All rounds of a simulation. Made by :func:`simulate`.

    Attributes
    ----------
    groups : Index
        The groups.
    rounds : tuple of Round
        What happened, round by round.
    price : float
        What a test costs the firm.
    stopped : str
        Why the simulation ended early; empty if it did not.
    model : object
        The firm's last model: a fitted classifier, or thresholds.
    provenance : Provenance
        What a report says about the data.
    """

    groups: pd.Index
    rounds: tuple[Round, ...]
    price: float = 0.0
    stopped: str = ""
    run: Run | None = None
    provenance: Provenance = field(default_factory=Provenance)

    def __len__(self) -> int:
        return len(self.rounds)

    @property
    def model(self) -> Any:
        """The firm's last model."""
        return None if self.run is None else self.run.world.model

    @property
    def in_pool(self) -> BoolArray:
        """Which rows of a data set could apply: all but those whose labels were known before the first round."""
        return np.asarray(self.run.world.in_pool)  # type: ignore[union-attr]

    @cached_property
    def names(self) -> list[str]:
        """One text per group."""
        return group_names(self.groups)

    def _of(self, name: str) -> FloatArray:
        """One number for each round and group."""
        return np.array([getattr(one, name) for one in self.rounds], dtype=float).reshape(-1, len(self.groups))

    @cached_property
    def counts(self) -> GroupCounts:
        """Decisions about everybody in the pool: arrays of rounds by groups."""
        columns = zip(*(one.counts.columns for one in self.rounds), strict=True)
        return GroupCounts(*(np.array(column, dtype=float).reshape(-1, len(self.groups)) for column in columns))

    @property
    def shares(self) -> pd.DataFrame:
        """Share of each group that applies, one row per round."""
        return pd.DataFrame(self._of("share"), index=self._numbers, columns=self.groups)

    @property
    def _numbers(self) -> pd.Index:
        return pd.RangeIndex(1, len(self.rounds) + 1, name="round")

    @cached_property
    def _columns(self) -> dict[str, FloatArray]:
        counts, share, cost, subsidy = self.counts, self._of("share"), self._of("cost"), self._of("subsidy")
        explored, found = self._of("explored"), self._of("found")
        selected, hired = share * counts.selected, share * counts.true_positives + found
        paid = subsidy * selected + cost * explored
        some = share > 0
        return {
            "pool": counts.n,
            "published": self._of("published"),
            "believed": self._of("believed"),
            "cost": cost - subsidy,
            "share": share,
            "applicants": share * counts.n,
            "selected": selected,
            "explored": explored,
            "hired": hired,
            "delivered": np.where(some, counts.precision, np.nan),
            "accuracy": np.where(some, counts.accuracy, np.nan),
            "social_cost": np.where(counts.positives > 0, 1 - share, np.nan),
            "utility": expected_utility(counts, cost - subsidy, share) + 0.0,  # no negative zero
            "firm_utility": hired - self.price * (selected + explored) - paid,
            "subsidies": paid,
        }

    def protected(self, min_cell: int = MIN_CELL) -> History:
        """The same history, whose numbers of people are multiples of ``min_cell``, and shares are of these.

        Groups change from round to round, so that none could be merged for good.
        """
        least = check_min_cell(min_cell)
        if least == 0 or self.provenance.min_cell >= least:
            return self
        rounds = tuple(one.rounded(least) for one in self.rounds)
        return replace(self, rounds=rounds, run=None, provenance=self.provenance.of_merged(least, {}))

    def to_frame(self) -> pd.DataFrame:
        """Tidy table: one row per round and group.

        Returns
        -------
        DataFrame
            ``round``, ``group`` (combinations of columns as one text), ``pool`` (people who could apply),
            ``published``, ``believed``, ``cost`` (after subsidies), ``share`` (that applies), ``applicants``,
            ``selected`` (applicants who pass), ``explored`` (tested by exploration only), ``hired`` (tested and
            qualified), ``delivered`` (precision among selected applicants), ``accuracy`` (among applicants),
            ``social_cost`` (share of the qualified who stay away), ``utility`` (of a person of the group),
            ``firm_utility`` (hired, less prices of tests and subsidies) and ``subsidies`` (amounts paid: to selected
            applicants, and the costs of explored people). Undefined numbers are NaN.
        """
        index = pd.DataFrame(
            {
                "round": np.repeat(np.asarray(self._numbers), len(self.groups)),
                "group": list(self.groups if self.groups.nlevels == 1 else self.names) * len(self.rounds),
            }
        )
        return index.join(pd.DataFrame({name: values.ravel() for name, values in self._columns.items()}))

    def totals(self) -> pd.DataFrame:
        """One row per round, over all groups.

        Returns
        -------
        DataFrame, indexed by round
            Sums of ``pool``, ``applicants``, ``selected``, ``explored``, ``hired``, ``subsidies`` and ``firm_utility``;
            ``applying_groups``, ``induced_accuracy``, ``social_cost`` and ``application_rate`` as in
            :class:`selfselect.metrics.Outcome`.
        """
        share = self._of("share")
        sums = ("pool", "applicants", "selected", "explored", "hired", "subsidies", "firm_utility")
        columns = {name: self._columns[name].sum(axis=1) for name in sums}
        columns["applying_groups"] = as_decisions(share).sum(axis=1)
        bounds = outcome_bounds(self.counts, share)
        columns |= {name: bounds[name][0] for name in ("induced_accuracy", "social_cost")}
        columns["application_rate"] = ratio(columns["applicants"], columns["pool"])
        return pd.DataFrame(columns, index=self._numbers)

    def resume(self, rounds: int, *, progress: bool = False) -> History:
        """Go on from here: this history and more rounds, to the bit as if they had been simulated at once.

        A history that ended early stays as it is.

        Examples
        --------
        >>> from selfselect import NaiveClassifier
        >>> from selfselect.datasets import make_base_rate_groups
        >>> from selfselect.simulation import simulate
        >>> people = make_base_rate_groups((0.5, 0.15), n_per_group=500, random_state=0)
        >>> firm = NaiveClassifier(cost=0.7, publish="train")
        >>> len(simulate(people, firm, rounds=2).resume(3))
        5
        """
        if self.run is None:
            raise ValueError("This history was not made by simulate and cannot be resumed.")
        if self.stopped:
            warn(self.stopped)
            return self
        more = self.run.copy().play(rounds, progress=progress)
        return replace(more, rounds=self.rounds + more.rounds, provenance=self.provenance)

    def plot(self, ax: Any = None) -> Any:
        """Draw the share of each group that applies, round by round; a :class:`~selfselect.plotting.RoundsDisplay`."""
        from ..plotting.rounds import RoundsDisplay

        return RoundsDisplay(self).plot(ax)
