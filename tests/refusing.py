"""What is said when something cannot be done."""

import pytest


def refusal(act):
    """The error with which something is refused; it is told to whoever passed the wrong thing."""
    with pytest.raises((ValueError, TypeError)) as error:
        act()
    return error.value
