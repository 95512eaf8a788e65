"""Linear models on a local Dask cluster beside the fit in memory and dask-ml.

    python benchmarks/dask_linear.py [SIZE …] [--quick] [--in-process] [--no-peers]

Sizes are "dense" (2 million x 50), "classes" (500,000 x 200, ten classes), "sparse" (500,000 x
20,000), by default these three; "ROWSxCOLUMNS" for two classes; and with ``--quick`` small ones of
each kind. Fits run in memory, on a cluster of one worker and on one of two, each of them a process
on a core of its own. The data are made on the workers and stay there. The table shows the seconds
of every fit, the gap to the best objective relative to it, rounds, and the bytes that went through
the loopback device meanwhile. Under it are the ratios.

For two classes and dense data the solvers of dask-ml run on the cluster of two workers, if dask-ml
is installed. It penalises the intercept, so that no fit has one then, and all of them solve the
same problem. With ``--in-process`` the cluster is a worker in this process, and the processor
seconds of all its threads are shown: they depend less on what else the machine does.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from importlib.util import find_spec
from typing import Any, NamedTuple

import dask.array as da
import numpy as np
import psutil
from distributed import Client, LocalCluster, wait
from scipy import sparse
from threadpoolctl import threadpool_limits

from immax import IMMAXClassifier
from immax.distributed import DaskIMMAXClassifier

LAM = 1e-4
BLOCKS = 8
WITHIN = 1e-6  # of the best objective: what counts as solved
ADMM_ITERATIONS = 30


class Size(NamedTuple):
    """The shape of made-up data."""

    rows: int
    columns: int
    classes: int = 2
    density: float | None = None

    @property
    def has_peers(self) -> bool:
        """Whether dask-ml can do the problem."""
        return self.classes == 2 and self.density is None

    @property
    def minutes(self) -> float:
        """About how long all fits take on two cores, making the data included."""
        entries = self.rows * self.columns * (self.density or 1) / 1e8
        return 0.3 + entries * (3 if self.has_peers else 15 if self.density else 4)


class Fit(NamedTuple):
    """A line of the table."""

    label: str
    workers: int
    seconds: float
    model: Any
    rounds: int = 0
    moved: int = 0


SIZES = {
    "dense": Size(2_000_000, 50),
    "classes": Size(500_000, 200, 10),
    "sparse": Size(500_000, 20_000, 2, 0.002),
}
QUICK = {
    "dense": Size(100_000, 50),
    "classes": Size(20_000, 50, 10),
    "sparse": Size(20_000, 5000, 2, 0.004),
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


def dask_ml_fits(size: Size) -> dict[str, Any]:
    from dask_ml.linear_model import LogisticRegression

    C = 1 / (2 * LAM * size.rows)
    settings = {
        "newton": {"max_iter": 50, "tol": 1e-8},
        "lbfgs": {"max_iter": 200, "tol": 1e-9},
        "admm": {"max_iter": ADMM_ITERATIONS, "tol": 1e-6},
    }
    return {
        f"dask-ml {solver}": LogisticRegression(solver=solver, C=C, fit_intercept=False, **own)
        for solver, own in settings.items()
    }


def _pin(core: int) -> None:
    """Keep a process on one core, and its libraries to one thread."""
    threadpool_limits(1)
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[core % len(cores)]})


def _moved() -> int:
    """Return the bytes that went through the loopback device so far."""
    return int(psutil.net_io_counters(pernic=True)["lo"].bytes_sent)


def timed(clock, fit, repeats: int) -> tuple[float, Any, int]:
    """Return the least seconds of several fits, the last model, and the bytes moved."""
    best = np.inf
    for _ in range(repeats):
        moved, begin = _moved(), clock()
        model = fit()
        best = min(best, clock() - begin)
        moved = _moved() - moved
    return best, model, moved


def fit_in_memory(params: dict[str, Any], here: tuple[Any, Any], options: Any) -> Fit:
    cores = os.sched_getaffinity(0) if hasattr(os, "sched_setaffinity") else None
    _pin(0)
    clock = time.process_time if options.in_process else time.perf_counter
    seconds, model, _ = timed(clock, lambda: IMMAXClassifier(**params).fit(*here), options.repeats)
    if cores is not None:
        os.sched_setaffinity(0, cores)
    return Fit("in memory", 0, seconds, model)


def fit_on_cluster(
    size: Size, workers: int, params: dict[str, Any], peers: bool, options: Any
) -> list[Fit]:
    here = options.in_process
    clock = time.process_time if here else time.perf_counter
    with (
        LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=not here, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        for core, address in enumerate(client.nthreads()):
            client.run(_import, workers=[address])
            if not here:
                client.run(_pin, core, workers=[address])
        X, y = place(client, size)
        seconds, model, moved = timed(
            clock, lambda: DaskIMMAXClassifier(**params).fit(X, y), options.repeats
        )
        fits = [Fit("immax", workers, seconds, model, model.n_rounds_, 0 if here else moved)]
        for label, peer in dask_ml_fits(size).items() if peers else ():
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    seconds, model, moved = timed(clock, lambda peer=peer: peer.fit(X, y), 1)
            except Exception as error:  # what a peer cannot do is a result too
                print(f"{label}: {type(error).__name__}: {error}", flush=True)
                continue
            fits.append(Fit(label, workers, seconds, model, 0, 0 if here else moved))
    return fits


def run(name: str, size: Size, options: argparse.Namespace) -> None:
    peers = options.peers and size.has_peers
    params = {"margins": "equal", "lam": LAM, "fit_intercept": not peers}
    here = gather(size)
    counts = [1] if options.in_process else [1, 2]
    fits = [fit_in_memory(params, here, options)]
    for workers in counts:
        fits += fit_on_cluster(size, workers, params, peers and workers == counts[-1], options)
    values = []
    for fit in fits:
        intercept = np.atleast_1d(fit.model.intercept_) if params["fit_intercept"] else np.zeros(1)
        values.append(objective(np.atleast_2d(fit.model.coef_), intercept, *here))
    best = min(values)
    gaps = [(value - best) / best for value in values]
    unit = "processor seconds" if options.in_process else "seconds"
    print(f"\n{name}: {size.rows:,} x {size.columns:,}, {size.classes} classes")
    print(f"| fit | workers | {unit} | gap to the best | rounds | KiB moved |")
    print("| --- | --- | --- | --- | --- | --- |")
    for fit, gap in zip(fits, gaps, strict=True):
        print(
            f"| {fit.label} | {fit.workers or ''} | {fit.seconds:.2f} | {gap:.1e} | "
            f"{fit.rounds or ''} | {f'{fit.moved / 1024:,.0f}' if fit.moved else ''} |"
        )
    print_ratios(fits, gaps)


def print_ratios(fits: list[Fit], gaps: list[float]) -> None:
    """Print what the page about larger data says."""
    local = fits[0]
    ours = {fit.workers: fit for fit in fits if fit.label == "immax"}
    print(f"one worker / in memory: {ours[1].seconds / local.seconds:.2f}")
    if 2 in ours:
        print(f"efficiency of two workers: {ours[1].seconds / (2 * ours[2].seconds):.2f}")
    solved = [
        fit
        for fit, gap in zip(fits, gaps, strict=True)
        if fit.label.startswith("dask-ml") and gap <= WITHIN
    ]
    if solved:
        fastest = min(solved, key=lambda fit: fit.seconds)
        ratio = fastest.seconds / ours[fastest.workers].seconds
        print(f"{fastest.label} / immax, {fastest.workers} worker(s): {ratio:.1f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sizes", nargs="*", default=list(SIZES))
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--in-process", action="store_true")
    parser.add_argument("--no-peers", dest="peers", action="store_false")
    parser.add_argument("--repeats", type=int, default=3, help="of our own fits; the best counts")
    options = parser.parse_args()
    known = QUICK if options.quick else SIZES
    sizes = {
        name: known[name] if name in known else Size(*map(int, name.split("x")))
        for name in options.sizes
    }
    if options.peers and find_spec("dask_ml") is None:
        print("dask-ml is not installed: it is left out")
        options.peers = False
    minutes = sum(size.minutes for size in sizes.values())
    print(f"about {minutes:.0f} minutes on two idle cores, and up to 8 GiB of memory", flush=True)
    for name, size in sizes.items():
        run(name, size, options)


if __name__ == "__main__":
    main()
