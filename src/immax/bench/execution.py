"""Execution of cells: an estimator is fitted, or a network trained."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from sklearn.model_selection import StratifiedKFold

from immax.arrays import Array
from immax.bench.cells import Cell, EstimatorCell, NetworkCell, Params, TrialCell
from immax.bench.data import Split, load_split
from immax.bench.outcomes import CellResult, HeldOutResult
from immax.bench.sections import TRAINING
from immax.bench.store import Store
from immax.bench.surfaces import surface
from immax.evaluation.aim_search import AimedClassifier
from immax.evaluation.box_search import combine_points, is_box_search
from immax.evaluation.estimators import describe_choice, make_estimator, network_spec
from immax.evaluation.meta_estimators import Classifier
from immax.evaluation.metrics import measure, measure_by_shares
from immax.links import by_score, spec_proba

__all__ = ["RunOptions", "run_cell"]

HELD_OUT = "held out"  # the test set of a trial


@dataclass(frozen=True)
class RunOptions:
    """The location of the data, and the device on which networks are trained.

    Parameters
    ----------
    data_dir : str, optional
    device : str, default="cpu"
    download : bool, default=False
        Whether to download data that are not there.
    """

    data_dir: str | None = None
    device: str = "cpu"
    download: bool = False


def run_cell(
    cell: Cell,
    store: Store,
    options: RunOptions,
    on_epoch: Callable[[int, Mapping[str, float]], None],
) -> CellResult:
    """Compute the result of a cell.

    Parameters
    ----------
    cell : EstimatorCell, TrialCell or NetworkCell
    store : Store
        Where the results of trials are found. Checkpoints are written next to its file.
    options : RunOptions
    on_epoch : callable
        Called with the number of an epoch that has ended, and its loss and accuracy.

    Returns
    -------
    CellResult
    """
    if isinstance(cell, EstimatorCell):
        split = load_split(cell, options.data_dir, cell.run, flat=True, download=options.download)
        if cell.model == "surface":
            return CellResult(surface=surface(split, cell.selection))
        return _fit_estimator(cell, split)
    if isinstance(cell, TrialCell):
        split = load_split(cell, options.data_dir, 0, flat=False, download=options.download)
        held_out = _held_out_fold(split, cell.folds, cell.fold)
        return _train_network(cell, held_out, cell.params, 0, store, options, on_epoch)
    if isinstance(cell, NetworkCell):
        run = cell.run
        split = load_split(cell, options.data_dir, run, flat=False, download=options.download)
        params = select_params(cell, store)
        return _train_network(cell, split, params, run, store, options, on_epoch)
    raise TypeError(f"a cell must be an EstimatorCell, TrialCell or NetworkCell; got {cell!r}")


def _fit_estimator(cell: EstimatorCell, split: Split) -> CellResult:
    model = make_estimator(cell.model, cell.method, split.y, cell.selection, cell.grid, cell.run)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # corners of a grid may not converge
        model.fit(split.X, split.y)
    if cell.selection.aims:
        return _evaluate_aims(cast(AimedClassifier, model), cell.selection.aims, split)
    model = cast(Classifier, model)
    tests = {}
    for name, (X, y) in split.tests.items():
        predicted = np.asarray(model.predict(X))
        proba = model.predict_proba(X) if hasattr(model, "predict_proba") else None
        tests[name] = _evaluate(name, y, predicted, proba, split)
    return CellResult(describe_choice(model), tests)


def _evaluate_aims(model: AimedClassifier, aims: Sequence[str], split: Split) -> CellResult:
    """Evaluate the classifier of every aim on the one test set; predictions are not kept."""
    ((X, y),) = split.tests.values()
    tests, chosen = {}, {}
    for aim in aims:
        own = model.for_aim(aim)
        proba = own.predict_proba(X) if hasattr(own, "predict_proba") else None
        metrics = measure(
            y, np.asarray(own.predict(X)), proba, len(split.class_names), split.counts
        )
        tests[aim] = HeldOutResult(metrics)
        chosen[aim] = describe_choice(model, aim)
    return CellResult(chosen, tests)


def _train_network(
    cell: TrialCell | NetworkCell,
    split: Split,
    params: Params,
    seed: int,
    store: Store,
    options: RunOptions,
    on_epoch: Callable[[int, Mapping[str, float]], None],
) -> CellResult:
    try:
        from immax.bench.training import train
    except ModuleNotFoundError as error:
        raise ImportError('networks need PyTorch: pip install "immax[bench,torch]"') from error
    loss = network_spec(cell.method, split.counts, params)
    checkpoint = store.path.with_suffix(".checkpoints") / f"{cell.id}.safetensors"
    model = train(
        cell.model,
        split.X,
        split.y,
        loss,
        cell.training,
        seed=seed,
        device=options.device,
        checkpoint=checkpoint,
        on_epoch=on_epoch,
    )
    tests, diverged = {}, False
    for name, (images, truth) in split.tests.items():
        scores = model.scores(images)
        if not np.isfinite(scores).all():  # a network that has diverged predicts nothing
            scores, diverged = np.zeros_like(scores), True
        predicted = by_score(scores)
        proba = spec_proba(scores.astype(np.float64), loss)
        tests[name] = _evaluate(name, truth, predicted, proba, split)
    checkpoint.unlink(missing_ok=True)
    return CellResult(dict(params), tests, diverged)


def _evaluate(
    name: str, y: Array, predicted: Array, proba: Array | None, split: Split
) -> HeldOutResult:
    """Return the metrics on a test set, with the predictions where tables compare them."""
    if name == "weighted":
        shares = split.counts / split.counts.sum()
        return HeldOutResult(measure_by_shares(y, predicted, proba, shares))
    metrics = measure(y, predicted, proba, len(split.class_names), split.counts)
    labels = (None, None) if name in (HELD_OUT, TRAINING) else (predicted, y)
    return HeldOutResult(metrics, *labels)


def _held_out_fold(split: Split, n_folds: int, fold: int) -> Split:
    """Return the training part of a fold, with its held-out part as the test set."""
    X, y = split.X, split.y
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # classes may have fewer samples than there are folds
        inner, held = list(folds.split(y, y))[fold]
    missing = np.setdiff1d(y, y[inner])
    firsts = np.array([np.flatnonzero(y == k)[0] for k in missing], dtype=np.intp)
    inner = np.union1d(inner, firsts)  # every class is trained on
    tests: dict[str, tuple[Array, Array]] = {HELD_OUT: (X[held], y[held])}
    return replace(split, X=X[inner], y=y[inner], tests=tests)


def select_params(cell: NetworkCell, store: Store) -> Params:
    """Return the hyper-parameters with the best mean score of the trials; the first on a tie.

    In the paper's search of margins, the best multiple of each margin is taken.

    Parameters
    ----------
    cell : NetworkCell
    store : Store
        Has the results of the trials.

    Returns
    -------
    mapping of str to float
    """
    if len(cell.points) == 1:
        return cell.points[0]
    scores: dict[str, list[float]] = {}
    for record in store.records(stage="trial", group=cell.group):
        if isinstance(record.cell, TrialCell):
            value = record.result.tests[HELD_OUT].metrics[cell.scoring]
            scores.setdefault(str(dict(record.cell.params)), []).append(value)
    means = [float(np.mean(scores[str(dict(point))])) for point in cell.points]
    if is_box_search(cell.points[0]):
        return combine_points(cell.points, means)
    return cell.points[int(np.argmax(means))]
