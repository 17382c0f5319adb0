"""Results of every public function in plain values by group, for ``test_metamorphic.py``.

A *view* takes people and returns results by name. ``SHOWN`` has the results that each public name is responsible for.
"""

import tempfile
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import norm

import selfselect
from selfselect import metrics, planning, theory
from selfselect.behaviour import BetaBeliefs, LogitResponse, PrivateCosts
from selfselect.constraints import BaseRateOrder, DemographicParity, violations
from selfselect.publishing import LowerBound

COST, HIGH_COST, THRESHOLD = 0.64, 0.75, 0.5


@dataclass(frozen=True)
class People:
    """Columns of a table of people; without ``weight`` each counts once."""

    X: object
    y: object
    score: object
    z: object
    weight: object = None
    threshold: float = THRESHOLD

    @property
    def keywords(self):
        """Keyword arguments that most functions take."""
        return {"sensitive_features": self.z, "sample_weight": self.weight}

    @property
    def yhat(self):
        return np.asarray(self.score, dtype=float) > self.threshold


def some_people(n=240, seed=0):
    """Four groups of different sizes and base rates; scores tie often, and some tie with the threshold."""
    rng = np.random.default_rng(seed)
    z = rng.choice(["A", "B", "C", "D"], n, p=[0.4, 0.3, 0.2, 0.1])
    rate = pd.Series(z).map({"A": 0.6, "B": 0.45, "C": 0.3, "D": 0.5}).to_numpy()
    y = (rng.random(n) < rate).astype(int)
    signal = np.clip(rng.normal(0.35 + 0.3 * y, 0.2), 0.01, 0.99)
    X = pd.DataFrame({"x": signal.round(2), "noise": rng.normal(size=n).round(3)})
    return People(X, y, X["x"].to_numpy(), z)


def take(p, rows):
    """Some rows, in any order and as often as named."""
    part = {name: np.asarray(getattr(p, name))[rows] for name in ("y", "score", "z")}
    weight = None if p.weight is None else np.asarray(p.weight)[rows]
    return replace(p, X=p.X.iloc[rows].reset_index(drop=True), weight=weight, **part)


def one_by_one(p):
    """Rows repeated by their weights, for functions that take no weights."""
    if p.weight is None:
        return p
    return replace(take(p, np.repeat(np.arange(len(p.y)), np.asarray(p.weight, dtype=int))), weight=None)


def weights(p):
    return np.ones(len(p.y)) if p.weight is None else np.asarray(p.weight, dtype=float)


def are_qualified(p):
    return np.asarray(p.y) == 1


# ---------------------------------------------------------------------- registry

VIEWS = {}
#: Results (view, part) by public name.
SHOWN = {}
#: Columns that depend on sums of weights only; intervals also depend on how many people there are.
POINTS = ["n", "positives", "base_rate", "selected", "true_positives", "selection_rate", "precision", "accuracy"]


def view(**parts):
    """Register a view, with the public names that each of its parts is about."""

    def keep(function):
        VIEWS[function.__name__] = function
        for part, names in parts.items():
            for name in names.split():
                SHOWN.setdefault(name, []).append((function.__name__, part))
        return function

    return keep


def by_group(frame, columns):
    return {str(group): {name: float(row[name]) for name in columns} for group, row in frame.iterrows()}


def each(groups, values):
    """Values by the name of the group, as plain ones."""
    return {str(group): value for group, value in zip(groups, np.asarray(values).tolist(), strict=True)}


def outcome_of(found):
    names = ("assumed_accuracy", "induced_accuracy", "application_rate", "social_cost", "applying_groups")
    return {name: float(getattr(found, name)) for name in names}


def statistics_of(p):
    return selfselect.PublishedStatistics.from_predictions(p.y, p.yhat, **p.keywords)


# ---------------------------------------------------------------------- counting and deciding


