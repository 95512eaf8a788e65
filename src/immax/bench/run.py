"""Work on the cells of a plan, one after the other."""

from __future__ import annotations

import errno
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import StratifiedKFold

from immax.arrays import Array
from immax.bench.data import Split, load_split
from immax.bench.plan import Cell
from immax.bench.store import Store
from immax.bench.surfaces import surface
from immax.evaluation.environment import describe_environment, peak_memory
from immax.evaluation.estimators import NETWORKS, describe_choice, make_estimator, network_spec
from immax.evaluation.metrics import measure
from immax.evaluation.selection import Selection
from immax.links import by_score, spec_proba

__all__ = ["Found", "Place", "work", "work_on"]

PULSE = 15.0  # seconds between signs of life


class Place(NamedTuple):
    """Where cells are done."""

    data_dir: str | None = None
    device: str = "cpu"
    download: bool = False


class Found(NamedTuple):
    """What a cell gives: measures, and labels of the test samples with the true ones."""

    result: dict[str, Any]
    labels: dict[str, Array]


def work(
    store: Store,
    place: Place | None = None,
    *,
    limit: int | None = None,
    again: bool = False,
    on_cell: Callable[[Cell, str], None] | None = None,
    on_epoch: Callable[[Cell, int, dict[str, float]], None] | None = None,
) -> int:
    """Claim and do cells until there are none left; the number of those that failed.

    Parameters
    ----------
    store : Store
    place : Place, optional
        Where the data are, and the device.
    limit : int, optional
        The most cells to do.
    again : bool
        Whether failed cells are tried again.
    on_cell : callable, optional
        Called with a cell and "begun", "done" or "failed".
    on_epoch : callable, optional
        Called with a cell, the number of an epoch that has ended, and its measures.
    """
    failures = done = 0
    if again:
        store.retry()
    while limit is None or done < limit:
        cell = store.claim()
        if cell is None:
            if not store.counts()["running"]:
                break
            time.sleep(1)  # another process may leave something
            continue
        if on_cell is not None:
            on_cell(cell, "begun")
        state = _one(store, cell, place or Place(), on_epoch)
        failures += state == "failed"
        done += 1
        if on_cell is not None:
            on_cell(cell, state)
    return failures


def _one(store: Store, cell: Cell, place: Place, on_epoch: Any) -> str:
    start = time.perf_counter()

    def epoch(number: int, point: dict[str, float]) -> None:
        store.epoch(cell, number, point)
        if on_epoch is not None:
            on_epoch(cell, number, point)

    try:
        with _signs_of_life(store, cell):
            found = work_on(cell, store, place, epoch)
        seconds = time.perf_counter() - start
        store.finish(cell, *found, seconds, peak_memory(), describe_environment())
    except OSError as error:
        store.release(cell)
        if error.errno == errno.ENOSPC:
            raise OSError(
                error.errno, f"the disk is full; finished cells are kept in {store.path}"
            ) from error
        raise
    except Exception:
        store.fail(cell, traceback.format_exc())
        return "failed"
    except BaseException:
        store.release(cell)
        raise
    return "done"


class _signs_of_life:  # noqa: N801
    """Says now and then, from a thread, that a cell is being worked on."""

    def __init__(self, store: Store, cell: Cell) -> None:
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(store.path, cell), daemon=True)

    def _run(self, path: Path, cell: Cell) -> None:
        while not self._over.wait(PULSE):
            store = Store(path)
            store.alive(cell)
            store.close()

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()


def work_on(cell: Cell, store: Store, place: Place, on_epoch: Callable[..., None]) -> Found:
    """Do a cell."""
    if cell.spec["model"] in NETWORKS:
        return _network(cell, store, place, on_epoch)
    run = int(cell.spec["run"])
    split = load_split(cell.spec, place.data_dir, run, flat=True, download=place.download)
    if cell.spec["model"] == "surface":
        return Found(surface(split, Selection(**cell.spec["selection"])), {})
    return _estimator(cell.spec, split, run)


def _estimator(spec: Mapping[str, Any], split: Split, run: int) -> Found:
    model = make_estimator(
        spec["model"], spec["method"], split.y, Selection(**spec["selection"]), spec["grid"], run
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a grid's corners that do not converge
        model.fit(split.X, split.y)
    result: dict[str, Any] = {"chosen": describe_choice(model), "tests": {}}
    labels: dict[str, Array] = {}
    for name, (X, y) in split.tests.items():
        said = np.asarray(model.predict(X))
        proba = model.predict_proba(X) if hasattr(model, "predict_proba") else None
        result["tests"][name] = measure(y, said, proba, len(split.class_names))
        labels |= {name: said, f"{name} true": y}
    return Found(result, labels)


def _network(cell: Cell, store: Store, place: Place, on_epoch: Callable[..., None]) -> Found:
    try:
        from immax.bench.training import train
    except ModuleNotFoundError as error:
        raise ImportError('networks need PyTorch: pip install "immax[bench,torch]"') from error
    spec = cell.spec
    trial = cell.stage == "trial"
    run = 0 if trial else int(spec["run"])
    split = load_split(spec, place.data_dir, run, flat=False, download=place.download)
    params = spec["params"] if trial else _select(cell, store)
    X, y, tests = split.X, split.y, dict(split.tests)
    if trial:
        folds = StratifiedKFold(spec["folds"], shuffle=True, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of classes with fewer samples than folds
            inner, held = list(folds.split(y, y))[spec["fold"]]
        inner = np.union1d(inner, _first_of_each(y, inner))
        tests = {"held out": (X[held], y[held])}
        X, y = X[inner], y[inner]
    loss = network_spec(spec["method"], np.bincount(y, minlength=len(split.class_names)), params)
    checkpoint = store.path.with_suffix(".checkpoints") / f"{cell.id}.safetensors"
    model = train(
        spec["model"],
        X,
        y,
        loss,
        spec["training"],
        seed=run,
        device=place.device,
        checkpoint=checkpoint,
        on_epoch=on_epoch,
    )
    result: dict[str, Any] = {"chosen": params, "tests": {}}
    labels: dict[str, Array] = {}
    for name, (images, truth) in tests.items():
        scores = model.scores(images)
        if not np.isfinite(scores).all():  # a network that has diverged knows nothing
            scores, result["diverged"] = np.zeros_like(scores), True
        said = by_score(scores)
        proba = spec_proba(scores.astype(np.float64), loss)
        result["tests"][name] = measure(truth, said, proba, len(split.class_names))
        if not trial:
            labels |= {name: said, f"{name} true": truth}
    checkpoint.unlink(missing_ok=True)
    return Found(result, labels)


def _first_of_each(y: Array, inner: Array) -> Array:
    """A sample of each class that the training part of a fold misses."""
    missing = np.setdiff1d(y, y[inner])
    return np.array([np.flatnonzero(y == k)[0] for k in missing], dtype=np.intp)


def _select(cell: Cell, store: Store) -> dict[str, float]:
    """The grid point with the best mean score of the trials; the first on a tie."""
    points = cell.spec["select"]["of"]
    if len(points) == 1:
        return dict(points[0])
    metric = cell.spec["select"]["by"]
    scores: dict[str, list[float]] = {}
    for record in store.records(stage="trial"):
        if record.cell.group == cell.group:
            value = record.result["tests"]["held out"][metric]
            scores.setdefault(str(record.cell.spec["params"]), []).append(value)
    return dict(max(points, key=lambda point: float(np.mean(scores[str(point)]))))
