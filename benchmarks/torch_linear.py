"""The fused last layer against logits followed by the loss, and against PyTorch's own fused loss.

Time, peak memory and gradients; "PyTorch, fused" is ``F.linear_cross_entropy`` of scaled features.

python benchmarks/torch_linear.py [--rows 2048] [--features 256] [--classes 50000]
"""

from __future__ import annotations

import argparse
import platform
import statistics
import subprocess
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F
from peak import peak_mib

import immax
import immax.torch as it
from immax.torch.functional import immax_loss

METHODS = ("cross-entropy", "logits, then loss", "PyTorch, fused", "fused")


def data(n: int, d: int, c: int) -> tuple[torch.Tensor, ...]:
    """Return features, weights, biases, labels and margins."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(n, d, generator=generator, requires_grad=True)
    w = (torch.randn(c, d, generator=generator) / d**0.5).requires_grad_()
    b = torch.zeros(c, requires_grad=True)
    y = torch.randint(0, c, (n,), generator=generator)
    rho = it.IMMAXLoss(np.geomspace(5000, 5, c)).rho
    return x, w, b, y, rho


def step(method: str, tensors: tuple[torch.Tensor, ...]) -> torch.Tensor:
    """Compute the loss and its gradients by one of the methods."""
    x, w, b, y, rho = tensors
    x.grad = w.grad = b.grad = None
    if method == "fused":
        loss = it.linear_immax_loss(x, w, y, rho, b)
    elif method == "PyTorch, fused":
        scaled, weight = it.scale_features(x, y, rho, w, b)
        loss = F.linear_cross_entropy(scaled, weight, y)
    elif method == "cross-entropy":
        loss = F.cross_entropy(F.linear(x, w, b), y)
    else:
        loss = immax_loss(F.linear(x, w, b), y, rho)
    loss.backward()
    return loss


def main() -> None:
    """Print times, memory and the largest relative difference of the gradients."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2048)
    parser.add_argument("--features", type=int, default=256)
    parser.add_argument("--classes", type=int, default=50_000)
    parser.add_argument("--peak", help=argparse.SUPPRESS)
    options = parser.parse_args()
    sizes = options.rows, options.features, options.classes
    tensors = data(*sizes)
    if options.peak:
        step(options.peak, data(64, options.features, 1000))  # compile the kernels first
        print(peak_mib(lambda: step(options.peak, tensors)))
        return
    n, d, c = sizes
    print(
        f"immax {immax.__version__}, PyTorch {torch.__version__}, Python "
        f"{platform.python_version()}, {torch.get_num_threads()} threads; "
        f"{n:,} x {d}, {c:,} classes"
    )
    times: dict[str, list[float]] = {method: [] for method in METHODS}
    gradients = {}
    for turn in range(6):
        for method in METHODS:
            start = time.perf_counter()
            step(method, tensors)
            if turn:
                times[method].append(time.perf_counter() - start)
            gradients[method] = [t.grad for t in tensors[:3]]
    peaks = {}
    for method in METHODS:
        command = [sys.executable, __file__, "--peak", method, *sys.argv[1:]]
        memory = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        peaks[method] = float(memory)
        seconds = statistics.median(times[method])
        print(f"    {method:18} {seconds:6.2f} s   peak {peaks[method]:6.0f} MiB")
    ratio = statistics.median(times["fused"]) / statistics.median(times["logits, then loss"])
    share = peaks["fused"] / peaks["logits, then loss"]
    other = statistics.median(times["fused"]) / statistics.median(times["PyTorch, fused"])
    memory = peaks["fused"] / peaks["PyTorch, fused"]
    print(f"    fused against PyTorch, fused: time {other:.2f}, peak memory {100 * memory:.0f} %")
    print(f"    fused against logits, then loss: time {ratio:.2f}, peak memory {100 * share:.0f} %")
    for name, fused, expected in zip(
        ("features", "weight", "bias"),
        gradients["fused"],
        gradients["logits, then loss"],
        strict=True,
    ):
        off = (fused - expected).abs().max() / expected.abs().max()
        print(f"    gradient of {name}: largest relative difference {off:.1e}")


if __name__ == "__main__":
    main()
