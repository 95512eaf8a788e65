"""IMMAX by the fused cross-entropies of other libraries, beside ``immax_loss``.

    python benchmarks/fused_recipes.py
    torchrun --nproc-per-node 2 benchmarks/fused_recipes.py megatron

For every library of the table in ``docs/torch.md`` that is installed, the recipe is run on the CPU
in single precision: PyTorch as it is, cut-cross-entropy with ``impl="torch_compile"``, Liger by
Triton's interpreter, and Megatron on two gloo processes with half of the classes each. Printed are
the largest differences of loss and gradients from those of ``immax_loss``, relative to their
largest values. Nothing is timed: none of these ways is meant for a CPU.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import NamedTuple

import torch
import torch.nn.functional as F

from immax.torch import scale_features
from immax.torch.functional import immax_loss

SAMPLES, FEATURES, CLASSES = 24, 12, 40


class Case(NamedTuple):
    """A last layer, what it is applied to, and the margins."""

    features: torch.Tensor
    weight: torch.Tensor
    bias: torch.Tensor
    target: torch.Tensor
    rho: torch.Tensor

    def gradients(self, loss: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return torch.autograd.grad(loss, (self.features, self.weight, self.bias))


Recipe = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]


def make_case() -> Case:
    generator = torch.Generator().manual_seed(0)

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator).requires_grad_()

    features, weight, bias = normal(SAMPLES, FEATURES), normal(CLASSES, FEATURES), normal(CLASSES)
    target = torch.randint(0, CLASSES, (SAMPLES,), generator=generator)
    return Case(features, weight, bias, target, torch.linspace(0.5, 1.5, CLASSES))


def liger() -> Recipe:
    from liger_kernel.transformers import fused_linear_cross_entropy as fused

    return lambda x, weight, target: fused.LigerFusedLinearCrossEntropyLoss()(weight, x, target)


def cut_cross_entropy() -> Recipe:
    from cut_cross_entropy import linear_cross_entropy

    return lambda x, weight, target: linear_cross_entropy(x, weight, target, impl="torch_compile")


def pytorch() -> Recipe:
    return F.linear_cross_entropy


def report(name: str, case: Case, loss: torch.Tensor, gradients: tuple[torch.Tensor, ...]) -> None:
    """Print how far loss and gradients are from those of ``immax_loss``."""
    expected = immax_loss(case.features @ case.weight.T + case.bias, case.target, case.rho)
    pairs = zip((loss, *gradients), (expected, *case.gradients(expected)), strict=True)
    errors = [float(((own - one).abs().max() / one.abs().max()).detach()) for own, one in pairs]
    print(f"{name}: loss {errors[0]:.1e}, gradients {max(errors[1:]):.1e}", flush=True)


def run_megatron() -> None:
    """Print the result for classes that are spread over the processes of ``torchrun``."""
    import torch.distributed as dist
    from megatron.core import parallel_state
    from megatron.core.tensor_parallel import vocab_parallel_cross_entropy

    dist.init_process_group("gloo")
    rank, size = dist.get_rank(), dist.get_world_size()
    parallel_state.initialize_model_parallel(tensor_model_parallel_size=size)
    case = make_case()
    own = slice(rank * CLASSES // size, (rank + 1) * CLASSES // size)
    logits = case.features @ case.weight[own].T + case.bias[own]
    scaled = logits / case.rho[case.target][..., None]
    loss = vocab_parallel_cross_entropy(scaled, case.target).mean()
    gradients = tuple(gradient.clone() for gradient in case.gradients(loss))
    for gradient in gradients:
        dist.all_reduce(gradient)  # each process has those of its own classes
    report(f"megatron, process {rank}", case, loss, gradients)
    dist.destroy_process_group()


def main() -> None:
    if sys.argv[1:] == ["megatron"]:
        run_megatron()
        return
    os.environ["TRITON_INTERPRET"] = "1"  # before anything imports Triton
    for make in (pytorch, cut_cross_entropy, liger):
        case = make_case()
        x, weight = scale_features(case.features, case.target, case.rho, case.weight, case.bias)
        try:
            loss = make()(x, weight, case.target)
        except (ImportError, AttributeError) as error:
            print(f"{make.__name__}: {error}", flush=True)
            continue
        report(make.__name__, case, loss, case.gradients(loss))


if __name__ == "__main__":
    main()
