"""One year against another, model A against B: who comes, who leaves, and whether that is more than chance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from .._text import html_text, printable
from .._validation import FloatArray, check_binary, check_fraction, check_same_length, check_weights
from ..behaviour import as_decisions
from ..costs import Terms
from ..counting import GroupCounts, encode_groups, position_of, ratio, with_same_columns
from ..outcomes import BOUNDED, outcome_bounds
from ..report import render_document
from .audits import Audit
from .formats import amount, count, level, listed, percent
from .page import own_order, page_constants, short_name, source_content
from .plain import as_json, plain_groups, plain_value
from .resampling import FEWEST_RESAMPLES, MEASURED, MOST_DRAWN, Resamples, resample
from .words import group_names

#: How the numbers that are compared are called.
SAID = {
    "assumed_accuracy": "assumed accuracy",
    "induced_accuracy": "induced accuracy",
    "application_rate": "people who apply",
    "social_cost": "social cost",
}
#: What became of a group, by whether it applies before and after (None: it is not there).
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
#: And of one that does not apply because nobody of it passes any more: it does not stay away, it is shut out.
SHUT_OUT = {"stays away": "shut out", "leaves": "shut out now", "new, stays away": "new, shut out"}


@dataclass(frozen=True, eq=False)
class PairedCounts:
    """The same people under two models: how many of each group are qualified or not, and pass under each.

    Attributes
    ----------
    groups : Index of shape (n_groups,)
        The groups.
    cells : ndarray of shape (n_groups, 2, 2, 2)
        People (or their summed weights) by label, by whether they pass under the first model, and the second.
    squares : ndarray of the same shape or None
        Sums of squared weights, if there are weights.
    """

    groups: pd.Index
    cells: NDArray[Any]
    squares: FloatArray | None = None

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        first: ArrayLike,
        second: ArrayLike,
        *,
        sensitive_features: Any = None,
        sample_weight: ArrayLike | None = None,
        missing: str = "error",
    ) -> Self:
        """Count labels and what two models predict for the same people.

        Examples
        --------
        >>> pairs = PairedCounts.from_predictions([1, 0, 1], [1, 1, 0], [1, 0, 0], sensitive_features=list("AAB"))
        >>> pairs.cells[:, 1, 1, 1].tolist()
        [1, 0]
        """
        y, one, other = (
            check_binary(values, name) for values, name in ((y_true, "y_true"), (first, "first"), (second, "second"))
        )
        check_same_length(y_true=y, first=one, second=other)
        weights = check_weights(sample_weight, len(y))
        groups = encode_groups(sensitive_features, n_rows=len(y), missing=missing)
        cell = 8 * groups.codes + 4 * y + 2 * one + other

        def count_of(given: FloatArray | None) -> NDArray[Any]:
            total = np.bincount(cell, weights=given, minlength=8 * groups.n_groups)
            return np.asarray(total.reshape(groups.n_groups, 2, 2, 2))

        return cls(groups.labels, count_of(weights), None if weights is None else count_of(weights**2))

    def counts(self) -> tuple[GroupCounts, GroupCounts]:
        """Counts under the first model and under the second."""
        return _margins(self.cells)

    def draw(self, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """People drawn again, group by group; weighted ones by the Bayesian bootstrap, as in ``resampling``."""
        cells = self.cells.reshape(len(self.groups), 8)
        shape = (size, len(self.groups), 2, 2, 2)
        people = cells.sum(axis=1)
        if self.squares is None:
            shares = np.nan_to_num(ratio(cells, people[:, None]))
            shares[people == 0, -1] = 1.0
            return rng.multinomial(people, shares, size=(size, len(cells))).reshape(shape)
        squares = self.squares.reshape(cells.shape)
        some = cells > 0
        alpha, scale = np.where(some, ratio(cells**2, squares), 0.0), np.where(some, ratio(squares, cells), 0.0)
        drawn = rng.gamma(alpha, 1.0, size=(size, *cells.shape)) * scale
        shares = np.nan_to_num(ratio(drawn, drawn.sum(axis=-1, keepdims=True)))
        return np.asarray(shares * people[:, None]).reshape(shape)


#: What the picture shows of a group that is not there.
ABSENT = dict.fromkeys(("n", "selected", "precision", "low", "high", "cost", "applies", "standing"))


def _margins(cells: NDArray[Any]) -> tuple[GroupCounts, GroupCounts]:
    n, positives = cells.sum(axis=(-1, -2, -3)), cells[..., 1, :, :].sum(axis=(-1, -2))
    first, second = cells.sum(axis=-1), cells.sum(axis=-2)
    return (
        GroupCounts(n, positives, first[..., :, 1].sum(axis=-1), first[..., 1, 1]),
        GroupCounts(n, positives, second[..., :, 1].sum(axis=-1), second[..., 1, 1]),
    )


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two audits side by side. Made by :func:`compare`.

    Attributes
    ----------
    before, after : Audit
        The two.
    names : tuple of two str
        What they are called.
    drawn : tuple of two Resamples
        What followed in each resample; entry by entry one draw, where they are the same people.
    paired : bool
        Whether they are the same people under two models.
    confidence : float
        Of the intervals.
    seed : int or other
        What was drawn with.
    title : str
        What a report is called; by default the names of both.
    """

    before: Audit
    after: Audit
    names: tuple[str, str]
    drawn: tuple[Resamples, Resamples]
    paired: bool
    confidence: float
    seed: Any
    title: str = ""

    # ------------------------------------------------------------------ numbers

    @cached_property
    def groups(self) -> pd.Index:
        """The groups of both."""
        return (self.before.published + self.after.published).groups

    @cached_property
    def group_names(self) -> list[str]:
        """One text per group."""
        return group_names(self.groups)

    def differences(self) -> pd.DataFrame:
        """Each number of both, and the difference with its interval.

        Returns
        -------
        DataFrame, indexed by number (assumed_accuracy, induced_accuracy, application_rate, social_cost)
            before, after, difference (after less before), low and high (the ends of its interval, over the resamples
            in which it is defined), undefined (the share of resamples in which it is not).
        """
        tail = (1 - self.confidence) / 2
        rows = []
        for name in MEASURED:
            old, new = (float(getattr(found, name)) for found in (self.before, self.after))
            one, other = self.drawn
            lower, upper = other.low[name] - one.high[name], other.high[name] - one.low[name]
            defined = ~np.isnan(lower)
            low = float(np.quantile(lower[defined], tail)) if defined.any() else np.nan
            high = float(np.quantile(upper[defined], 1 - tail)) if defined.any() else np.nan
            rows.append((old, new, new - old, low, high, float(1 - defined.mean())))
        columns = ["before", "after", "difference", "low", "high", "undefined"]
        return pd.DataFrame(rows, index=pd.Index(MEASURED, name="number"), columns=columns)

    def to_frame(self) -> pd.DataFrame:
        """What became of each group, one row per group of either.

        Returns
        -------
        DataFrame, indexed by group
            For both: n, base_rate, selected, precision, cost, applies (None if the group is not there) and
            applies_in (the share of resamples in which it applies), with ``_before`` and ``_after`` behind the name;
            and change ("comes", "leaves", "applies", "stays away", "shut out", "new, applies", ...).
        """
        parts = {}
        for when, found, drawn in (("before", self.before, self.drawn[0]), ("after", self.after, self.drawn[1])):
            frame = found.to_frame()
            own = with_same_columns(found.published.groups, self.groups, "A table", "the list of groups")
            at = position_of(own, self.groups, "A table", "the list of groups")
            for name in ("n", "base_rate", "selected", "precision", "cost", "applies"):
                column = np.full(len(self.groups), None if name == "applies" else np.nan, dtype=object)
                column[at] = frame[name].to_numpy(dtype=object)
                parts[f"{name}_{when}"] = column if name == "applies" else column.astype(np.float64)
            share = np.full(len(self.groups), np.nan)
            share[at] = drawn.applies.to_numpy()
            parts[f"applies_in_{when}"] = share
        frame = pd.DataFrame(parts, index=self.groups)
        pairs = zip(parts["applies_before"], parts["applies_after"], strict=True)
        changes = [CHANGES[_truth(old), _truth(new)] for old, new in pairs]
        passing = parts["selected_after"]
        frame["change"] = [
            SHUT_OUT.get(was, was) if now == 0 else was for was, now in zip(changes, passing, strict=True)
        ]
        for name in ("n", "selected"):
            for when in ("before", "after"):  # counts of a group that is not there are none
                whole = frame[f"{name}_{when}"].fillna(0)
                frame[f"{name}_{when}"] = whole.astype(np.int64) if (whole == np.floor(whole)).all() else whole
        names = ("n", "base_rate", "selected", "precision", "cost", "applies", "applies_in")
        order = [f"{name}_{when}" for name in names for when in ("before", "after")]
        return frame[["change", *order]]

    # ------------------------------------------------------------------ in words

    def verdict(self) -> str:
        """What changed, in a few sentences, and whether it is more than chance."""
        return " ".join(self._said())

    def _said(self) -> list[str]:
        """The sentences of the verdict."""
        who, *by_chance = self._who()
        numbers = [self._on(name) for name in ("induced_accuracy", "social_cost")]
        return [f"From {self.names[0]} to {self.names[1]}: {who}", *by_chance, *numbers]

    def _who(self) -> list[str]:
        """Who comes and who leaves, and whether that may be chance."""
        changes = self.to_frame()["change"].tolist()

        def those(*kinds: str) -> list[str]:
            return [name for name, change in zip(self.group_names, changes, strict=True) if change in kinds]

        said = []
        for names, one, several in (
            (those("comes"), "comes", "come"),
            (those("leaves"), "leaves", "leave"),
            (those("shut out now"), "is shut out (nobody passes)", "are shut out (nobody passes)"),
            (those("new, shut out"), "is new and shut out", "are new and shut out"),
            (those("new, applies"), "is new and applies", "are new and apply"),
            (those("new, stays away"), "is new and stays away", "are new and stay away"),
            (those("gone, applied", "gone, stayed away"), "is gone", "are gone"),
        ):
            if names:
                said.append(f"{listed(names)} {one if len(names) == 1 else several}")
        if said:
            return ["; ".join(said) + ".", *self._by_chance(those("comes"), those("leaves"))]
        applying = changes.count("applies")
        if applying == len(changes):
            return ["every group applies, as before."]
        if applying == 0:
            return ["nobody applies, as before."]
        return [f"nobody comes and nobody leaves; {count(applying)} of {count(len(changes))} groups apply."]

    def _by_chance(self, coming: list[str], leaving: list[str]) -> list[str]:
        """Whether those who come and leave do so in most pairs of resamples too; empty if they do, or nobody moves."""
        chances = []
        for moving, to in ((coming, 1), (leaving, 0)):
            for name in moving:
                group = self.groups[self.group_names.index(name)]
                now, then = (
                    as_decisions(drawn.shares[:, list(drawn.groups).index(group)])
                    for drawn in (self.drawn[to], self.drawn[1 - to])
                )
                likely = float((now & ~then).mean())
                if likely < self.confidence:
                    chances.append(f"{name} (it happens in {percent(likely)} of draws)")
        if not chances:
            return []
        return [f"With people drawn anew, that may be chance for {listed(chances)}."]

    def _on(self, name: str) -> str:
        row = self.differences().loc[name]
        what = {"induced_accuracy": "Accuracy on those who apply", "social_cost": "Social cost"}[name]
        old, new = percent(row["before"]), percent(row["after"])
        moves = f"stays at {old}" if old == new else f"goes from {old} to {new}"
        if math.isnan(row["difference"]):
            return f"{what} {moves}."
        between = f"{level(self.confidence)} interval {points(row['low'])} to {points(row['high'])}"
        sure = "which may be chance" if row["low"] <= 0 <= row["high"] else "more than chance"
        undefined = f"; in {percent(row['undefined'])} of resamples nobody applies" if row["undefined"] > 0 else ""
        return f"{what} {moves}, by {points(row['difference'])} points ({between}{undefined}), {sure}."

    def notes(self) -> list[str]:
        """How the intervals were made."""
        who = "the same people under both" if self.paired else "two independent sets of people"
        return [
            f"Intervals are those of a bootstrap over people ({who}; {count(len(self.drawn[0].shares))} resamples, "
            "stratified by group). In each, people decide by what would be published of those who were drawn."
        ]

    # ------------------------------------------------------------------ as data

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values; NaN becomes None."""
        numbers = self.differences().to_dict("index")
        return {
            "names": list(self.names),
            "paired": self.paired,
            "n_resamples": len(self.drawn[0].shares),
            "confidence": self.confidence,
            "seed": self.seed if isinstance(self.seed, int) else None,
            **{str(name): {key: plain_value(value) for key, value in row.items()} for name, row in numbers.items()},
            "groups": plain_groups(self.group_names, self.to_frame()),
        }

    def to_json(self) -> str:
        """JSON text of :meth:`to_dict`."""
        return as_json(self.to_dict())

    def number_rows(self) -> list[dict[str, str]]:
        """The numbers as lines of a table."""
        return [
            {
                "": SAID[str(name)],
                "before": percent(row["before"]),
                "after": percent(row["after"]),
                "difference in points": _or_dash(row["difference"], points),
                f"{level(self.confidence)} interval": "-"
                if math.isnan(row["low"])
                else f"{points(row['low'])} to {points(row['high'])}",
            }
            for name, row in self.differences().iterrows()
        ]

    def group_rows(self) -> list[dict[str, str]]:
        """The groups as lines of a table."""
        rows = []
        for name, row in zip(self.group_names, self.to_frame().to_dict("records"), strict=True):
            told: dict[str, str] = {"group": name, "change": row["change"]}
            for when in ("before", "after"):
                told |= {
                    f"people {when}": count(row[f"n_{when}"]),
                    f"precision {when}": _or_dash(row[f"precision_{when}"], percent),
                    f"cost {when}": _or_dash(row[f"cost_{when}"], amount),
                    f"applies {when}": _yes_or_no(row[f"applies_{when}"]),
                    f"of resamples {when}": _or_dash(row[f"applies_in_{when}"], percent),
                }
            rows.append(told)
        return rows

    def to_html(self) -> str:
        """Page with the verdict, a picture of both and the tables. Needs the extra ``report``."""
        old, new = (short_name(name) for name in self.names)
        groups = [row | {"group": short_name(row["group"])} for row in self.group_rows()]
        return render_document(
            {
                "eyebrow": "What changed?",
                "title": short_name(self.title or f"{self.names[0]} and {self.names[1]}"),
                "headline": [printable(part) for part in self._said()],
                "paragraphs": self.notes(),
                "chart": {
                    "kind": "comparison",
                    "title": "Who came, who left?",
                    "text": f"Each group's precision, {old} (grey squares) and {new} (below, in colour), with 95% "
                    "intervals. Shaded: not worth applying, up to the line of its cost (dashed: what it was before).",
                    "order": own_order(self.group_names),
                    "names": [old, new],
                    "groups": self._drawn_groups(),
                },
                "tables": [
                    {"title": "Numbers", "rows": self.number_rows(), "left": [""]},
                    {"title": "Groups", "rows": groups, "left": ["group", "change"]},
                ],
                "constants": page_constants(),
                "provenance": source_content(self.after.provenance)
                | {"sha256": ", ".join(filter(None, [found.provenance.sha256 for found in (self.before, self.after)]))},
            }
        )

    def _drawn_groups(self) -> list[dict[str, Any]]:
        """What the picture shows of each group, before and after."""
        changes = self.to_frame()["change"].tolist()
        drawn = [
            {"name": short_name(name), "change": change, "before": dict(ABSENT), "after": dict(ABSENT)}
            for name, change in zip(self.group_names, changes, strict=True)
        ]
        for when, found in (("before", self.before), ("after", self.after)):
            own = with_same_columns(found.published.groups, self.groups, "A table", "the list of groups")
            places = position_of(own, self.groups, "A table", "the list of groups")
            for place, side in zip(places.tolist(), found.sides(), strict=True):
                drawn[place][when] = side
        return drawn

    def _repr_html_(self) -> str:
        return f"<p>{html_text(self.verdict())}</p>{self.to_frame()._repr_html_()}"

    def __repr__(self) -> str:
        return f"{self.verdict()}\n{self.differences()}\n{self.to_frame()}"


def points(difference: float) -> str:
    """A difference of shares, in points of a hundred, with its sign.

    Examples
    --------
    >>> points(0.0123), points(-0.02), points(0.0)
    ('+1.2', '-2.0', '0.0')
    """
    text = percent(difference).removesuffix("%")
    text = "0.0" if text == "-0.0" else text
    return f"+{text}" if difference > 0 and text != "0.0" else text


def _truth(value: Any) -> bool | None:
    return None if value is None else bool(value)


def _yes_or_no(value: Any) -> str:
    return "-" if value is None else "yes" if value else "no"


def _or_dash(value: float, form: Any) -> str:
    return "-" if math.isnan(value) else str(form(value))


def compare(
    before: Audit,
    after: Audit,
    *,
    pairs: PairedCounts | None = None,
    names: Sequence[str] = ("A", "B"),
    n_resamples: int = 1000,
    confidence: float = 0.95,
    random_state: Any = 0,
) -> Comparison:
    """Compare two audits: this year with last, or one model with another.

    Parameters
    ----------
    before, after : Audit
        The two.
    pairs : PairedCounts, optional
        If both are audits of the same people under two models: how many pass under each. Without it they are two
        independent sets of people. Of the same people the difference is known far better.
    names : two str, default=("A", "B")
        What they are called.
    n_resamples : int, default=1000
        How often people are drawn again.
    confidence : float, default=0.95
        Of the intervals, which run between percentiles.
    random_state : int or sequence of int, default=0
        Seed; the same one gives the same answer.

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
    level_asked = check_fraction(confidence, "confidence", inclusive=False)
    called = tuple(map(str, names))
    if len(called) != 2:
        raise ValueError(f"names must be two, one for each audit, got {names!r}.")
    if pairs is None:
        seeds = [random_state] if isinstance(random_state, int | np.integer) else list(random_state)
        drawn = tuple(
            resample(
                found.published_by, found.counted_on, found.terms, n_resamples=n_resamples, random_state=[*seeds, i]
            )
            for i, found in enumerate((before, after))
        )
    else:
        _check_pairs(pairs, before, after)
        drawn = _resample_pairs(pairs, before.terms, after.terms, n_resamples, random_state)
    return Comparison(
        before, after, (called[0], called[1]), (drawn[0], drawn[1]), pairs is not None, level_asked, random_state
    )


