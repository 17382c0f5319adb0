"""Plots as Display objects like those of scikit-learn. They need matplotlib: ``pip install selfselect[plot]``.

A display is made from labels with predictions or scores, from a fitted classifier (of this package, also in a pipeline
or a search; or any other one, with X and y), or from an audit. Parameters are named as in
:meth:`selfselect.PublishedStatistics.from_predictions` and :class:`selfselect.Terms`; ``ax`` are matplotlib axes to
draw on, by default new ones.

A display keeps its matplotlib axes and figure as ``ax_`` and ``figure_``. Groups are named at their lines, points and
rows, in colours for the colour-blind. Of more than eight groups, curves and points name the largest; the others are
grey. Of more than forty groups, the largest have rows.
"""

from .curves import PrecisionCurvesDisplay
from .frontiers import FrontierDisplay
from .promised import PromisedDeliveredDisplay
from .responses import EstimatedResponseDisplay
from .rounds import RoundsDisplay
from .rows import PublishedTableDisplay, WhoAppliesDisplay

__all__ = [
    "EstimatedResponseDisplay",
    "FrontierDisplay",
    "PrecisionCurvesDisplay",
    "PromisedDeliveredDisplay",
    "PublishedTableDisplay",
    "RoundsDisplay",
    "WhoAppliesDisplay",
]
