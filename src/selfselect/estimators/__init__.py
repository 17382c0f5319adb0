"""Classifiers of increasing strategic awareness, as scikit-learn estimators."""

from .base import SelfSelectionClassifier
from .files import load_model, save_model
from .naive import NaiveClassifier
from .semi import SemiStrategicClassifier
from .strategic import StrategicClassifier
from .warnings import ApplicationWarning

__all__ = [
    "ApplicationWarning",
    "NaiveClassifier",
    "SelfSelectionClassifier",
    "SemiStrategicClassifier",
    "StrategicClassifier",
    "load_model",
    "save_model",
]
