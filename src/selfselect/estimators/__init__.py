"""Classifiers of increasing strategic awareness, as scikit-learn estimators."""

from ._base import ApplicationWarning, SelfSelectionClassifier
from ._naive import NaiveClassifier
from ._saving import load_model, save_model
from ._semi import SemiStrategicClassifier
from ._strategic import StrategicClassifier

__all__ = [
    "ApplicationWarning",
    "NaiveClassifier",
    "SelfSelectionClassifier",
    "SemiStrategicClassifier",
    "StrategicClassifier",
    "load_model",
    "save_model",
]
