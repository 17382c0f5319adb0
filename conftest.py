"""Doctests of an extra are collected only where it is installed."""

from importlib.metadata import PackageNotFoundError, version

try:
    version("torch")
except PackageNotFoundError:
    collect_ignore_glob = ["src/selfselect/torch/*"]
