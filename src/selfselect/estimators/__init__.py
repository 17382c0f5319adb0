"""Classifiers of increasing strategic awareness, as scikit-learn estimators."""

from .._notices import ApplicationWarning, PromiseWarning, ShutOutWarning
from .base import SelfSelectionClassifier
from .io import load_model, save_model
from .logistic import GradientDescentLogisticRegression
from .naive import NaiveClassifier
from .paper import PaperClassifier
from .semi import SemiStrategicClassifier
from .strategic import StrategicClassifier
from .thresholds import GroupThresholdClassifier

__all__ = [
    "ApplicationWarning",
    "GradientDescentLogisticRegression",
    "GroupThresholdClassifier",
    "NaiveClassifier",
    "PaperClassifier",
    "PromiseWarning",
    "SelfSelectionClassifier",
    "SemiStrategicClassifier",
    "ShutOutWarning",
    "StrategicClassifier",
    "load_model",
    "save_model",
]
