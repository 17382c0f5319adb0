"""What a model keeps of its training columns, and which new columns look broken."""

import numpy as np
import pandas as pd

from selfselect.tabular.training_ranges import compare_with_training, describe_columns


def draw(rng, n):
    """People of one population: numbers of every shape, and categories with a long tail."""
    names = np.array([f"town {i}" for i in range(200)], dtype=object)
    return pd.DataFrame(
        {
            "income": np.exp(rng.normal(8, 2, n)),
            "gain": np.where(rng.random(n) < 0.08, np.exp(rng.normal(8, 1, n)), 0.0),
            "standardised": rng.normal(size=n),
            "sometimes empty": np.where(rng.random(n) < 0.3, np.nan, rng.integers(0, 9, n)),
            "town": names[np.minimum(rng.geometric(0.03, n), 199)],
            "yes": rng.choice(["yes", "no"], n),
        }
    ).astype({"town": object, "yes": object})


def test_new_people_of_the_same_population_are_hardly_ever_reported():
    rng = np.random.default_rng(0)
    reported = dict.fromkeys((1, 5, 50, 1000), 0)
    for n in reported:
        for _ in range(50):
            reported[n] += len(list(compare_with_training(describe_columns(draw(rng, 1000)), draw(rng, n), {})))
    assert all(count <= 0.05 * 50 for count in reported.values()), reported  # of 50 tables with 6 columns


def test_amounts_100_times_too_large_or_small_are_reported_in_columns_of_any_shape():
    rng = np.random.default_rng(1)
    seen = describe_columns(draw(rng, 1000))
    for name in ("income", "gain"):
        for times in (100, 0.01) if name == "income" else (100,):
            new = draw(rng, 300)
            new[name] *= times
            assert [finding.details["name"] for finding in compare_with_training(seen, new, {})] == [name]


def test_a_model_keeps_no_value_of_a_single_person():
    frame = pd.DataFrame({"pay": [12345.678, *range(100, 200)], "town": ["Ulm", *["Bonn"] * 100]}).astype(
        {"town": object}
    )
    seen = describe_columns(frame)
    assert (seen["pay"]["low"], seen["pay"]["high"]) == (100, 13000)
    assert seen["town"]["categories"] == ["Bonn"]
