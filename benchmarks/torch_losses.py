"""The PyTorch losses against ``F.cross_entropy``: forward and backward, side by side in one run.

For each method, the ratio of its time to that of eager cross-entropy is printed, eager and
compiled, and for the largest shape the peak memory above the logits. The losses take turns, so
that other load on the machine affects all of them; times are medians. With --cpu they are the
shortest CPU times of one thread, which other work on the machine changes less.

    python benchmarks/torch_losses.py [--shapes 1024x10 …] [--methods immax …] [--no-compile]
        [--cpu] [--memory]
"""

from __future__ import annotations

import argparse
import platform
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable

import numpy as np
import torch
import torch.nn.functional as F
from peak import peak_mib

import immax
import immax.torch as it

SHAPES = ["1024x10", "1024x100", "1024x1000", "512x32000"]
METHODS = {
    "immax": it.IMMAXLoss,
    "ce": it.CrossEntropyLoss,
    "rw": it.ReweightedLoss,
    "bs": it.BalancedSoftmaxLoss,
    "equal": lambda m: it.EqualizationLoss(m, threshold=float(np.median(m) / m.sum())),
    "la": lambda m: it.LogitAdjustedLoss(m, tau=0.5),
    "cb": it.ClassBalancedLoss,
    "focal": it.FocalLoss,
    "ldam": it.LDAMLoss,
    "vs": it.VectorScalingLoss,
}
Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def naive(counts: np.ndarray) -> Loss:
    """Return a straightforward implementation of IMMAX, for comparison."""
    rho = it.IMMAXLoss(counts).rho
    return lambda h, y: F.cross_entropy(h / rho[y][:, None], y)


def data(shape: str) -> tuple[torch.Tensor, torch.Tensor, np.ndarray]:
    """Return logits, labels and class counts."""
    n, c = map(int, shape.split("x"))
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(n, c, generator=generator, requires_grad=True)
    target = torch.randint(0, c, (n,), generator=generator)
    return logits, target, np.geomspace(5000, 5, c)


def typical_times(
    losses: dict[str, Loss], logits: torch.Tensor, target: torch.Tensor, cpu: bool = False
) -> dict[str, float]:
    """Return the median, or least CPU, time of a forward and a backward pass in microseconds."""
    clock, typical = (time.process_time, min) if cpu else (time.perf_counter, statistics.median)
    times: dict[str, list[float]] = {name: [] for name in losses}
    rounds = int(np.clip(2e8 / logits.numel(), 7, 600))
    for turn in range(rounds + 3):
        for name, loss in losses.items():
            logits.grad = None
            start = clock()
            loss(logits, target).backward()
            if turn >= 3:
                times[name].append(clock() - start)
    return {name: 1e6 * typical(values) for name, values in times.items()}


def peak(method: str, shape: str) -> float:
    """Return the peak memory of a step above the logits in MiB, measured in its own process."""
    command = [sys.executable, __file__, "--peak", method, "--shapes", shape]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def measure_peak(method: str, shape: str) -> None:
    """Print the peak memory of a step above the logits in MiB."""
    logits, target, counts = data(shape)
    loss = F.cross_entropy if method == "cross_entropy" else METHODS[method](counts)
    small = torch.zeros(256, logits.shape[1], requires_grad=True)
    loss(small, target[:256]).backward()  # compile kernels and fill memory pools first
    del small
    print(peak_mib(lambda: loss(logits, target).backward()))


def compare(shape: str, methods: list[str], with_compiler: bool, cpu: bool) -> None:
    """Print the time of every loss relative to eager cross-entropy."""
    logits, target, counts = data(shape)
    eager: dict[str, Loss] = {name: METHODS[name](counts) for name in methods}
    times = typical_times(
        {"cross_entropy": F.cross_entropy, "naive": naive(counts)} | eager, logits, target, cpu
    )
    reference = times.pop("cross_entropy")
    straight = times.pop("naive") / reference
    print(f"{shape}: eager cross-entropy {reference:,.0f} us; naive IMMAX {straight:.2f}")
    compiled: dict[str, float] = {}
    if with_compiler:
        torch._dynamo.reset()
        torch._dynamo.config.recompile_limit = 64  # all losses share one forward method
        fused: dict[str, Loss] = {"cross_entropy": F.cross_entropy}
        for name, loss in {"compiled cross_entropy": F.cross_entropy, **eager}.items():
            fused[name] = torch.compile(loss, fullgraph=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compiled = typical_times(fused, logits, target, cpu)
        reference_then = compiled.pop("cross_entropy")
        compiled = {name: value / reference_then for name, value in compiled.items()}
        print(f"    compiled cross-entropy {compiled['compiled cross_entropy']:.2f}")
    for name in methods:
        line = f"    {name:6} eager {times[name] / reference:5.2f}"
        if with_compiler:
            line += f"   compiled {compiled[name]:5.2f}"
        print(line, flush=True)


def main() -> None:
    """Print one block for each shape."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shapes", nargs="+", default=SHAPES)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--no-compile", action="store_true")
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--peak", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peak:
        measure_peak(options.peak, options.shapes[0])
        return
    if options.cpu:
        torch.set_num_threads(1)
    print(
        f"immax {immax.__version__}, PyTorch {torch.__version__}, Python "
        f"{platform.python_version()}, {torch.get_num_threads()} threads; ratios to eager "
        "cross-entropy, forward and backward"
    )
    for shape in options.shapes:
        compare(shape, options.methods, not options.no_compile, options.cpu)
    if options.memory:
        shape = options.shapes[-1]
        for method in ("cross_entropy", *options.methods):
            print(f"    peak above the logits, {shape}, {method}: {peak(method, shape):.0f} MiB")


if __name__ == "__main__":
    main()
