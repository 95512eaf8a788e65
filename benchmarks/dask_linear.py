"""Linear models on a local Dask cluster beside the fit in memory and dask-ml.

    python benchmarks/dask_linear.py [SIZE …] [--workers 1 2] [--peers] [--in-process]

Sizes are "small" (200,000 x 50), "dense" (2 million x 50), "classes" (500,000 x 200, ten classes),
"sparse" (500,000 x 20,000) or "ROWSxCOLUMNS" for two classes. The data are made on the workers and
stay there. For every fit the table shows the seconds, the gap to the best objective relative to it,
rounds and, of ours, the bytes of parameters and sums that were moved. With ``--peers`` the solvers
of dask-ml run on the same cluster (they need dask-ml in the environment). dask-ml penalises the
intercept, so that no fit has one then, and all of them solve the same problem. With
``--in-process`` the cluster is in this process, and the processor seconds of all its threads are
shown: they do not depend on what else the machine does.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import NamedTuple

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster, wait
from scipy import sparse

from immax import IMMAXClassifier
from immax.distributed import DaskIMMAXClassifier

LAM = 1e-4
BLOCKS = 8


class Size(NamedTuple):
    """The shape of made-up data."""

    rows: int
    columns: int
    classes: int = 2
    density: float | None = None


SIZES = {
    "small": Size(200_000, 50),
    "dense": Size(2_000_000, 50),
    "classes": Size(500_000, 200, 10),
    "sparse": Size(500_000, 20_000, 2, 0.002),
}


def make_rows(size: Size, block: int) -> tuple[object, np.ndarray]:
    """Return the rows of a block; the true weights are the same in all of them."""
    k = 1 if size.classes == 2 else size.classes
    truth = np.random.default_rng(0).normal(size=(k, size.columns))
    rng = np.random.default_rng(block + 1)
    n = size.rows // BLOCKS
    if size.density is None:
        X = rng.normal(size=(n, size.columns))
        scores = 3 * X @ truth.T / size.columns**0.5
    else:
        X = sparse.random(
            n, size.columns, size.density, "csr", rng=rng, data_rvs=rng.standard_normal
        )
        scores = 3 * X @ truth.T / (size.columns * size.density) ** 0.5
    noise = rng.gumbel(size=(n, max(2, k)))
    if k == 1:
        return X, (scores[:, 0] - 3 + noise[:, 0] > noise[:, 1]).astype(np.int64)
    return X, np.argmax(scores + noise + np.linspace(2, 0, k), axis=1)


def place(client: Client, size: Size) -> tuple[da.Array, da.Array]:
    """Make the data on the workers."""
    pairs = [client.submit(make_rows, size, block, pure=False) for block in range(BLOCKS)]
    rows = [client.submit(_first, pair, pure=False) for pair in pairs]
    labels = [client.submit(_second, pair, pure=False) for pair in pairs]
    wait([*rows, *labels])
    n = size.rows // BLOCKS
    meta = np.empty((0, 0)) if size.density is None else sparse.csr_matrix((0, 0))
    X = da.concatenate([da.from_delayed(one, (n, size.columns), meta=meta) for one in rows])
    y = da.concatenate([da.from_delayed(one, (n,), dtype=np.int64) for one in labels])
    X, y = client.persist([X, y])
    wait([X, y])
    return X, y


def _import() -> None:
    """Import on a worker what a fit needs, which is not part of its time."""
    import immax.distributed.linear  # noqa: F401


def _first(pair):
    return pair[0]


def _second(pair):
    return pair[1]


def gather(size: Size) -> tuple[object, np.ndarray]:
    """Return the data in the memory of this process."""
    made = [make_rows(size, block) for block in range(BLOCKS)]
    stack = np.concatenate if size.density is None else lambda parts: sparse.vstack(parts, "csr")
    return stack([rows for rows, _ in made]), np.concatenate([labels for _, labels in made])


def objective(coef: np.ndarray, intercept: np.ndarray, X: object, y: np.ndarray) -> float:
    """Return the objective of plain logistic regression, which equal margins give."""
    scores = np.asarray(X @ coef.T) + intercept
    if scores.shape[1] == 1:
        margins = np.where(y == 1, 1, -1) * scores[:, 0]
        risk = np.logaddexp(0, -margins).mean()
    else:
        top = scores.max(axis=1)
        logs = top + np.log(np.exp(scores - top[:, None]).sum(axis=1))
        risk = (logs - scores[np.arange(len(y)), y]).mean()
    return float(risk + LAM * np.vdot(coef, coef))


def dask_ml_fits(size: Size) -> dict[str, object]:
    from dask_ml.linear_model import LogisticRegression

    C = 1 / (2 * LAM * size.rows)
    settings = {"lbfgs": {"max_iter": 200, "tol": 1e-9}, "newton": {"max_iter": 50, "tol": 1e-8}}
    settings["admm"] = {"max_iter": 100, "tol": 1e-6}
    return {
        f"dask-ml {solver}": LogisticRegression(solver=solver, C=C, fit_intercept=False, **own)
        for solver, own in settings.items()
    }


def count_bytes(model: DaskIMMAXClassifier) -> int:
    """Return the bytes of parameters to all blocks and of sums from them, in all rounds."""
    return 2 * model.n_rounds_ * BLOCKS * model.coef_.nbytes


def run(name: str, workers: int, best: dict[str, float], options: argparse.Namespace) -> None:
    size = SIZES[name] if name in SIZES else Size(*map(int, name.split("x")))
    peers, here_only = options.peers, options.in_process
    clock = time.process_time if here_only else time.perf_counter
    rows = []
    params = {"margins": "equal", "lam": LAM, "fit_intercept": not peers}
    with (
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=not here_only,
            dashboard_address=":0",
        ) as cluster,
        Client(cluster) as client,
    ):
        X, y = place(client, size)
        here = gather(size)
        if workers == 1 or name not in best:
            begin = clock()
            local = IMMAXClassifier(**params).fit(*here)
            rows.append(("in memory", clock() - begin, local, "", ""))
        client.run(_import)
        model = DaskIMMAXClassifier(**params)
        begin = clock()
        model.fit(X, y)
        seconds = clock() - begin
        rows.append(("immax", seconds, model, model.n_rounds_, count_bytes(model)))
        if peers and size.classes == 2 and size.density is None:
            for label, peer in dask_ml_fits(size).items():
                begin = clock()
                try:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        peer.fit(X, y)
                except Exception as error:  # what a peer cannot do is a result too
                    print(f"| {name} | {workers} | {label} | {type(error).__name__}: {error} |")
                    continue
                rows.append((label, clock() - begin, peer, "", ""))
    values = []
    for _, _, fitted, _, _ in rows:
        intercept = np.zeros(1) if peers else np.atleast_1d(fitted.intercept_)
        values.append(objective(np.atleast_2d(fitted.coef_), intercept, *here))
    best[name] = min([*values, best.get(name, np.inf)])
    for (label, seconds, _, rounds, moved), value in zip(rows, values, strict=True):
        gap = (value - best[name]) / best[name]
        print(
            f"| {name} | {workers} | {label} | {seconds:.2f} | {gap:.1e} | {rounds} | {moved} |",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sizes", nargs="*", default=["small"])
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--in-process", action="store_true")
    options = parser.parse_args()
    unit = "processor seconds" if options.in_process else "seconds"
    print(f"| size | workers | fit | {unit} | gap to the best | rounds | bytes moved |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    best: dict[str, float] = {}
    for name in options.sizes:
        for workers in options.workers:
            run(name, workers, best, options)


if __name__ == "__main__":
    main()
