"""Accuracy against participation."""

from selfselect import accuracy_social_cost_frontier


def test_the_frontier_trades_accuracy_for_participation(adult):
    X, y, z, X_test, y_test, z_test = adult["with"]
    frontier = accuracy_social_cost_frontier(
        X, y, sensitive_features=z, cost=0.7, limits=[1.0, 0.5, 0.0], evaluate=(X_test, y_test, z_test)
    )
    assert frontier["social_cost"].is_monotonic_decreasing
    assert frontier["induced_accuracy"].iloc[0] > frontier["induced_accuracy"].iloc[-1]
    assert frontier["applying_groups"].tolist()[-1] == 4
    assert frontier["efficient"].iloc[0]
