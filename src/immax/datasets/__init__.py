"""Data sets, and ways to make them imbalanced."""

from immax.datasets.imbalance import long_tailed
from immax.datasets.keel import keel_names, load_keel

__all__ = ["keel_names", "load_keel", "long_tailed"]
