"""Heads on the features of a network that fits its training samples, side by side.

A network is trained by cross-entropy on four fifths of the training samples; the last fifth is kept
for the selection of λ, margins and other hyper-parameters. Then its last layer is replaced in the
ways that the literature knows, and in ours. "natural" is the test set weighted by the class shares
of the training data, "balanced" the test set with equal weights for all classes.

    python examples/torch_compare_heads.py --data digits
    python examples/torch_compare_heads.py --data page_blocks --seeds 0 1 2 3 4
    python examples/torch_compare_heads.py --data cifar10 --data-dir FOLDER --seeds 0 1 2 3 4
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from scipy.optimize import minimize_scalar
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from immax.bench.networks import make_network
from immax.datasets import load_cifar10, load_page_blocks, long_tailed
from immax.decisions import adjust_prior
from immax.losses.catalog import ce
from immax.torch import (
    IMMAXHead,
    collect_features,
    crt_head,
    logit_adjusted_head,
    tau_normalized_head,
)

Samples = tuple[np.ndarray, np.ndarray]
TINY = 1e-300


def cifar10(folder: str | None, seed: int) -> list[Samples]:
    """Return CIFAR-10 at 16x16, long-tailed with ratio 100: training, held-out and test images."""
    data = load_cifar10(folder)
    keep = long_tailed(data.y_train, 100, random_state=seed)
    rest, held = kept_apart(keep, data.y_train[keep], seed)
    parts = [(data.X_train[rest], data.y_train[rest]), (data.X_train[held], data.y_train[held])]
    small = [(halved(images), y) for images, y in [*parts, (data.X_test, data.y_test)]]
    mean = small[0][0].mean((0, 2, 3), keepdims=True)
    scale = small[0][0].std((0, 2, 3), keepdims=True)
    return [((images - mean) / scale, np.array(y)) for images, y in small]


def halved(images: np.ndarray) -> np.ndarray:
    """Return images of half the width and height."""
    n, channels, height, width = images.shape
    shape = n, channels, height // 2, 2, width // 2, 2
    return np.asarray(images, dtype=np.float32).reshape(shape).mean((3, 5))


def digits(_: str | None, seed: int) -> list[Samples]:
    """Return the digits of scikit-learn, long-tailed with ratio 5 but for the test samples."""
    X, y = load_digits(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X / 16, y, test_size=0.3, stratify=y, random_state=seed)
    keep = long_tailed(y, 5, random_state=seed)
    rest, held = kept_apart(keep, y[keep], seed)
    return [(X[rest], y[rest]), (X[held], y[held]), (X_test, y_test)]


def page_blocks(_: str | None, seed: int) -> list[Samples]:
    """Return the bundled table of page blocks, text or not, with its own class shares."""
    table, labels = load_page_blocks()
    X = np.log1p(np.abs(table.to_numpy(dtype=np.float64)))
    y = (labels.to_numpy() == "other").astype(np.int64)
    rows = np.arange(len(y))
    rows, test = train_test_split(rows, test_size=0.4, stratify=y, random_state=seed)
    rest, held = kept_apart(rows, y[rows], seed)
    X = (X - X[rest].mean(0)) / X[rest].std(0)
    return [(X[part], y[part]) for part in (rest, held, test)]


def kept_apart(rows: np.ndarray, y: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows to train on, and a fifth of each class that is kept from training."""
    rest, held = train_test_split(rows, test_size=0.2, stratify=y, random_state=seed)
    return np.sort(rest), np.sort(held)


class Recipe(NamedTuple):
    """Samples, and how a network is trained on them."""

    samples: Callable[[str | None, int], list[Samples]]
    network: str
    epochs: int
    lr: float
    weight_decay: float


DATA = {
    "cifar10": Recipe(cifar10, "resnet8", 30, 0.1, 5e-4),
    "digits": Recipe(digits, "mlp", 60, 0.1, 0.0),
    "page_blocks": Recipe(page_blocks, "mlp", 200, 0.2, 0.0),
}


