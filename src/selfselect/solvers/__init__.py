"""Ways to train a linear classifier whose applicants choose themselves.

``problem`` states what is asked; ``choice`` judges a finished score, by hard counts, with all constraints; ``apart``
and ``together`` propose scores; ``reference`` is the paper's own descent. :func:`solve` puts them together.
"""

from ._solve import solve
from .choice import Candidate
from .problem import InfeasibleError, Problem

__all__ = ["Candidate", "InfeasibleError", "Problem", "solve"]
