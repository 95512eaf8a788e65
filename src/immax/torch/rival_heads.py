"""Heads refitted by other methods: resampled training, normalised weights, adjusted logits."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn

from immax.losses.catalog import ce, la, rw
from immax.losses.spec import LossSpec
from immax.torch.head import IMMAXHead
from immax.torch.head_data import HeadData, check_classes_present, checked_features
from immax.torch.head_fits import HeadRecord
from immax.torch.samplers import class_balanced_sampler

__all__ = ["crt_head", "logit_adjusted_head", "tau_normalized_head"]

TAUS = tuple(np.linspace(0, 1, 11).tolist())


def crt_head(
    features: ArrayLike | Tensor,
    y: ArrayLike | Tensor,
    *,
    balanced: bool = True,
    epochs: int = 10,
    lr: float = 0.1,
    momentum: float = 0.9,
    weight_decay: float = 5e-4,
    batch_size: int = 512,
    num_classes: int | None = None,
    seed: int = 0,
) -> IMMAXHead:
    """Train a head by SGD on batches that draw every class equally often (cRT).

    Classifier re-training of decoupled training: a new layer, cross-entropy, SGD with Nesterov
    momentum and a cosine schedule. The exact counterpart is ``IMMAXHead.fit(method="rw")``.

    Parameters
    ----------
    features : array-like or Tensor of shape (n, d)
    y : array-like or Tensor of int, shape (n,)
        Class numbers; every class has a sample.
    balanced : bool, default=True
        False draws samples as they are, which is plain training of the last layer.
    epochs, lr, momentum, weight_decay, batch_size
        Of the training.
    num_classes : int, optional
        The number of classes; the highest label plus one by default.
    seed : int, default=0
        Of the initial weights and the order of the samples.

    Returns
    -------
    IMMAXHead
        Its probabilities refer to the class shares of ``y``.

    References
    ----------
    Kang et al., *Decoupling Representation and Classifier for Long-Tailed Recognition*, ICLR 2020.
    """
    begin = time.perf_counter()
    data = checked_features(features, y, num_classes)
    check_classes_present(data)
    X, target = torch.from_numpy(np.asarray(data.X, np.float32)), torch.from_numpy(data.y)
    generator = torch.Generator().manual_seed(seed)
    c, d = data.counts.size, X.shape[1]
    weight = (torch.rand(c, d, generator=generator) * 2 - 1) / d**0.5
    bias = torch.zeros(c)
    optimiser = torch.optim.SGD(
        [weight.requires_grad_(), bias.requires_grad_()],
        lr=lr,
        momentum=momentum,
        weight_decay=weight_decay,
        nesterov=momentum > 0,
    )
    steps = -(-len(target) // batch_size)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, epochs * steps)
    sampler = class_balanced_sampler(data.y, generator=generator)
    for _ in range(epochs):
        if balanced:
            order = torch.tensor(list(sampler))
        else:
            order = torch.randperm(len(target), generator=generator)
        for begin_row in range(0, len(order), batch_size):
            rows = order[begin_row : begin_row + batch_size]
            optimiser.zero_grad(set_to_none=True)
            logits = nn.functional.linear(X[rows], weight, bias)
            torch.autograd.backward(nn.functional.cross_entropy(logits, target[rows]))
            optimiser.step()
            schedule.step()
    record = HeadRecord(
        "crt" if balanced else "sgd",
        parameters={"epochs": epochs, "lr": lr, "weight_decay": weight_decay},
        n_samples=len(target),
        seconds=time.perf_counter() - begin,
    )
    spec = rw(data.counts) if balanced else ce(data.counts)
    return _head(weight.detach(), bias.detach(), spec, data.counts, record)


def tau_normalized_head(
    layer: nn.Linear,
    counts: Sequence[float] | np.ndarray,
    tau: float | None = None,
    *,
    selection: tuple[ArrayLike | Tensor, ArrayLike | Tensor] | None = None,
) -> IMMAXHead:
    """Return a layer whose rows are divided by the power tau of their norms.

    Biases are left out, as in the original.

    Parameters
    ----------
    layer : nn.Linear
        The trained layer, with an output for each class.
    counts : sequence of float, shape (C,)
        Class counts of the training data.
    tau : float, optional
        0 leaves the rows as they are, 1 normalises them. One of ``tau`` and ``selection`` must be
        given.
    selection : (features, y), optional
        Held-out samples: of eleven values from 0 to 1, the one of the best balanced accuracy.

    Returns
    -------
    IMMAXHead

    References
    ----------
    Kang et al., *Decoupling Representation and Classifier for Long-Tailed Recognition*, ICLR 2020.
    """
    _check_layer(layer, len(counts))
    if tau is not None and selection is not None:
        raise ValueError("only one of tau and selection can be given")
    weight = layer.weight.detach().float().cpu()
    norms = weight.norm(dim=1, keepdim=True).clamp_min(torch.finfo(torch.float32).tiny)
    record = HeadRecord("tau_norm")
    if tau is None:
        if selection is None:
            raise ValueError("one of tau and selection must be given")
        features, y = selection
        names = "features of selection", "y of selection"
        held = checked_features(features, y, len(counts), names)
        scores = [_balanced_accuracy(weight / norms**value, held) for value in TAUS]
        tau = TAUS[int(np.argmax(scores))]
        record = replace(
            record, selected_on="held-out", scoring="balanced_accuracy", score=max(scores)
        )
    assert tau is not None
    record = replace(record, parameters={"tau": float(tau)})
    bias = torch.zeros(len(weight))
    return _head(weight / norms**tau, bias, ce(np.asarray(counts)), counts, record)


def logit_adjusted_head(
    layer: nn.Linear, counts: Sequence[float] | np.ndarray, tau: float = 1.0
) -> IMMAXHead:
    """Return a layer whose scores lack tau times the logarithm of the class shares.

    Logit adjustment after training. Its probabilities are those of the layer itself; its highest
    score is the decision for balanced classes.

    Parameters
    ----------
    layer : nn.Linear
        A layer that was trained by cross-entropy, with an output for each class.
    counts : sequence of float, shape (C,)
        Class counts of the training data.
    tau : float, default=1.0
        The strength, positive.

    Returns
    -------
    IMMAXHead

    References
    ----------
    Menon et al., *Long-tail learning via logit adjustment*, ICLR 2021.
    """
    _check_layer(layer, len(counts))
    m = np.asarray(counts, dtype=np.float64)
    weight = layer.weight.detach().float().cpu()
    bias = torch.zeros(len(weight)) if layer.bias is None else layer.bias.detach().float().cpu()
    bias = bias - torch.tensor(tau * np.log(m / m.sum()), dtype=torch.float32)
    record = HeadRecord("logit_adjustment", parameters={"tau": float(tau)})
    return _head(weight, bias, la(m, tau=tau), counts, record)


def _check_layer(layer: nn.Linear, n_classes: int) -> None:
    if not isinstance(layer, nn.Linear) or layer.out_features != n_classes:
        got = (
            f"{layer.out_features} outputs"
            if isinstance(layer, nn.Linear)
            else type(layer).__name__
        )
        raise ValueError(
            f"layer must be a linear layer with an output for each of the {n_classes} classes; got "
            f"{got}"
        )


def _balanced_accuracy(weight: Tensor, held: HeadData) -> float:
    scores = np.asarray(held.X, dtype=np.float32) @ weight.numpy().T
    right = scores.argmax(axis=1) == held.y
    present = held.counts > 0
    recalls = np.bincount(held.y, right, len(present))[present] / held.counts[present]
    return float(recalls.mean())


def _head(
    weight: Tensor,
    bias: Tensor,
    spec: LossSpec,
    counts: Sequence[float] | np.ndarray,
    record: HeadRecord,
) -> IMMAXHead:
    return IMMAXHead(weight, bias, spec, np.asarray(counts, float).tolist(), "score", record)
