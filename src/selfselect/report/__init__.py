"""The report: HTML pages that need nothing else; that of an audit recomputes itself."""

from .documents import render_document
from .rendering import check_available, render

__all__ = ["check_available", "render", "render_document"]
