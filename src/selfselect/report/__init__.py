"""Everything that people read: sentences, tables of text, JSON and HTML pages that need nothing else."""

from .pages import Opening
from .rendering import check_available

__all__ = ["Opening", "check_available"]
