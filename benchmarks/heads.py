"""A last layer on features of a network, beside scikit-learn and SGD in one run.

100,000 rows of 2,048 features as a network makes them (non-negative, of low effective dimension)
and a hundred classes, the rarest with a hundredth of the samples of the most frequent. Ours is
``IMMAXHead.fit`` with equal margins and a given λ, with the theory's margins, and with a search of
three values of λ and three powers on held-out rows. scikit-learn's LogisticRegression minimises the
same objective as the first, with its default tolerance; SGD runs for 20 epochs with momentum and a
cosine schedule, at the same weight decay. Test rows are apart.

    python benchmarks/heads.py [--rows 100000] [--features 2048] [--classes 100] [--skip sklearn]
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import sklearn
import torch
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

import immax
from immax.losses import LossSpec
from immax.search.families import PowerFamily
from immax.torch import IMMAXHead, crt_head

LATENT, TESTED = 128, 10_000
LAM = 1e-2


def make(rows: int, features: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rectified random mixtures of class centres with noise, the classes long-tailed."""
    rng = np.random.default_rng(0)
    share = np.geomspace(1, 0.01, classes)
    y = np.concatenate(
        [np.arange(classes), rng.choice(classes, rows - classes, p=share / share.sum())]
    )
    y = rng.permutation(y)
    centres = rng.standard_normal((classes, LATENT), dtype=np.float32)
    mixing = rng.standard_normal((LATENT, features), dtype=np.float32) / LATENT**0.5
    X = np.empty((rows, features), dtype=np.float32)
    for part in np.array_split(np.arange(rows), max(1, rows // 5000)):
        noise = rng.standard_normal((len(part), LATENT), dtype=np.float32)
        X[part] = np.maximum((0.6 * centres[y[part]] + noise) @ mixing, 0)
    return X, y


def objective(weight: np.ndarray, bias: np.ndarray, X: np.ndarray, y: np.ndarray) -> float:
    """Return the common objective of equal margins, a few thousand rows at a time."""
    spec, total = LossSpec(np.ones(len(weight))), 0.0
    for part in np.array_split(np.arange(len(y)), max(1, len(y) // 5000)):
        total += spec.loss(X[part] @ weight.T + bias, y[part]).sum()
    return float(LAM * np.sum(weight.astype(float) ** 2) + total / len(y))


def timed(fit: Callable[[], Any]) -> tuple[Any, float, float]:
    """Return a result, its time, and that of all threads of this process."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = fit()
    return result, time.perf_counter() - wall, time.process_time() - cpu


def main() -> None:
    """Print one line for each way to the last layer."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--features", type=int, default=2048)
    parser.add_argument("--classes", type=int, default=100)
    parser.add_argument("--skip", nargs="*", default=[], choices=["sklearn", "sgd", "search"])
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    n, tested = arguments.rows, min(TESTED, arguments.rows // 4)
    X, y = make(n + 2 * tested, arguments.features, arguments.classes)
    parts = [slice(n), slice(n, n + tested), slice(n + tested, None)]
    train, held, test = ((X[part], y[part]) for part in parts)
    print(
        f"immax {immax.__version__}, scikit-learn {sklearn.__version__}, torch "
        f"{torch.__version__}; {n:,} x {arguments.features:,}, {arguments.classes} classes, "
        "float32; seconds, and CPU seconds of all threads in parentheses",
        flush=True,
    )
    reference = []

    def show(name: str, head: IMMAXHead, wall: float, cpu: float) -> None:
        with torch.no_grad():
            scores = head(torch.from_numpy(test[0]))
        log_p = head.log_proba(scores.double())
        loss = -float(log_p[torch.arange(tested), torch.from_numpy(test[1])].mean())
        right = float((head.predict(scores, "bayes").numpy() == test[1]).mean())
        value = objective(head.weight.detach().numpy(), head.bias.detach().numpy(), *train)
        reference.append(value)
        print(
            f"{name:32} {wall:7.1f} ({cpu:6.1f})  accuracy {right:.4f}, log-loss {loss:.4f}, "
            f"objective of equal margins {value / reference[0] - 1:+.1e}",
            flush=True,
        )

    def ours(**options: Any) -> Callable[[], IMMAXHead]:
        return lambda: IMMAXHead.fit(*train, **options)

    show("IMMAXHead, equal margins", *timed(ours(lam=LAM, margins="equal")))
    show("IMMAXHead, theory's margins", *timed(ours(lam=LAM, margins="theory")))
    if "search" not in arguments.skip:
        lams = [0.1 * LAM, LAM, 10 * LAM]
        family = PowerFamily(values=(-1 / 6, 0.0, 1 / 6))
        head, wall, cpu = timed(ours(selection=held, lams=lams, family=family))
        show("IMMAXHead, search", head, wall, cpu)
        print(f"  chosen: lam {head.record.lam:g}, power {head.record.parameters['power']:.2f}")
    if "sgd" not in arguments.skip:
        epochs = lambda: crt_head(*train, balanced=False, epochs=20, weight_decay=2 * LAM)  # noqa: E731
        show("SGD, 20 epochs", *timed(epochs))
    if "sklearn" not in arguments.skip:
        peer = LogisticRegression(C=1 / (2 * LAM * n), max_iter=1000)
        model, wall, cpu = timed(lambda: peer.fit(*train))
        weight, bias = torch.tensor(model.coef_).float(), torch.tensor(model.intercept_).float()
        spec = LossSpec(np.ones(len(weight)))
        show("scikit-learn", IMMAXHead(weight, bias, spec), wall, cpu)


if __name__ == "__main__":
    main()
