"""``selfselect demo``: screening models of increasing awareness on bundled data."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import click
import pandas as pd
from sklearn.model_selection import train_test_split

from selfselect._files import write_atomically
from selfselect._formats import or_dash
from selfselect._notices import captured_warnings
from selfselect._text import printable
from selfselect.auditing import Audit, Provenance, ScreeningResult
from selfselect.constraints import BaseRateOrder, DemographicParity, MaxSocialCost, TruePositiveRateParity
from selfselect.datasets import fetch_adult
from selfselect.estimators import (
    NaiveClassifier,
    SelfSelectionClassifier,
    SemiStrategicClassifier,
    StrategicClassifier,
)
from selfselect.metrics import rank_agreement
from selfselect.publishing import CrossFit, LowerBound
from selfselect.report import Opening, check_available
from selfselect.report.pages import audit_page
from selfselect.report.sentences.rounds import KEY, letters
from selfselect.simulation import simulate

from .outputs import check_files
from .terminal import text_table

#: Costs at which the naive model is shown.
COSTS = (0.6, 0.65, 0.675, 0.7, 0.75)
#: Cost at which methods are shown side by side.
COST = 0.75
#: Rounds that are shown, their cost, the share of people whose labels are known at first, and the share explored.
ROUNDS, ROUNDS_COST, INITIAL, EXPLORATION = 20, 0.6, 0.1, 0.05
#: Cost that the report opens with. At this cost some groups apply to the naive model and others do not.
REPORT_COST = 0.7


class DemoPeople(NamedTuple):
    """Features, labels and groups."""

    X: pd.DataFrame
    y: pd.Series
    z: pd.Series


def run(report: str | None, force: bool) -> None:
    """Fit models to the Adult data, write a page about the naive one, and show them all."""
    check_files({"report": report}, force=force)
    train, new, group_columns = load_people()
    naive = NaiveClassifier(cost=min(COSTS)).fit(train.X, train.y, sensitive_features=train.z)
    about_page = _write_page(_audit(naive, train, new), report)
    show_methods(naive, train, new, group_columns)
    show_rounds(train)
    click.echo(f"\n{about_page}")


def load_people() -> tuple[DemoPeople, DemoPeople, list[str]]:
    """The Adult data: training people, others who decide whether to apply, and the names of the group columns."""
    adult = fetch_adult()
    parts = train_test_split(adult.data, adult.target, adult.group, test_size=0.3, random_state=0)
    return DemoPeople(*parts[::2]), DemoPeople(*parts[1::2]), list(adult.group_columns)


def _write_page(audit: Audit, report: str | None) -> str:
    """Write the report and return what to say about it. This comes before any printing, which may end early."""
    try:
        check_available()
    except ImportError as error:
        return f"{error} Then this ends with a page to play with."
    names = (Path(f"selfselect-demo{'' if i == 1 else f'-{i}'}.html") for i in count(1))
    path = Path(report) if report is not None else next(name for name in names if not name.exists())
    write_atomically(path, audit_page(audit, Opening(published="training people", counted="held-out people")))
    return (
        f"A page to play with: {printable(str(path))}"
        f"\nOpen it in any browser ({printable(path.resolve().as_uri())}); it needs no network."
    )


def show_methods(naive: NaiveClassifier, train: DemoPeople, new: DemoPeople, group_columns: list[str]) -> None:
    """Show who would apply to the naive model at several costs, and to every method at one cost."""
    click.echo(
        f"A logistic regression screens {len(train.X):,} people of the Adult census data (qualified: income above "
        "50,000).\nIt publishes, per group, the precision: how many of those who pass screening turn out to be "
        "qualified,\ncounted on people that it was not fitted to.\n"
    )
    click.echo(_published_table(naive).to_string())
    click.echo(
        "\nPeople apply only if its lower bound is at least the cost of being tested. So, among "
        f"{len(new.X):,} others:\n"
    )
    rows = {f"{cost:g}": _outcome_row(naive, new, cost) for cost in COSTS}
    click.echo(pd.DataFrame.from_dict(rows, orient="index").rename_axis("cost").to_string())
    click.echo(f"\nA firm can learn with this in mind. The same people, at a cost of {COST:g}:\n")
    rows = {}
    for name, (model, with_group) in _methods(COST).items():
        hidden = [] if with_group else group_columns
        both = [people._replace(X=people.X.drop(columns=hidden)) for people in (train, new)]
        rows[name] = _method_row(model, *both)
    click.echo(pd.DataFrame.from_dict(rows, orient="index").to_string())
    click.echo(
        "\nAssumed accuracy counts everyone, induced accuracy only those who apply; social cost is the share of"
        "\nqualified people who stay away. A dash: nobody applies, so there is nothing to be accurate about."
        "\nOrder: does precision follow base rates? Kendall's coefficient, from -1 (reversed) to +1."
    )


def show_rounds(people: DemoPeople) -> None:
    """Show what happens over rounds, without exploration and with it."""
    click.echo(
        f"\nScreening is repeated. The firm begins with the labels of {INITIAL:.0%} of these people. In each round it "
        "retrains and publishes,\npeople apply or stay away, and only those who pass are tested, so that their labels "
        f"become known. At a cost of\n{ROUNDS_COST:g}, a group whose bound is too low stays away and adds no labels, "
        "so that its bound may stay too low for good.\nTesting some people at random, whether they apply or not, "
        "changes that:\n"
    )
    firm = NaiveClassifier(cost=ROUNDS_COST, publish=CrossFit(3, LowerBound(0.9)))
    for text, share in (("without exploration", 0.0), (f"testing {EXPLORATION:.0%} at random", EXPLORATION)):
        history = simulate(tuple(people), firm, rounds=ROUNDS, initial=INITIAL, exploration=share)
        away = or_dash(float(history.totals()["social_cost"].iloc[-1]))
        click.echo(f"{text}; in the last round {away} of qualified people stay away\n")
        click.echo(text_table(letters(history), left=("group", next(iter(list(letters(history)[0])[1:])))) + "\n")
    click.echo(KEY)


def _methods(cost: float) -> dict[str, tuple[SelfSelectionClassifier, bool]]:
    """Methods by name, each with whether it sees the group columns."""
    parity = DemographicParity(0.2, relative=True, weight=12.0)
    rates = [parity, TruePositiveRateParity(0.2, relative=True, weight=12.0)]
    return {
        "naive": (NaiveClassifier(cost=cost), True),
        "semi-strategic": (SemiStrategicClassifier(cost=cost), True),
        "strategic": (StrategicClassifier(cost), True),
        "strategic, group not a feature": (StrategicClassifier(cost), False),
        "strategic, equal selection rates": (StrategicClassifier(cost, constraints=[parity]), False),
        "strategic, precision ordered": (StrategicClassifier(cost, constraints=[BaseRateOrder(), *rates]), False),
        "strategic, social cost at most 30%": (StrategicClassifier(cost, constraints=[MaxSocialCost(0.3)]), True),
    }


def _published_table(naive: NaiveClassifier) -> pd.DataFrame:
    """What the firm would publish, as text."""
    terms = naive.terms_
    names = {"base_rate": "qualified", "selection_rate": "pass screening", "precision": "precision"}
    shares = naive.published_.to_frame()[list(names)].rename(columns=names)
    shares["lower bound"] = terms.max_accepted_cost(naive.published_.groups, naive.published_.counts)
    table = shares.map(or_dash)
    table.insert(0, "people", naive.published_.counts.n)
    return table


def _outcome_row(model: SelfSelectionClassifier, new: DemoPeople, cost: float) -> dict[str, str]:
    """Who applies to a fitted model at a cost, and what follows for new people."""
    applies = model.applies(cost)
    audit = model.audit(*new, cost=cost)
    return {
        "who applies": ", ".join(map(str, applies.index[applies])) or "nobody",
        "assumed accuracy": or_dash(audit.assumed_accuracy),
        "induced accuracy": or_dash(audit.induced_accuracy),
        "social cost": or_dash(audit.social_cost),
    }


def _method_row(model: SelfSelectionClassifier, train: DemoPeople, new: DemoPeople) -> dict[str, str]:
    """Outcome of a model that is fitted first, and whether its precision follows base rates."""
    with captured_warnings():  # the table shows that nobody applies
        model.fit(train.X, train.y, sensitive_features=train.z)
    order = rank_agreement(model.published_.base_rate, model.published_.precision)
    return _outcome_row(model, new, COST) | {"order": or_dash(order.kendall, "{:+.2f}".format)}


def _audit(naive: NaiveClassifier, train: DemoPeople, new: DemoPeople) -> Audit:
    """The naive model, as its report shows it."""
    scores: tuple[Any, Any] = (naive.unseen_scores_, naive.decision_function(new.X))
    published_by, counted_on = (
        ScreeningResult.from_scores(people.y, score, threshold=0.0, sensitive_features=people.z)
        for people, score in zip((train, new), scores, strict=True)
    )
    return Audit(
        published_by,
        counted_on,
        replace(naive.terms_, cost=REPORT_COST),
        other_costs=tuple(cost for cost in COSTS if cost != REPORT_COST),
        provenance=Provenance(
            title="Logistic regression on Adult",
            command="selfselect demo",
            label="income above 50,000",
            groups="race",
            score="log-odds",
        ),
    )
