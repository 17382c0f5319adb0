"""Extras that are too large for every machine: their tests are skipped where they are not installed."""

from importlib.metadata import PackageNotFoundError, version

import pytest


def skip_module_without(package, extra="torch"):
    """Skip a module of tests. Importing ``torch`` to find out would find the folder ``tests/torch``."""
    try:
        version(package)
    except PackageNotFoundError:
        pytest.skip(f"needs {package}, of the extra {extra}: make test EXTRAS={extra}", allow_module_level=True)
