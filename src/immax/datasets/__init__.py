"""Data sets, and ways to make them imbalanced."""

from immax.datasets.imbalance import long_tailed

__all__ = ["long_tailed"]
