"""Pictures as Display objects, in scikit-learn's manner. They need matplotlib: ``pip install selfselect[plot]``.

Groups are named at their lines, points and rows rather than in a legend; colours are told apart by colour-blind people.
With more than eight groups, curves and points name the largest and draw the others in grey; rows name up to forty.
"""

from .applying import WhoAppliesDisplay
from .curves import PrecisionCurvesDisplay
from .frontiers import FrontierDisplay
from .promised import PromisedDeliveredDisplay
from .tables import PublishedTableDisplay

__all__ = [
    "FrontierDisplay",
    "PrecisionCurvesDisplay",
    "PromisedDeliveredDisplay",
    "PublishedTableDisplay",
    "WhoAppliesDisplay",
]