def _check_pairs(pairs: PairedCounts, *audits: Audit) -> None:
    for found, counted, which in zip(audits, pairs.counts(), ("first", "second"), strict=True):
        if found.of_new_people or not found.published.groups.equals(pairs.groups):
            raise ValueError(f"pairs and the {which} audit are not about the same people: their groups differ.")
        if not all(np.allclose(*both) for both in zip(counted.columns, found.published.counts.columns, strict=True)):
            raise ValueError(f"pairs and the {which} audit are not about the same people: their counts differ.")


def _resample_pairs(
    pairs: PairedCounts, before: Terms, after: Terms, n_resamples: int, seed: Any
) -> tuple[Resamples, Resamples]:
    """Draw the same people for both models."""
    if not isinstance(n_resamples, int) or n_resamples < FEWEST_RESAMPLES:
        raise ValueError(f"n_resamples must be a whole number of at least {FEWEST_RESAMPLES}, got {n_resamples!r}.")
    rng = np.random.default_rng(seed)
    block = max(1, MOST_DRAWN // max(pairs.cells.size, 1))
    shares: tuple[list[Any], list[Any]] = ([], [])
    found: tuple[list[dict[str, FloatArray]], list[dict[str, FloatArray]]] = ([], [])
    costs = [terms.effective_cost(pairs.groups) for terms in (before, after)]
    for start in range(0, n_resamples, block):
        both = _margins(pairs.draw(min(block, n_resamples - start), rng))
        for i, (terms, counts) in enumerate(zip((before, after), both, strict=True)):
            decided = terms.behaviour.shares(counts.true_positives, counts.selected, costs[i])
            here = np.asarray(decided, dtype=np.float64)
            bounds = outcome_bounds(counts, here)
            rate = ratio((here * counts.n).sum(axis=-1), counts.n.sum(axis=-1))
            shares[i].append(decided)
            found[i].append({name: bounds[name][0] for name in BOUNDED} | {"application_rate": rate})
    made = []
    for i in (0, 1):
        numbers = {name: np.concatenate([part[name] for part in found[i]]) for name in MEASURED}
        made.append(Resamples(pairs.groups, np.concatenate(shares[i]), numbers, numbers))
    return made[0], made[1]
