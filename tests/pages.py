"""Audits to make pages of, and what a page of each is given."""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd

from hostile import OTHERS, WITHOUT_HALVES
from selfselect import PublishedStatistics, audit
from selfselect.auditing import Audit, Provenance, ScreeningResult
from selfselect.behaviour import BestResponse, LogitResponse
from selfselect.costs import Terms
from selfselect.counting import GroupCounts
from selfselect.simulation import simulate
from selfselect.statistics import Guaranteed, LowerBound, Precision

#: Names of groups that browsers accept, and the first that is markup.
HOSTILE = list(dict.fromkeys(WITHOUT_HALVES))
MARKUP, CLOSING = OTHERS[:2]


def people(names, n=3000, seed=0):
    rng = np.random.default_rng(seed)
    z = rng.choice(len(names), n)
    score = rng.random(n)
    y = rng.random(n) < score * (0.6 + 0.4 * z / max(len(names) - 1, 1))
    return y, score, [names[i] for i in z]


def hostile_audit():
    y, score, z = people(HOSTILE)
    source = Provenance(
        title=MARKUP, command=CLOSING, sha256="ab" * 32, label="{{7*7}}", groups="g", score="\"quoted\" & 'single'"
    )
    return audit(y, score=score, sensitive_features=z, cost=0.7, provenance=source)


def example(names=("A", "B", "C", "tiny"), n=4000, **options):
    y, score, z = people(list(names), n=n)
    keep = [name != "tiny" or i % 40 == 0 for i, name in enumerate(z)]
    y, score, z = y[keep], np.round(score[keep], 3), [name for name, kept in zip(z, keep, strict=True) if kept]
    return audit(y, score=score, sensitive_features=z, **{"cost": 0.7, **options})


def elsewhere(audited, threshold=None, cost=None, subsidies=None):
    """The same people under another setting."""
    threshold = audited.threshold if threshold is None else threshold
    screened = ScreeningResult.from_curves(audited.curves, threshold)
    terms = audited.terms.at_cost(audited.cost if cost is None else cost)
    if subsidies is not None:
        terms = terms.with_subsidies(subsidies)
    return replace(audited, published_by=screened, counted_on=screened, terms=terms, other_costs=())


def embedded_text(page):
    """The data inside a page, as it stands there."""
    return re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S).group(1)


def content_of(audited):
    """What the page of an audit is given."""
    return json.loads(embedded_text(audited.to_html(min_cell=0)))


def settle(page):
    """Wait until a page in the browser has drawn everything."""
    page.evaluate(
        """() => new Promise((done) => {
            const drawn = () => [...document.querySelectorAll(".picture")].every((box) => box.firstChild);
            const look = () => requestAnimationFrame(() => (drawn() ? requestAnimationFrame(done) : look()));
            look();
        })"""
    )


# ---------------------------------------------------------------- audits of every kind


def random_audit(seed):
    """An audit of few or many people, once or twice: ties, weights, thresholds anywhere, terms of all kinds."""
    rng = np.random.default_rng(seed)
    labels = [f"group {i}" for i in range(rng.integers(1, 13))]
    distinct = int(rng.choice([1, 2, 10, 7919]))
    threshold = None if rng.random() < 0.2 else random_threshold(rng, distinct)
    published_by = random_people(rng, labels, distinct, threshold, everyone=True)
    counted_on = published_by
    if rng.random() < 0.5:
        some = rng.permutation(labels)[: rng.integers(1, len(labels) + 1)].tolist()
        counted_on = random_people(rng, some, distinct, threshold, everyone=False)
    terms = random_terms(rng, labels)
    if seed % 7 == 3:
        same = counted_on is published_by
        published_by = with_untested(rng, published_by)
        counted_on = published_by if same else with_untested(rng, counted_on)
    return Audit(published_by, counted_on, terms)


def with_untested(rng, people):
    """The same people, after some of those who did not pass were not tested."""
    counts = people.counts
    missed, rejected = counts.positives - counts.true_positives, counts.n - counts.selected
    lost = np.floor(rng.random(len(counts.n)) * (missed + 1))
    lost = np.minimum(lost, missed).astype(counts.n.dtype)
    others = np.floor(rng.random(len(counts.n)) * np.maximum(rejected - missed, 0)).astype(counts.n.dtype)
    table = PublishedStatistics(
        people.groups,
        GroupCounts(counts.n, counts.positives - lost, counts.selected, counts.true_positives, lost + others),
    )
    return ScreeningResult(table, threshold=people.threshold)


def random_threshold(rng, distinct):
    """Below, at, between, just above or far above the scores, which are multiples of 1 / distinct from 0 to below 1."""
    at = float(rng.integers(0, distinct) / distinct)
    choices = [-np.inf, -3.5, 0.0, at, at + 0.3 / distinct, rng.random(), 1 - 0.1 / distinct, 1.0, 7.25, np.inf]
    return float(choices[rng.integers(len(choices))])


def random_people(rng, labels, distinct, threshold, everyone):
    n = int(rng.choice([5, 60, 2000]))
    groups = rng.choice(labels, n).tolist() + (labels if everyone else [])
    score = rng.integers(0, distinct, len(groups)) / distinct
    worse = 0.0 if everyone else float(rng.choice([0, 0.1, 0.4]))  # than was promised
    y = rng.random(len(groups)) < np.clip(score - worse + rng.normal(0, 0.2, len(groups)), 0.02, 0.98)
    weights = rng.integers(1, 9, len(groups)) / 4 if rng.random() < 0.2 else None
    if threshold is None:
        return ScreeningResult.from_predictions(y, score > 0.5, sensitive_features=groups, sample_weight=weights)
    return ScreeningResult.from_scores(y, score, threshold=threshold, sensitive_features=groups, sample_weight=weights)


def random_terms(rng, labels):
    def cost():
        return float(rng.choice([0, 0.25, 0.5, 0.7, 1, rng.random()]))

    kind = str(rng.choice(["additive", "proportional"]))
    paid = {label: float(rng.choice([0, 0.1, rng.random()])) for label in labels if rng.random() < 0.5}
    subsidies = [None, 0.05, paid][rng.integers(3)]
    undefined = "apply" if rng.random() < 0.25 else "abstain"
    costs = {label: cost() for label in labels} if rng.random() < 0.3 else cost()
    if kind == "additive" and subsidies is not None:  # nobody is paid more than the cost
        paid = subsidies if isinstance(subsidies, dict) else dict.fromkeys(labels, subsidies)
        limits = costs if isinstance(costs, dict) else dict.fromkeys(labels, costs)
        subsidies = {label: min(amount, limits[label]) for label, amount in paid.items()}
    statistic = Precision()
    if rng.random() < 0.5:
        level = float(rng.choice([0.3, 0.5, 0.9, 0.99, 0.99875, rng.uniform(0.5, 1)]))
        statistic = LowerBound(level)
        if rng.random() < 0.2:
            statistic = Guaranteed(statistic, tuple((rng.random(len(labels)) < 0.7).tolist()))
    return Terms(costs, subsidies, kind, BestResponse(undefined), statistic)


def some_rounds(names):
    """Four rounds of a counted population: the first name always applies, the last never."""
    rates = np.linspace(0.9, 0.4, len(names))
    cells = [
        (name, score, 50, 50 * rate * score) for name, rate in zip(names, rates, strict=True) for score in (0.5, 1)
    ]
    frame = pd.DataFrame(cells, columns=["group", "score", "n", "positives"])
    return simulate(frame, 0.5, cost=0.65, rounds=4, exploration=0.1, behaviour=LogitResponse(0.05))