@view(
    groups="PublishedStatistics", applies="BestResponse", subsidised="Terms", outcome="metrics.outcome metrics.Outcome"
)
def published(p):
    stats = statistics_of(p)
    applies = stats.applies(COST)
    return {
        "groups": by_group(stats.to_frame(), POINTS),
        "applies": each(stats.groups, stats.shares(selfselect.Terms(COST, behaviour=selfselect.BestResponse()))),
        "subsidised": each(stats.groups, stats.shares(selfselect.Terms(HIGH_COST, 0.2, "proportional"))),
        "outcome": outcome_of(metrics.outcome(stats, applies)),
    }


@view(sizes="encode_groups GroupCodes", groups="GroupCounts")
def counted(p):
    codes = selfselect.encode_groups(p.z)
    counts = selfselect.GroupCounts.from_rows(are_qualified(p), p.yhat, codes.codes, codes.n_groups, weights(p))
    frame = pd.DataFrame(counts.to_dict(), index=codes.labels)
    frame = frame[frame["n"] > 0]  # a category may be unused
    sizes = pd.Series(weights(p)).groupby(np.asarray(codes.labels)[codes.codes]).sum()
    return {
        "sizes": each(sizes.index, sizes),
        "groups": by_group(frame, ["n", "positives", "selected", "true_positives"]),
    }


BEHAVIOURS = {"logit": LogitResponse(0.1), "private": PrivateCosts(norm(0, 0.1)), "beliefs": BetaBeliefs(0.5, 10)}
RATES = (DemographicParity(ratio_bound=0.9), BaseRateOrder())


@view(**dict.fromkeys(BEHAVIOURS, "behaviour"), amounts="constraints")
def parts(p):
    stats = statistics_of(p)
    amounts = violations(RATES, stats.groups, stats.counts, stats.shares(selfselect.Terms(COST)))
    shares = {name: stats.shares(selfselect.Terms(COST, behaviour=response)) for name, response in BEHAVIOURS.items()}
    return {name: each(stats.groups, own) for name, own in shares.items()} | {"amounts": amounts.tolist()}


@view(value="StrategicObjective")
def objective(p):
    score = 4 * (np.asarray(p.X)[:, 0] - 0.5)
    made = selfselect.StrategicObjective(cost=COST, constraints=RATES)
    return {"value": float(made.value_and_gradient(score, p.y, p.z, p.weight)[0])}


@view(shares="simulation", outcome="simulation")
def repeated(p):
    """Rounds without chance: best responses, no exploration, and no split of the people."""
    q = one_by_one(p)
    people = (q.X, q.y, q.z)
    firm = selfselect.NaiveClassifier(cost=COST, publish="train")
    history = selfselect.simulation.simulate(people, firm, rounds=3, initial=people)
    last = history.to_frame().tail(len(history.groups)).set_index("group")
    totals = history.totals()[["induced_accuracy", "social_cost", "application_rate"]]
    return {
        "shares": by_group(last, ["published", "share", "delivered", "accuracy", "utility"]),
        "outcome": totals.to_numpy(dtype=float).tolist(),
    }


@view(surely="publishing", intervals="precision_interval")
def sure(p):
    stats = statistics_of(p)
    ends = np.transpose(selfselect.precision_interval(stats.counts.true_positives, stats.counts.selected))
    return {
        "surely": each(stats.groups, stats.shares(selfselect.Terms(COST, statistic=LowerBound(0.8)))),
        "intervals": each(stats.groups, ends),
    }


@view(groups="ThresholdCurves", order="ThresholdCurves", thresholds="ThresholdCurves")
def curves(p):
    made = selfselect.ThresholdCurves.from_scores(p.y, p.score, **p.keywords)
    return {
        "groups": by_group(made.at(p.threshold).to_frame(), POINTS),
        "order": [str(group) for group in made.application_order(COST).index],
        "thresholds": made.outcomes(COST).drop(columns="threshold").to_numpy(dtype=float).tolist(),
    }


# ---------------------------------------------------------------------- auditing


def audited_at(p, cost, **more):
    return selfselect.audit(p.y, score=p.score, threshold=p.threshold, cost=cost, **p.keywords, **more)


