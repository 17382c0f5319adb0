"""Ways to train a linear classifier whose applicants choose themselves.

``problem`` states what is asked; ``choice`` judges a finished score, by hard counts, with all constraints; ``apart``
and ``together`` propose scores; ``reference`` is the paper's own descent. :func:`solve` puts them together.

The default does not minimise the paper's objective. Once all groups but one are shut out, that objective is the mean
log-loss of the one that is left, whatever its precision; and where a group's smooth application is 0 its gradient is
lost. So it is decided first who shall apply, and :class:`selfselect.objective.TargetedObjective` lowers the errors on
them under the constraint that they do. The paper's objective is there for random starts and for the reference.
"""

from .judging import Candidate, cautious, cut_between
from .problem import InfeasibleError, Problem
from .solving import solve

__all__ = ["Candidate", "InfeasibleError", "Problem", "cautious", "cut_between", "solve"]
