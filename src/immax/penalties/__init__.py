"""The penalties ``Omega(W)`` of linear models: value, proximal step, dual norm, screening rule.

Weights have shape (k, d), a row for each score. Biases are never penalised.
A new penalty is a module with a subclass of ``Penalty`` and a row in ``PENALTIES``.
"""

from immax.penalties.base import Blocks, Penalty
from immax.penalties.elastic_net import ElasticNet
from immax.penalties.group import GroupNorm
from immax.penalties.l1 import L1Norm
from immax.penalties.l2 import SquaredL2
from immax.penalties.registry import PENALTIES, make_penalty

__all__ = [
    "PENALTIES",
    "Blocks",
    "ElasticNet",
    "GroupNorm",
    "L1Norm",
    "Penalty",
    "SquaredL2",
    "make_penalty",
]