def train(network: nn.Module, data: TensorDataset, recipe: Recipe, seed: int) -> None:
    """Train by SGD with Nesterov momentum, a cosine schedule and clipped gradients."""
    epochs, lr, decay = recipe.epochs, recipe.lr, recipe.weight_decay
    generator = torch.Generator().manual_seed(seed)
    loader = DataLoader(data, batch_size=128, shuffle=True, generator=generator)
    optimizer = torch.optim.SGD(
        network.parameters(), lr=lr, momentum=0.9, nesterov=True, weight_decay=decay
    )
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs * len(loader))
    network.train()
    for _ in range(epochs):
        for x, y in loader:
            optimizer.zero_grad(set_to_none=True)
            nn.functional.cross_entropy(network(x), y).backward()
            nn.utils.clip_grad_norm_(network.parameters(), 2.0)
            optimizer.step()
            schedule.step()


def trained_network(
    name: str, parts: list[TensorDataset], seed: int, folder: Path | None
) -> nn.Module:
    """Return the network of a data set, from a file if there is one."""
    x, y = parts[0].tensors
    torch.manual_seed(seed)
    network = make_network(DATA[name].network, tuple(x.shape[1:]), int(y.max()) + 1)
    file = None if folder is None else folder / f"{name}-{seed}.safetensors"
    if file is not None and file.exists():
        network.load_state_dict(load_file(file))
        return network
    train(network, parts[0], DATA[name], seed)
    if file is not None:
        save_file(network.state_dict(), file)
    return network


def heads(old: nn.Linear, train: Samples, held: Samples, seed: int) -> dict[str, IMMAXHead]:
    """Return all heads by name."""
    counts = np.bincount(train[1])
    own = IMMAXHead(old.weight, old.bias, ce(counts), counts)
    exact = {"selection": held}
    return {
        "cross-entropy, end to end": own,
        "temperature scaling": scaled(own, held),
        "head: cross-entropy (equal margins)": IMMAXHead.fit(*train, margins="equal", **exact),
        "head: IMMAX, searched margins": IMMAXHead.fit(*train, **exact),
        "head: LDAM": IMMAXHead.fit(
            *train, method="ldam", method_params={"C": [0.1, 0.5, 1.0, 5.0]}, **exact
        ),
        "head: balanced softmax": IMMAXHead.fit(*train, method="bs", **exact),
        "head: cRT": crt_head(*train, seed=seed),
        "head: τ-normalisation": tau_normalized_head(old, counts, selection=held),
        "head: logit adjustment after training": logit_adjusted_head(old, counts),
        "head at λ = 1e-4: equal margins": IMMAXHead.fit(*train, margins="equal", lam=1e-4),
        "head at λ = 1e-4: theory's margins": IMMAXHead.fit(*train, margins="theory", lam=1e-4),
        "head of held-out samples: cross-entropy": IMMAXHead.fit(
            *held, margins="equal", selection="folds"
        ),
        "head of held-out samples: IMMAX": IMMAXHead.fit(*held, selection="folds"),
    }


def scaled(head: IMMAXHead, held: Samples) -> IMMAXHead:
    """Return the head with scores divided by the temperature of the lowest held-out log-loss."""
    with torch.no_grad():
        scores = head(torch.tensor(held[0])).double()
    rows, y = torch.arange(len(held[1])), torch.tensor(held[1])

    def loss(log_t: float) -> float:
        return -float((scores / np.exp(log_t)).log_softmax(1)[rows, y].mean())

    t = float(np.exp(minimize_scalar(loss, bounds=(-3, 5), method="bounded").x))
    return IMMAXHead(head.weight / t, head.bias / t, head.criterion.spec, head.counts)