@view(groups="audit Audit ScreeningResult", outcome="audit Audit ScreeningResult")
def audited(p):
    found = audited_at(p, COST)
    by_prediction = selfselect.audit(p.y, y_pred=p.yhat, cost=COST, **p.keywords)
    assert isinstance(found.published_by, selfselect.ScreeningResult)
    assert outcome_of(found) == outcome_of(by_prediction)
    return {
        "groups": by_group(found.to_frame(), [*POINTS, "subsidy_needed", "cost", "applies"]),
        "outcome": outcome_of(found),
    }


@view(cells="PairedCounts")
def paired(p):
    other = np.asarray(p.X)[:, 1] > 0
    made = selfselect.PairedCounts.from_predictions(p.y, p.yhat, other, **p.keywords)
    first, second = made.counts()
    for counts, yhat in ((first, p.yhat), (second, other)):
        own = selfselect.PublishedStatistics.from_predictions(p.y, yhat, **p.keywords).counts
        assert counts.selected.tolist() == own.selected.tolist()
    return {"cells": each(made.groups, made.cells.reshape(-1, 8).astype(float))}


@view(differences="compare Comparison")
def compared(p):
    after = selfselect.audit(p.y, y_pred=np.ones(len(p.y), dtype=int), cost=0.35, **p.keywords)
    made = selfselect.compare(audited_at(p, COST), after, n_resamples=20)
    return {"differences": made.differences()["difference"].to_dict()}


# ---------------------------------------------------------------------- metrics


@view(
    induced="metrics.induced_accuracy", social="metrics.social_cost", rate="metrics.application_rate",
    assumed="metrics.assumed_accuracy", people="metrics.applicant_utility", firm="metrics.firm_utility",
)  # fmt: skip
def measured(p):
    y, yhat = are_qualified(p).astype(int), p.yhat.astype(int)
    stats = statistics_of(p)
    shared = {"applies": stats.applies_to(p.z, COST), "sample_weight": p.weight}
    return {
        "induced": metrics.induced_accuracy(y, yhat, **shared),
        "social": metrics.social_cost(y, **shared),
        "rate": metrics.application_rate(y, **shared),
        "assumed": metrics.assumed_accuracy(y, yhat, sample_weight=p.weight),
        "people": metrics.applicant_utility(y, yhat, cost=COST, **shared),
        "firm": metrics.firm_utility(y, yhat, price=0.3, **shared),
    }


@view(agreement="metrics.rank_agreement metrics.RankAgreement")
def ranked(p):
    stats = statistics_of(p)
    found = metrics.rank_agreement(stats.base_rate, stats.precision)
    names = ("r2", "spearman", "kendall", "respected", "n_groups")
    return {"agreement": {name: float(getattr(found, name)) for name in names}}


@view(
    induced="metrics.induced_accuracy_scorer metrics.ApplicationScorer",
    social="metrics.social_cost_scorer",
)
def scored(p):
    model = fitted(selfselect.NaiveClassifier, p)
    scorers = {"induced": metrics.induced_accuracy_scorer(HIGH_COST), "social": metrics.social_cost_scorer(HIGH_COST)}
    return {name: scorer(model, p.X, p.y, **p.keywords) for name, scorer in scorers.items()}


# ---------------------------------------------------------------------- planning


def paid(plan):
    return {str(group): float(row["subsidy"]) for group, row in plan.to_frame().iterrows()}


@view(groups="plan_subsidies SubsidyPlan", budgeted="plan_subsidies", prices="SubsidyPlan")
def planned(p):
    shared = {"score": p.score, "threshold": p.threshold, **p.keywords}
    budgeted = selfselect.plan_subsidies(p.y, cost=0.8, budget=0.05 * weights(p).sum(), **shared)
    price = budgeted.spending.price
    return {
        "groups": paid(selfselect.plan_subsidies(p.y, cost=HIGH_COST, **shared)),
        "budgeted": paid(budgeted),
        "prices": each(price.index, price),
    }


