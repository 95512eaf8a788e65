"""Losses in place of ``nn.CrossEntropyLoss``, and exact last layers for trained networks."""

from __future__ import annotations

try:
    import torch as _torch  # noqa: F401

    from immax.torch.requirements import check_torch as _check_torch

    _check_torch()
except ModuleNotFoundError as error:  # pragma: no cover
    raise ImportError('immax.torch needs PyTorch: pip install "immax[torch]"') from error

from immax.torch.binary_loss import IMMAXBinaryLoss
from immax.torch.counts import class_counts
from immax.torch.features import collect_features
from immax.torch.head import IMMAXHead
from immax.torch.linear import linear_immax_loss, linear_spec_loss
from immax.torch.losses import (
    BalancedSoftmaxLoss,
    ClassBalancedLoss,
    CrossEntropyLoss,
    EqualizationLoss,
    FocalLoss,
    LDAMLoss,
    LogitAdjustedLoss,
    ReweightedLoss,
    SpecLoss,
    VectorScalingLoss,
    WeightedIMMAXLoss,
)
from immax.torch.margin_losses import IMMAXExponentialLoss, IMMAXHingeLoss, IMMAXLoss
from immax.torch.refit import refit_head
from immax.torch.rival_heads import crt_head, logit_adjusted_head, tau_normalized_head
from immax.torch.samplers import class_balanced_sampler, square_root_sampler
from immax.torch.scaled_features import scale_features
from immax.torch.schedules import DeferredReweighting, MarginWarmup
from immax.torch.vocabulary import vocab_parallel_immax_loss

__all__ = [
    "BalancedSoftmaxLoss",
    "ClassBalancedLoss",
    "CrossEntropyLoss",
    "DeferredReweighting",
    "EqualizationLoss",
    "FocalLoss",
    "IMMAXBinaryLoss",
    "IMMAXExponentialLoss",
    "IMMAXHead",
    "IMMAXHingeLoss",
    "IMMAXLoss",
    "LDAMLoss",
    "LogitAdjustedLoss",
    "MarginWarmup",
    "ReweightedLoss",
    "SpecLoss",
    "VectorScalingLoss",
    "WeightedIMMAXLoss",
    "class_balanced_sampler",
    "class_counts",
    "collect_features",
    "crt_head",
    "linear_immax_loss",
    "linear_spec_loss",
    "logit_adjusted_head",
    "refit_head",
    "scale_features",
    "square_root_sampler",
    "tau_normalized_head",
    "vocab_parallel_immax_loss",
]
