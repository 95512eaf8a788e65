"""How decision rules should be chosen: what their thresholds are fitted to, and simpler margins.

    python benchmarks/rules.py thresholds
    python benchmarks/rules.py one_se

``thresholds`` fits plain logistic regression, takes its out-of-fold probabilities on the training
part, and fits the rule of an aim in several ways: to the labels alone ("observed", evidence 1), to
what the probabilities themselves expect ("expected", evidence 0), to mixtures of both, and as the
average of the thresholds of the inner folds. Rules are compared on the test parts of five outer
folds of the imbalanced KEEL sets, and of the sets with many classes for macro F1.

``one_se`` runs IMMAXClassifierCV for an aim twice on the same folds: with the best score, and with
the simplest margins and weights within one standard error of it.

Both print means over the data sets, mean ranks, and p-values of Wilcoxon's signed-rank test against
the default.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from immax import IMMAXClassifierCV
from immax.datasets import keel_names, load_keel, load_multiclass
from immax.datasets.multiclass import multiclass_names
from immax.decisions import Rule, fit_rule, resolve_aim
from immax.decisions.confusion import confusion_matrix
from immax.evaluation.statistics import average_ranks, compare_to

TWO_CLASS_AIMS = ("f1", "mcc", "gmean")
MANY_CLASS_AIMS = ("f1_macro", "mcc")
DEFAULT = "evidence 0.75"
MOST_ROWS = 3000
ONE_SE_SETS = 33

RuleMaker = Callable[[np.ndarray, np.ndarray, str, np.ndarray], Rule]


def with_evidence(evidence: float) -> RuleMaker:
    """Return what fits a rule with a weight of the observed labels."""

    def make(p: np.ndarray, y: np.ndarray, aim: str, folds: np.ndarray) -> Rule:  # noqa: ARG001
        return fit_rule(p, y, aim, evidence=evidence)

    return make


def most_probable(p: np.ndarray, y: np.ndarray, aim: str, folds: np.ndarray) -> Rule:  # noqa: ARG001
    """Return the rule without an aim."""
    return fit_rule(p, y, "accuracy")


def average_of_folds(p: np.ndarray, y: np.ndarray, aim: str, folds: np.ndarray) -> Rule:
    """Return the rule whose weights are the geometric means of those of the inner folds."""
    rules = [fit_rule(p[folds == k], y[folds == k], aim, evidence=1) for k in np.unique(folds)]
    logs = [np.log(np.maximum(np.diagonal(rule.gains), 1e-12)) for rule in rules]
    logs = [own - own.mean() for own in logs]
    first = rules[0]
    gains = np.diag(np.exp(np.mean(logs, axis=0)))
    return Rule(first.classes, gains, first.prior, first.aim, first.positive)


MAKERS: dict[str, RuleMaker] = {
    "observed (evidence 1)": with_evidence(1.0),
    "evidence 0.9": with_evidence(0.9),
    DEFAULT: with_evidence(0.75),
    "evidence 0.5": with_evidence(0.5),
    "expected (evidence 0)": with_evidence(0.0),
    "average of the folds' thresholds": average_of_folds,
    "no rule (the most probable class)": most_probable,
}


def data_sets(many: bool) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return the sets with at most 3,000 rows and at least ten samples of every class."""
    found = {}
    for name in multiclass_names() if many else keel_names():
        X, y = (load_multiclass if many else load_keel)(name)[:2]
        if len(y) <= MOST_ROWS and np.bincount(y).min() >= 10:
            found[name] = (np.asarray(X, dtype=np.float64), y)
    return found


def held_out_value(rule_labels: np.ndarray, y: np.ndarray, aim: str) -> float:
    """Return the value of decisions on a test part, about the rarer of two classes."""
    c = int(y.max()) + 1
    table = confusion_matrix(y, rule_labels, c, c, None)
    return float(resolve_aim(aim).value(table, int(np.argmin(np.bincount(y)[:2]))))


def compare_thresholds() -> None:
    """Print how good rules are, by what they were fitted to."""
    for aims, many in ((TWO_CLASS_AIMS, False), (MANY_CLASS_AIMS, True)):
        sets = data_sets(many)
        values = {aim: np.zeros((len(sets), len(MAKERS))) for aim in aims}
        for i, (X, y) in enumerate(sets.values()):
            for train, test in StratifiedKFold(5, shuffle=True, random_state=1).split(X, y):
                inner = StratifiedKFold(5, shuffle=True, random_state=0)
                model = make_pipeline(
                    SimpleImputer(), StandardScaler(), LogisticRegression(max_iter=1000)
                )
                p = cross_val_predict(model, X[train], y[train], cv=inner, method="predict_proba")
                folds = np.zeros(len(train), dtype=int)
                for k, (_, part) in enumerate(inner.split(X[train], y[train])):
                    folds[part] = k
                proba = model.fit(X[train], y[train]).predict_proba(X[test])
                for aim in aims:
                    for j, make in enumerate(MAKERS.values()):
                        labels = make(p, y[train], aim, folds).predict(proba)
                        values[aim][i, j] += held_out_value(labels, y[test], aim) / 5
        for aim in aims:
            title = f"{aim}, {len(sets)} sets of {'many classes' if many else 'two classes'}"
            show(title, list(MAKERS), values[aim], DEFAULT)


def compare_one_se() -> None:
    """Print what the preference for simpler margins costs, for each aim."""
    names = sorted(data_sets(many=False).items(), key=lambda item: item[1][0].size)
    sets = dict(names[:: max(1, len(names) // ONE_SE_SETS)][:ONE_SE_SETS])
    options = {"the best score (default)": False, "simplest within one standard error": True}
    for aim in ("balanced_accuracy", "f1", "mcc"):
        values = np.zeros((len(sets), len(options)))
        for i, (X, y) in enumerate(sets.values()):
            for train, test in StratifiedKFold(5, shuffle=True, random_state=1).split(X, y):
                for j, one_se in enumerate(options.values()):
                    search = IMMAXClassifierCV(aim=aim, one_se=one_se, n_jobs=1)
                    model = make_pipeline(StandardScaler(), search).fit(X[train], y[train])
                    values[i, j] += held_out_value(model.predict(X[test]), y[test], aim) / 5
        show(f"{aim}, {len(sets)} sets of two classes", list(options), values, next(iter(options)))


def show(title: str, names: list[str], values: np.ndarray, default: str) -> None:
    """Print a table of means, mean ranks and p-values."""
    ranks = average_ranks(values)
    own = values[:, names.index(default)]
    print(f"\n{title}\n\n| rule | mean | mean rank | wins/ties/losses | p |")
    print("| --- | --- | --- | --- | --- |")
    for j, name in enumerate(names):
        line = f"| {name} | {100 * values[:, j].mean():.2f} | {ranks[j]:.2f} |"
        if name == default:
            print(f"{line} | |")
            continue
        one = compare_to(values[:, j], own)
        print(f"{line} {one.wins}/{one.ties}/{one.losses} | {one.p:.2g} |", flush=True)


def main() -> None:
    """Run the parts that are named, or all."""
    parts = {"thresholds": compare_thresholds, "one_se": compare_one_se}
    warnings.simplefilter("ignore", ConvergenceWarning)
    for name in sys.argv[1:] or parts:
        parts[name]()


if __name__ == "__main__":
    main()
