"""Metrics of a population, given who applies; agreement of precisions with base rates; scorers."""

from ..outcomes import Outcome, outcome
from .ranks import RankAgreement, rank_agreement
from .rows import applicant_utility, application_rate, assumed_accuracy, firm_utility, induced_accuracy, social_cost
from .scorers import ApplicationScorer, induced_accuracy_scorer, social_cost_scorer

__all__ = [
    "ApplicationScorer",
    "Outcome",
    "RankAgreement",
    "applicant_utility",
    "application_rate",
    "assumed_accuracy",
    "firm_utility",
    "induced_accuracy",
    "induced_accuracy_scorer",
    "outcome",
    "rank_agreement",
    "social_cost",
    "social_cost_scorer",
]