@view(groups="plan_subsidies", published="plan_subsidies")
def retrained(p):
    """A firm that answers subsidies with another threshold."""
    q = one_by_one(p)
    firm = planning.refit(selfselect.SemiStrategicClassifier(publish="train"), q.X, q.y, selfselect.encode_groups(q.z))
    plan = planning.plan_under_retraining(audited_at(q, HIGH_COST), firm, max_fits=6)
    return {"groups": paid(plan), "published": by_group(firm(selfselect.Terms(HIGH_COST)).to_frame(), POINTS)}


@view(one="threshold_frontier ThresholdFrontier", per_group="threshold_frontier ThresholdFrontier")
def frontier(p):
    made = selfselect.threshold_frontier(p.y, p.score, cost=COST, threshold=p.threshold, **p.keywords)
    return {way: [outcome_of(point.outcome) for point in getattr(made, way)] for way in ("one", "per_group")}


@view(points="accuracy_social_cost_frontier", who="accuracy_social_cost_frontier")
def traded(p):
    """Evaluated on repeated rows, because ``evaluate`` takes no weights."""
    q = one_by_one(p)
    made = selfselect.accuracy_social_cost_frontier(
        p.X, p.y, **p.keywords, cost=COST, limits=[1.0, 0.2], evaluate=(q.X, q.y, q.z), publish="train", progress=False
    )
    names = ["feasible", "induced_accuracy", "social_cost", "application_rate", "applying_groups", "efficient"]
    return {
        "points": made[names].to_numpy(dtype=float).tolist(),
        "who": [{str(group): True for group in groups} for groups in made["who"]],
    }


# ---------------------------------------------------------------------- theory


@view(accuracy="theory", groups="theory", ways="theory", precision="theory")
def proven(p):
    made = selfselect.ThresholdCurves.from_scores(p.y, p.score, **p.keywords)
    best = theory.strategic_optimum(made, COST, min_selected=0.06 * weights(p).sum())
    ways = theory.block_groups(made, p.threshold, [made.groups[made.n.argmax()]], COST)
    return {
        "accuracy": best.accuracy,
        "groups": {str(group): True for group in best.groups},
        "ways": each(ways.index, ways["way"]),
        "precision": each(ways.index, ways["precision"]),
    }


# ---------------------------------------------------------------------- classifiers

CLASSIFIERS = {
    "naive": selfselect.NaiveClassifier,
    "semi": selfselect.SemiStrategicClassifier,
    "thresholds": selfselect.GroupThresholdClassifier,
    "strategic": selfselect.StrategicClassifier,
}
WAYS = ("train", "cross_fit", "holdout")


def fitted(cls, p, **options):
    """Fitted classifier; by default it publishes training data."""
    return cls(cost=COST, **{"publish": "train", **options}).fit(p.X, p.y, **p.keywords)


def classified(model, p):
    return {
        "groups": by_group(model.published_.to_frame(), POINTS),
        "applies": each(model.applies().index, model.applies()),
        "audited": outcome_of(model.audit(p.X, p.y, p.z, sample_weight=p.weight)),
    }


def add_classifier(name, cls, publish):
    def seen(p):
        return classified(fitted(cls, p, publish=publish), p)

    seen.__name__ = f"{name}, {publish}"
    view(groups=cls.__name__, applies=cls.__name__, audited=cls.__name__)(seen)


for _name, _publish in product(CLASSIFIERS, WAYS):
    add_classifier(_name, CLASSIFIERS[_name], _publish)


@view(groups="PaperClassifier", audited="PaperClassifier")
def descended(p):
    return classified(fitted(selfselect.PaperClassifier, p, n_starts=1, max_iter=40, random_state=0), p)


@view(groups="save_model load_model", audited="load_model")
def loaded(p):
    with tempfile.TemporaryDirectory() as folder:
        selfselect.save_model(fitted(selfselect.NaiveClassifier, p), Path(folder) / "model.skops")
        return classified(selfselect.load_model(Path(folder) / "model.skops"), p)
