"""Tables for the commands."""

import pytest

from applicants import applicants


@pytest.fixture(scope="session")
def people():
    """Applicants with ordinary columns."""
    return applicants()


@pytest.fixture
def table(people, tmp_path):
    """The same as a file."""
    path = tmp_path / "applicants.csv"
    people.to_csv(path, index=False)
    return path
