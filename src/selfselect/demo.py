"""A first look, on bundled data: what self-selection does to screening models of increasing awareness."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from .auditing import Audit, Provenance, Screened
from .datasets import fetch_adult
from .deciding import PublishedStatistics, Terms, ThresholdCurves
from .estimators import (
    ApplicationWarning,
    NaiveClassifier,
    SelfSelectionClassifier,
    SemiStrategicClassifier,
    StrategicClassifier,
)
from .metrics import rank_agreement

COSTS = (0.65, 0.7, 0.725, 0.75, 0.8)
#: The cost at which methods are shown side by side.
COST = 0.75
#: The cost that the report opens with: the one at which the groups of a naive model part.
REPORT_COST = 0.725


def percent(value: float) -> str:
    """Share as text; a dash where it is undefined."""
    return "-" if np.isnan(value) else f"{100 * value:.1f}%"


def methods(cost: float) -> dict[str, tuple[SelfSelectionClassifier, bool]]:
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


def published_table(published: PublishedStatistics) -> pd.DataFrame:
    """What a firm would publish, as text."""
    frame = published.to_frame()
    return pd.DataFrame(
        {
            "people": frame["n"],
            "qualified": frame["base_rate"].map(percent),
            "pass screening": frame["selection_rate"].map(percent),
            "precision": frame["precision"].map(percent),
            "95% interval (Wilson)": [
                f"{percent(low)} to {percent(high)}"
                for low, high in zip(frame["precision_low"], frame["precision_high"], strict=True)
            ],
        }
    )


def run(echo: Callable[[str], object], costs: Sequence[float] = COSTS, cost: float = COST) -> Audit:
    """Screen the bundled Adult data with every method, show who would apply, and return the audit of the naive one."""
    adult = fetch_adult()
    X, X_test, y, y_test, z, z_test = train_test_split(
        adult.data, adult.target, adult.group, test_size=0.3, random_state=0
    )

    def row(model: SelfSelectionClassifier, columns: Sequence[str], at: float) -> dict[str, str]:
        applies = model.applies(at)
        result = model.audit(X_test[columns], y_test, z_test, cost=at)
        return {
            "who applies": ", ".join(map(str, applies.index[applies])) or "nobody",
            "assumed accuracy": percent(result.assumed_accuracy),
            "induced accuracy": percent(result.induced_accuracy),
            "social cost": percent(result.social_cost),
        }

    everything = list(X.columns)
    naive = NaiveClassifier(cost=min(costs)).fit(X, y, sensitive_features=z)
    echo(f"A logistic regression screens {len(X):,} people of the Adult census data (qualified: income above 50,000).")
    echo("It publishes, per group, the precision: how many of those who pass screening turn out to be qualified.\n")
    echo(published_table(naive.published_).to_string())
    echo(
        f"\nPeople apply only if that number is at least the cost of being tested. So, among {len(X_test):,} others:\n"
    )
    table = pd.DataFrame.from_dict({f"{c:g}": row(naive, everything, c) for c in costs}, orient="index")
    echo(table.rename_axis("cost").to_string())

    echo(f"\nA firm can learn with this in mind. The same people, at a cost of {cost:g}:\n")
    rows = {}
    for name, (model, with_group) in methods(cost).items():
        columns = everything if with_group else [c for c in everything if c not in adult.group_columns]
        with warnings.catch_warnings():  # that nobody applies is shown in the table
            warnings.simplefilter("ignore", ApplicationWarning)
            model.fit(X[columns], y, sensitive_features=z)
        order = rank_agreement(model.published_.base_rate, model.published_.precision)
        agreement = "-" if np.isnan(order.kendall) else f"{order.kendall:+.2f}"
        rows[name] = row(model, columns, cost) | {"order": agreement}
    echo(pd.DataFrame.from_dict(rows, orient="index").to_string())
    echo(
        "\nAssumed accuracy counts everyone, induced accuracy only those who apply; social cost is the share of"
        "\nqualified people who stay away. A dash: nobody applies, so there is nothing to be accurate about."
        "\nOrder: does precision follow base rates? Kendall's coefficient, from -1 (reversed) to +1."
    )

    def curves(features: pd.DataFrame, labels: pd.Series, groups: pd.Series) -> ThresholdCurves:
        return ThresholdCurves.from_scores(labels, naive.predict_proba(features)[:, 1], sensitive_features=groups)

    published, others = curves(X, y, z), curves(X_test, y_test, z_test)
    return Audit(
        Screened.from_curves(published, 0.5),
        Screened.from_curves(others, 0.5),
        Terms(REPORT_COST),
        other_costs=tuple(at for at in costs if at != REPORT_COST),
        provenance=Provenance(
            title="Logistic regression on Adult",
            command="selfselect demo",
            label="income above 50,000",
            groups="race",
            score="probability",
        ),
    )
