"""Tables for the commands."""

import pytest

from applicants import applicants


@pytest.fixture
def people_csv(tmp_path):
    """Labels and decisions in words, and a score."""
    path = tmp_path / "people.csv"
    rows = ["outcome,team,decision,s"]
    rows += [
        f"{'hired' if i % 3 else 'rejected'},{'ab'[i % 2]},{'invite' if i % 4 else 'decline'},{i / 100}"
        for i in range(100)
    ]
    path.write_text("\n".join(rows))
    return path


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
