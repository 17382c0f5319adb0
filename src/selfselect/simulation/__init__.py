"""Repeated deployment: a firm publishes, people apply or stay away, those who pass get labels, the firm retrains."""

from .beliefs import Beliefs, BetaMemory, Discounted, LastPublished
from .counted import BestThreshold, CountedPopulation, FixedThreshold
from .entry import Entry, Growth
from .exploration import Exploration
from .history import History, Round
from .retraining import AllLabels, InverseProbability, Retraining, Window
from .rounds import simulate

__all__ = [
    "AllLabels",
    "Beliefs",
    "BestThreshold",
    "BetaMemory",
    "CountedPopulation",
    "Discounted",
    "Entry",
    "Exploration",
    "FixedThreshold",
    "Growth",
    "History",
    "InverseProbability",
    "LastPublished",
    "Retraining",
    "Round",
    "Window",
    "simulate",
]
