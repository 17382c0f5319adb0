"""What ``selfselect demo`` does: a first look, on bundled data, at screening models of increasing awareness."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

import click
import pandas as pd
from sklearn.model_selection import train_test_split

from selfselect._formats import level
from selfselect._notices import notices_kept
from selfselect._text import printable
from selfselect.auditing import Audit, Provenance, ScreeningResult
from selfselect.datasets import fetch_adult
from selfselect.estimators import (
    NaiveClassifier,
    SelfSelectionClassifier,
    SemiStrategicClassifier,
    StrategicClassifier,
)
from selfselect.metrics import rank_agreement
from selfselect.report import Opening

from ..errors import BadInput
from ..outputs import check_report_available, refuse_existing, write_output
from ..terminal import or_dash

#: The costs at which the naive model is shown.
COSTS = (0.6, 0.65, 0.675, 0.7, 0.75)
#: The cost at which methods are shown side by side.
COST = 0.75
#: The cost that the report opens with: the one at which the groups of a naive model part.
REPORT_COST = 0.7


def run(*, report: str | None, force: bool) -> None:
    """Show who would apply to every method, and end with a report of the naive one."""
    refuse_existing([report], force=force)
    people = People.load()
    naive = NaiveClassifier(cost=min(COSTS)).fit(people.X, people.y, sensitive_features=people.z)
    about_page = _write_page(_audit(naive, people), report, force)
    show_methods(naive, people)
    click.echo(f"\n{about_page}")


def _write_page(found: Audit, report: str | None, force: bool) -> str:
    """Write the page, before anything is shown that might not be; what to say of it in the end."""
    try:
        check_report_available()
    except BadInput as error:
        if report is not None:
            raise
        return f"{error.format_message()} Then this ends with a page to play with."
    target = Path(report) if report is not None else _free_name()
    opening = Opening(published="training people", counted="held-out people")
    write_output(target, found.to_html(opening=opening), force=force)
    return (
        f"A page to play with: {printable(str(target))}"
        f"\nOpen it in any browser ({printable(target.resolve().as_uri())}); it needs no network."
    )


def _free_name() -> Path:
    names = (Path(f"selfselect-demo{'' if i == 1 else f'-{i}'}.html") for i in count(1))
    return next(name for name in names if not name.exists())


@dataclass(frozen=True, eq=False)
class People:
    """Adult, in two halves: some to learn from, others who decide whether to apply."""

    X: pd.DataFrame
    y: pd.Series
    z: pd.Series
    X_new: pd.DataFrame
    y_new: pd.Series
    z_new: pd.Series
    group_columns: Sequence[str]

    @classmethod
    def load(cls) -> People:
        """Split the bundled data."""
        adult = fetch_adult()
        X, X_new, y, y_new, z, z_new = train_test_split(
            adult.data, adult.target, adult.group, test_size=0.3, random_state=0
        )
        return cls(X, y, z, X_new, y_new, z_new, adult.group_columns)

    def columns(self, with_group: bool) -> list[str]:
        """Names of the features."""
        return [name for name in self.X.columns if with_group or name not in self.group_columns]


def show_methods(naive: NaiveClassifier, people: People) -> None:
    """Screen people with every method, the naive one first, and show who would apply."""
    click.echo(
        f"A logistic regression screens {len(people.X):,} people of the Adult census data (qualified: income above "
        "50,000).\nIt publishes, per group, the precision: how many of those who pass screening turn out to be "
        "qualified,\ncounted on people that it was not fitted to.\n"
    )
    click.echo(_published_table(naive).to_string())
    click.echo(
        "\nPeople apply only if that number is sure to be at least the cost of being tested. So, among "
        f"{len(people.X_new):,} others:\n"
    )
    rows = {f"{cost:g}": _outcome_row(naive, people, people.columns(True), cost) for cost in COSTS}
    click.echo(pd.DataFrame.from_dict(rows, orient="index").rename_axis("cost").to_string())
    click.echo(f"\nA firm can learn with this in mind. The same people, at a cost of {COST:g}:\n")
    rows = {name: _method_row(model, people, with_group) for name, (model, with_group) in _methods(COST).items()}
    click.echo(pd.DataFrame.from_dict(rows, orient="index").to_string())
    click.echo(
        "\nAssumed accuracy counts everyone, induced accuracy only those who apply; social cost is the share of"
        "\nqualified people who stay away. A dash: nobody applies, so there is nothing to be accurate about."
        "\nOrder: does precision follow base rates? Kendall's coefficient, from -1 (reversed) to +1."
    )


def _methods(cost: float) -> dict[str, tuple[SelfSelectionClassifier, bool]]:
    """The methods of the comparison, each with whether it sees the group columns."""
    return {
        "naive": (NaiveClassifier(cost=cost), True),
        "semi-strategic": (SemiStrategicClassifier(cost=cost), True),
        "strategic": (StrategicClassifier(cost), True),
        "strategic, group not a feature": (StrategicClassifier(cost), False),
        "strategic, equal selection rates": (StrategicClassifier(cost, parity=12.0), False),
        "strategic, precision ordered": (StrategicClassifier(cost, parity=12.0, equal_tpr=12.0), False),
        "strategic, social cost at most 30%": (StrategicClassifier(cost, max_social_cost=0.3), True),
    }


def _published_table(naive: NaiveClassifier) -> pd.DataFrame:
    """What a firm would publish, as text."""
    frame, terms = naive.published_.to_frame(), naive.terms_
    assert terms.confidence is not None
    return pd.DataFrame(
        {
            "people": frame["n"],
            "qualified": frame["base_rate"].map(or_dash),
            "pass screening": frame["selection_rate"].map(or_dash),
            "precision": frame["precision"].map(or_dash),
            f"surely ({level(terms.confidence)})": [
                or_dash(low) for low in terms.max_accepted_cost(naive.published_.counts)
            ],
        }
    )


def _outcome_row(model: SelfSelectionClassifier, people: People, columns: list[str], cost: float) -> dict[str, str]:
    """Who applies to a fitted model at a cost, and what follows for new people."""
    applies = model.applies(cost)
    found = model.audit(people.X_new[columns], people.y_new, people.z_new, cost=cost)
    return {
        "who applies": ", ".join(map(str, applies.index[applies])) or "nobody",
        "assumed accuracy": or_dash(found.assumed_accuracy),
        "induced accuracy": or_dash(found.induced_accuracy),
        "social cost": or_dash(found.social_cost),
    }


def _method_row(model: SelfSelectionClassifier, people: People, with_group: bool) -> dict[str, str]:
    """Fit a model and say what follows; ``order`` says whether its precision follows base rates."""
    columns = people.columns(with_group)
    with notices_kept():  # that nobody applies is shown in the table
        model.fit(people.X[columns], people.y, sensitive_features=people.z)
    order = rank_agreement(model.published_.base_rate, model.published_.precision)
    return _outcome_row(model, people, columns, COST) | {"order": or_dash(order.kendall, "{:+.2f}".format)}


def _audit(naive: NaiveClassifier, people: People) -> Audit:
    """The naive model, as its report shows it."""

    def screened(score: Any, y: pd.Series, z: pd.Series) -> ScreeningResult:
        return ScreeningResult.from_scores(y, score, threshold=0.0, sensitive_features=z)

    return Audit(
        screened(naive.unseen_scores_, people.y, people.z),
        screened(naive.decision_function(people.X_new), people.y_new, people.z_new),
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
