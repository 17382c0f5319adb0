"""A first look, on bundled data: what self-selection does to an ordinary screening model."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from .datasets import fetch_adult
from .metrics import outcome
from .statistics import PublishedStatistics

COSTS = (0.65, 0.7, 0.725, 0.75, 0.8)


def _percent(value: float) -> str:
    return "-" if np.isnan(value) else f"{100 * value:.1f}%"


def published_table(published: PublishedStatistics) -> pd.DataFrame:
    """What a firm would publish, as text."""
    frame = published.to_frame()
    return pd.DataFrame(
        {
            "people": frame["n"],
            "qualified": frame["base_rate"].map(_percent),
            "pass screening": frame["selection_rate"].map(_percent),
            "precision": frame["precision"].map(_percent),
            "95% interval (Wilson)": [
                f"{_percent(low)} to {_percent(high)}"
                for low, high in zip(frame["precision_low"], frame["precision_high"], strict=True)
            ],
        }
    )


def outcome_table(
    published: PublishedStatistics, population: PublishedStatistics, costs: Sequence[float]
) -> pd.DataFrame:
    """What happens to a population at several costs, as text."""
    rows = {}
    for cost in costs:
        applies = published.applies(cost)
        result = outcome(population, applies)
        rows[f"{cost:g}"] = {
            "who applies": ", ".join(map(str, applies.index[applies])) or "nobody",
            "assumed accuracy": _percent(result.assumed_accuracy),
            "induced accuracy": _percent(result.induced_accuracy),
            "social cost": _percent(result.social_cost),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("cost")


def run(echo: Callable[[str], object], costs: Sequence[float] = COSTS) -> None:
    """Screen the bundled Adult data with a logistic regression and show who would apply."""
    adult = fetch_adult()
    X, X_test, y, y_test, z, z_test = train_test_split(
        adult.data, adult.target, adult.group, test_size=0.3, random_state=0
    )
    model = LogisticRegression(C=np.inf, max_iter=1000).fit(X, y)
    published = PublishedStatistics.from_estimator(model, X, y, sensitive_features=z)
    population = PublishedStatistics.from_estimator(model, X_test, y_test, sensitive_features=z_test)

    echo(f"A logistic regression screens {len(X):,} people of the Adult census data (qualified: income above 50,000).")
    echo("It publishes, per group, the precision: how many of those who pass screening turn out to be qualified.\n")
    echo(published_table(published).to_string())
    echo(
        f"\nPeople apply only if that number is at least the cost of being tested. So, among {len(X_test):,} others:\n"
    )
    echo(outcome_table(published, population, costs).to_string())
    echo(
        "\nAssumed accuracy counts everyone, induced accuracy only those who apply; social cost is the share of"
        "\nqualified people who stay away. A dash: nobody applies, so there is nothing to be accurate about."
    )
