"""Pictures as Display objects, in scikit-learn's manner. They need matplotlib: ``pip install selfselect[plot]``."""

from .displays import FrontierDisplay, PrecisionCurvesDisplay

__all__ = ["FrontierDisplay", "PrecisionCurvesDisplay"]
