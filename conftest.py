"""Doctests of an extra are collected only where it is installed."""

from importlib.metadata import PackageNotFoundError, version

#: A script that Streamlit runs.
collect_ignore = ["src/selfselect/cli/app_page.py"]
try:
    version("torch")
except PackageNotFoundError:
    collect_ignore_glob = ["src/selfselect/torch/*"]
