"""Training of a network by SGD with Nesterov momentum and a cosine schedule, resumable exactly."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from immax.arrays import Array
from immax.bench.augmentation import augment
from immax.bench.checkpoint import load_checkpoint, save_checkpoint
from immax.bench.networks import make_network
from immax.bench.sections import TrainingPlan
from immax.losses.spec import LossSpec
from immax.torch import SpecLoss

__all__ = ["Trained", "train"]


class Trained:
    """A trained network with the normalisation of its inputs.

    Parameters
    ----------
    network : nn.Module
    mean, scale : Tensor
        Mean and standard deviation of each channel of the training images.
    device : str
    """

    def __init__(self, network: nn.Module, mean: Tensor, scale: Tensor, device: str) -> None:
        self._network, self._mean, self._scale, self._device = network, mean, scale, device

    def scores(self, images: Array, batch: int = 1024) -> Array:
        """Return the scores of images.

        Parameters
        ----------
        images : ndarray of shape (n, channels, height, width)
        batch : int, default=1024
            The number of images at a time.

        Returns
        -------
        ndarray of shape (n, c), float32
        """
        self._network.eval()
        parts = []
        with torch.inference_mode():
            for start in range(0, len(images), batch):
                rows = torch.from_numpy(np.array(images[start : start + batch]))
                x = (rows.to(self._device).float() - self._mean) / self._scale
                parts.append(self._network(x).float().cpu().numpy())
        return np.concatenate(parts)


def train(
    model: str,
    images: Array,
    y: Array,
    spec: LossSpec,
    recipe: TrainingPlan,
    *,
    seed: int,
    device: str = "cpu",
    checkpoint: Path | None = None,
    on_epoch: Callable[[int, Mapping[str, float]], None] | None = None,
) -> Trained:
    """Train a network to the last epoch, from a checkpoint if there is one.

    Everything random is drawn from generators whose states are in the checkpoint: on the CPU, a
    training that was interrupted ends with the same bits as one that was not. Under ``torchrun``
    each process takes its share of every batch.

    Parameters
    ----------
    model : str
        The name of a network of ``make_network``.
    images : ndarray of shape (n, channels, height, width), uint8
    y : ndarray of shape (n,)
        Class codes.
    spec : LossSpec
    recipe : TrainingPlan
    seed : int
    device : str, default="cpu"
    checkpoint : Path, optional
        A file that is read if it exists, and written every ``recipe.checkpoint_every`` epochs.
    on_epoch : callable, optional
        Called at the end of each epoch with its number, and its mean loss and accuracy.

    Returns
    -------
    Trained
    """
    rank, world = _processes()
    torch.manual_seed(seed)
    shape, n_classes = tuple(images.shape[1:]), spec.n_classes
    network = make_network(model, shape, n_classes).to(device)
    channels_last = recipe.channels_last and len(shape) == 3 and model.startswith("resnet")
    if channels_last:
        network = network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    # The paper normalises the weights of re-weighting within each mini-batch.
    loss = SpecLoss(spec, normalize="batch" if spec.name == "rw" else None).to(device)
    optimiser = torch.optim.SGD(
        network.parameters(),
        lr=recipe.lr,
        weight_decay=recipe.weight_decay,
        momentum=recipe.momentum,
        nesterov=recipe.momentum > 0,
    )
    mean, scale = _normalisation(images, device)
    order = torch.Generator().manual_seed(seed + 1)
    first = 0
    if checkpoint is not None:
        state = load_checkpoint(checkpoint, network, optimiser)
        if state is not None:
            first = state["epoch"]
            order.set_state(state["order"])
            torch.set_rng_state(state["torch"])
    runner = _distributed(network, device) if world > 1 else network
    forward: Callable[[Tensor], Tensor] = _compiled(runner) if recipe.compile else runner
    labels = torch.from_numpy(np.asarray(y, dtype=np.int64))
    size = recipe.batch_size
    steps = math.ceil(len(y) / size)
    for epoch in range(first, recipe.epochs):
        runner.train()
        total = right = 0.0
        shuffled = torch.randperm(len(y), generator=order)
        for step in range(steps):
            rows = shuffled[step * size : (step + 1) * size]
            if len(rows) < 2 * world:  # too few for batch normalisation
                continue
            _set_rate(optimiser, recipe, epoch + step / steps)
            rows = rows.sort().values  # reads of a memory map in order
            x = torch.from_numpy(images[rows.numpy()]).to(device).float()
            x = augment((x - mean) / scale, recipe.augment, recipe.pad, order)
            target = labels[rows].to(device)
            part = slice(rank, None, world)
            x, target = x[part], target[part]
            if channels_last:
                x = x.contiguous(memory_format=torch.channels_last)
            half = recipe.precision == "bfloat16"
            with torch.autocast(torch.device(device).type, torch.bfloat16, enabled=half):
                scores = forward(x)
            value = loss(scores.float(), target)
            optimiser.zero_grad(set_to_none=True)
            value.backward()
            if recipe.clip:
                nn.utils.clip_grad_norm_(network.parameters(), recipe.clip)
            optimiser.step()
            total += float(value.detach()) * len(target)
            right += float((scores.argmax(1) == target).sum())
        seen = max(1, -(-len(y) // world))
        if checkpoint is not None and rank == 0 and _due(epoch, recipe):
            save_checkpoint(
                checkpoint,
                network.state_dict(),
                optimiser.state_dict(),
                {"epoch": epoch + 1, "order": order.get_state(), "torch": torch.get_rng_state()},
            )
        if on_epoch is not None and rank == 0:
            on_epoch(epoch + 1, {"loss": total / seen, "accuracy": right / seen})
    return Trained(network, mean, scale, device)


def _compiled(network: nn.Module) -> Callable[[Tensor], Tensor]:
    """Compile a network for batches of fixed sizes: full ones, and the last of an epoch."""
    torch.compiler.reset()  # it keeps a few compiled networks, and would run the ninth uncompiled
    return torch.compile(network, dynamic=False)


def _due(epoch: int, recipe: TrainingPlan) -> bool:
    return (epoch + 1) % recipe.checkpoint_every == 0 or epoch + 1 == recipe.epochs


def _set_rate(optimiser: torch.optim.Optimizer, recipe: TrainingPlan, epoch: float) -> None:
    """Set the learning rate: a cosine without restarts, after a linear warm-up."""
    warm, epochs = recipe.warmup, recipe.epochs
    if epoch < warm:
        factor = (epoch + 1 / recipe.batch_size) / warm
    else:
        factor = (1 + math.cos(math.pi * (epoch - warm) / max(epochs - warm, 1e-9))) / 2
    for group in optimiser.param_groups:
        group["lr"] = recipe.lr * factor


def _normalisation(images: Array, device: str) -> tuple[Tensor, Tensor]:
    """Return the mean and deviation of each channel, over at most 10,000 images."""
    some = images[:: max(1, len(images) // 10_000)].astype(np.float64)
    axes = (0, *range(2, images.ndim))
    mean = torch.tensor(some.mean(axis=axes, keepdims=True)[0], dtype=torch.float32)
    scale = torch.tensor(some.std(axis=axes, keepdims=True)[0], dtype=torch.float32)
    return mean.to(device), scale.clamp_min(1e-6).to(device)


def _processes() -> tuple[int, int]:
    """Return the rank of this process and the number of processes that torchrun has started."""
    world = int(os.environ.get("WORLD_SIZE", "1"))
    if world == 1:
        return 0, 1
    if not torch.distributed.is_initialized():
        backend = "nccl" if torch.cuda.is_available() else "gloo"
        torch.distributed.init_process_group(backend)
    return torch.distributed.get_rank(), world


def _distributed(network: nn.Module, device: str) -> nn.Module:
    network = nn.SyncBatchNorm.convert_sync_batchnorm(network) if "cuda" in device else network
    return nn.parallel.DistributedDataParallel(network)
