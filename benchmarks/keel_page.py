"""The page of ``benchmarks/keel.py``."""

from __future__ import annotations

import csv
import datetime
import subprocess
from collections import defaultdict
from pathlib import Path

import numpy as np

from immax.bench.statistics import average_ranks, compare_to, friedman
from immax.datasets import load_keel

LOG_LOSS = "LogisticRegression for log-loss"


def read(path: Path) -> tuple[list[str], list[str], dict[str, dict[tuple[str, str], list[float]]]]:
    """Names of the data sets and methods, and every measure of the outer folds."""
    found: dict[str, dict[tuple[str, str], list[float]]] = defaultdict(lambda: defaultdict(list))
    sets: dict[str, None] = {}
    methods: dict[str, None] = {}
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            sets[row["data"]] = methods[row["method"]] = None
            for metric in ("accuracy", "balanced_accuracy", "log_loss", "power", "seconds"):
                if row[metric]:
                    found[metric][row["data"], row["method"]].append(float(row[metric]))
    return sorted(sets), list(methods), found


def table(values: np.ndarray, methods: list[str], reference: str, sign: int) -> list[str]:
    """A row for each method, the best mean rank first."""
    ranks = average_ranks(sign * values)
    own = sign * values[:, methods.index(reference)]
    lines = [
        f"| method | mean | mean rank | wins/ties/losses to {reference} | Wilcoxon p |",
        "| --- | --- | --- | --- | --- |",
    ]
    for place in np.argsort(ranks, kind="stable"):
        beside = ["", ""]
        if methods[place] != reference:
            found = compare_to(sign * values[:, place], own)
            beside = [f"{found.wins}/{found.ties}/{found.losses}", f"{found.p:.2g}"]
        row = [methods[place], f"{values[:, place].mean():.4f}", f"{ranks[place]:.2f}", *beside]
        lines.append(f"| {' | '.join(row)} |")
    lines += ["", f"Friedman p = {friedman(sign * values):.1g}.", ""]
    return lines


def gains(sets: list[str], found: dict[str, dict[tuple[str, str], list[float]]]) -> list[str]:
    """Where IMMAX differs most from logistic regression in accuracy."""
    lines = [
        "| data set | samples | features | rare class | LogisticRegression | IMMAX logistic "
        "| difference | power |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    accuracy = found["accuracy"]
    pairs = [
        (
            np.mean(accuracy[name, "IMMAX logistic"])
            - np.mean(accuracy[name, "LogisticRegression"]),
            name,
        )
        for name in sets
    ]
    order = sorted(pairs)
    for gain, name in [*order[::-1][:8], *order[:8]]:
        X, y = load_keel(name)
        cells = [
            name,
            f"{len(y)}",
            f"{X.shape[1]}",
            f"{100 * min(y.mean(), 1 - y.mean()):.1f} %",
            f"{np.mean(accuracy[name, 'LogisticRegression']):.4f}",
            f"{np.mean(accuracy[name, 'IMMAX logistic']):.4f}",
            f"{gain:+.4f}",
            ", ".join(f"{power:.2f}" for power in found["power"][name, "IMMAX logistic"]),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, ""]


def write_page(results: Path, page: Path) -> None:
    """Tables of all measures, and the data sets that gain and lose."""
    sets, methods, found = read(results)
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=False
    ).stdout.strip()
    words = page.with_suffix(".words.md")
    lines = [
        "# Linear classifiers on the imbalanced KEEL data sets",
        "",
        f"    python benchmarks/keel.py --page {page.as_posix()}",
        "",
        f"Commit {commit}, {datetime.datetime.now(tz=datetime.UTC):%Y-%m-%d}. "
        f"{len(sets)} data sets, nested five-fold cross-validation, seeds fixed.",
        "",
    ]
    if words.exists():
        lines += [words.read_text(encoding="utf-8").strip(), ""]

    def matrix(metric: str, names: list[str]) -> np.ndarray:
        return np.array([[np.mean(found[metric][s, m]) for m in names] for s in sets])

    by_label = [name for name in methods if "for log-loss" not in name]
    for metric in ("accuracy", "balanced_accuracy"):
        title = metric.replace("_", " ").capitalize()
        lines += [f"## {title}, everything tuned for accuracy", ""]
        lines += table(matrix(metric, by_label), by_label, "LogisticRegression", 1)
    with_proba = [name for name in by_label if found["log_loss"][sets[0], name]]
    lines += ["## Log-loss, everything tuned for accuracy", ""]
    lines += table(matrix("log_loss", with_proba), with_proba, "LogisticRegression", -1)
    by_proba = [name for name in methods if "for log-loss" in name]
    lines += ["## Log-loss, everything tuned for log-loss", ""]
    lines += table(matrix("log_loss", by_proba), by_proba, LOG_LOSS, -1)
    lines += ["## Where accuracy gains and loses most", ""]
    lines += gains(sets, found)
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")
