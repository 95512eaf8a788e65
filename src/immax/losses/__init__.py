"""Losses and risks, each formula written once for every back end."""

from immax.losses import catalog, surrogates
from immax.losses.spec import LossSpec

__all__ = ["LossSpec", "catalog", "surrogates"]
