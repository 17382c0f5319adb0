"""The report: one HTML page that needs nothing else, and recomputes itself."""

from .rendering import check_available, render

__all__ = ["check_available", "render"]
