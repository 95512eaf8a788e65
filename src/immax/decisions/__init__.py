"""Decisions: aims, rules that serve them, and class shares that change."""

from immax.decisions.aims import (
    AIMS,
    MCC,
    Accuracy,
    Aim,
    BalancedAccuracy,
    Budget,
    Costs,
    FBeta,
    GMean,
    Jaccard,
    Kappa,
    LogLoss,
    PrecisionAt,
    RecallAt,
)
from immax.decisions.classifier import DecisionClassifierCV
from immax.decisions.decided_model import DecidedModel, rule_of
from immax.decisions.fitting import fit_rule, resolve_aim
from immax.decisions.priors import PriorEstimate, adjust_prior, estimate_prior
from immax.decisions.rules import Rule

__all__ = [
    "AIMS",
    "MCC",
    "Accuracy",
    "Aim",
    "BalancedAccuracy",
    "Budget",
    "Costs",
    "DecidedModel",
    "DecisionClassifierCV",
    "FBeta",
    "GMean",
    "Jaccard",
    "Kappa",
    "LogLoss",
    "PrecisionAt",
    "PriorEstimate",
    "RecallAt",
    "Rule",
    "adjust_prior",
    "estimate_prior",
    "fit_rule",
    "resolve_aim",
    "rule_of",
]
