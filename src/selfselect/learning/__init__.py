"""Ways to train a linear classifier whose applicants choose themselves.

``sums`` turns scores into sums per group and back; ``objectives`` and ``paper`` turn sums into what is lowered, with
``ties`` between groups; ``linear`` is where features enter. ``asking`` states what is asked of a classifier,
``judging`` says by hard counts how far one meets it and what it is worth, and ``candidates`` are classifiers that have
been judged. ``problem`` is a task; ``single_groups``, ``all_groups`` and ``descent`` (the paper's own way) solve it,
from ``starts``; ``batch`` and ``fused`` are how all starts of a descent take their steps at once. :func:`solve` puts
them together, and ``unseen`` chooses on people that a score has not seen.
``allocation`` is the best threshold per group, exactly, for any score.

The default does not minimise the paper's objective. Once all groups but one are shut out, that objective is the mean
log-loss of the one that is left, whatever its precision; and where a group's smooth application is 0 its gradient is
lost. So it is decided first who shall apply, and :class:`~selfselect.learning.objectives.TargetedObjective` lowers the
errors on them under the constraint that they do. The paper's objective is there for random starts and for the
reference.
"""

from .allocation import Allocation, Demands, allocate
from .asking import Ask
from .candidates import Candidate, cut_between
from .descent import PRESETS, DescentSettings, logistic_by_descent
from .judging import HANDFUL, cautious, judge_counts, lacking_at_thresholds
from .linear import FeatureBlock
from .problem import InfeasibleError, Problem
from .solving import SOLVERS, refuse_infeasible, solve, too_few_selected
from .ties import EqualSelectionRates, EqualTruePositiveRates, OrderByBaseRates, SummedSelectionRates, Tie
from .unseen import Part, choose_unseen

__all__ = [
    "HANDFUL",
    "PRESETS",
    "SOLVERS",
    "Allocation",
    "Ask",
    "Candidate",
    "Demands",
    "DescentSettings",
    "EqualSelectionRates",
    "EqualTruePositiveRates",
    "FeatureBlock",
    "InfeasibleError",
    "OrderByBaseRates",
    "Part",
    "Problem",
    "SummedSelectionRates",
    "Tie",
    "allocate",
    "cautious",
    "choose_unseen",
    "cut_between",
    "judge_counts",
    "lacking_at_thresholds",
    "logistic_by_descent",
    "refuse_infeasible",
    "solve",
    "too_few_selected",
]