def evaluate(head: IMMAXHead, test: Samples, shares: np.ndarray) -> dict[str, np.ndarray]:
    """Return for each test sample whether decisions are right, and its log-losses."""
    X, y = test
    with torch.no_grad():
        scores = head(torch.tensor(X)).double()
    proba = head.proba(scores).numpy()
    equal = adjust_prior(np.maximum(proba, TINY), shares, np.ones(len(shares)))
    rows = np.arange(len(y))
    return {
        "natural accuracy": (head.predict(scores, "bayes").numpy() == y) * 100.0,
        "natural log-loss": -np.log(np.maximum(proba[rows, y], TINY)),
        "balanced accuracy, highest score": (head.predict(scores, "score").numpy() == y) * 100.0,
        "balanced accuracy, by rule": (equal.argmax(1) == y) * 100.0,
        "balanced log-loss": -np.log(np.maximum(equal[rows, y], TINY)),
    }


def compare(name: str, folder: str | None, seed: int, networks: Path | None) -> dict[str, dict]:
    """Train a network, refit its head in all ways, and return the results by head and column."""
    parts = DATA[name].samples(folder, seed)
    data = [TensorDataset(torch.tensor(X, dtype=torch.float32), torch.tensor(y)) for X, y in parts]
    begin = time.perf_counter()
    network = trained_network(name, data, seed, networks)
    loaders = [DataLoader(part, batch_size=500) for part in data]
    train, held, test = (collect_features(network, loader) for loader in loaders)
    old = [module for module in network.modules() if isinstance(module, nn.Linear)][-1]
    with torch.no_grad():
        wrong = (old(torch.tensor(train[0])).argmax(1).numpy() != train[1]).mean()
    print(
        f"seed {seed}: {len(train[1])} training, {len(held[1])} held-out and {len(test[1])} test "
        f"samples, {train[0].shape[1]} features; training error {wrong:.2%}; "
        f"{time.perf_counter() - begin:.0f} s",
        flush=True,
    )
    shares = np.bincount(train[1]) / len(train[1])
    tested = np.bincount(test[1], minlength=len(shares)) / len(test[1])
    natural, balanced = (shares / tested)[test[1]], (1 / len(shares) / tested)[test[1]]
    results = {}
    for title, head in heads(old, train, held, seed).items():
        values = evaluate(head, test, shares)
        results[title] = {
            column: each * (natural if column.startswith("natural") else balanced)
            for column, each in values.items()
        }
        chosen = head.record.parameters or {}
        print(f"  {title}: lam {head.record.lam}, {chosen}", flush=True)
    return results


def print_table(runs: list[dict[str, dict]]) -> None:
    """Print means over the seeds, and the paired difference of searched and equal margins."""
    columns = list(next(iter(runs[0].values())))
    print("\n| method | " + " | ".join(columns) + " |")
    print("| --- |" + " ---: |" * len(columns))
    for title in runs[0]:
        cells = []
        for column in columns:
            mean = np.mean([run[title][column].mean() for run in runs])
            cells.append(f"{mean:.2f}" if "accuracy" in column else f"{mean:.3f}")
        print(f"| {title} | " + " | ".join(cells) + " |")
    for ours, rival in (
        ("head: IMMAX, searched margins", "head: cross-entropy (equal margins)"),
        ("head: cross-entropy (equal margins)", "temperature scaling"),
        ("head of held-out samples: IMMAX", "temperature scaling"),
        ("head at λ = 1e-4: theory's margins", "head at λ = 1e-4: equal margins"),
    ):
        print(f"\n{ours} minus {rival}, mean and standard error over the test samples:")
        for column in columns:
            gaps = [run[ours][column] - run[rival][column] for run in runs]
            each = "; ".join(f"{g.mean():+.3f} ± {g.std() / len(g) ** 0.5:.3f}" for g in gaps)
            print(f"  {column}: {each}")


def main() -> None:
    """Compare the heads on the features of a network for each seed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", choices=list(DATA), default="digits")
    parser.add_argument("--data-dir", help="the folder of the CIFAR-10 files")
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--networks", type=Path, help="a folder of trained networks")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    print_table(
        [
            compare(arguments.data, arguments.data_dir, seed, arguments.networks)
            for seed in arguments.seeds
        ]
    )


if __name__ == "__main__":
    main()
