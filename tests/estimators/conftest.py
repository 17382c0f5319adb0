"""People to train on."""

import pytest

from selfselect.datasets import make_base_rate_groups


@pytest.fixture(scope="session")
def people():
    """Three groups of base rates .5, .3, .15, one-hot and one informative feature."""
    return make_base_rate_groups((0.5, 0.3, 0.15), n_per_group=800, random_state=0, return_X_y_group=True)
