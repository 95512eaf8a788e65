"""A finished comparison of three methods on two classes, made by hand."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

from immax import IMMAXClassifierCV
from immax.compare import Answer, Protocol, Row
from immax.compare.results import PooledPredictions
from immax.report import About
from immax.tabular import describe_columns, prepare

pytest.importorskip("matplotlib").use("agg")
pytest.importorskip("jinja2")

N = 60


def make_comparison(codes, classes, predictions, X):
    """Stand in for ``immax.compare.Comparison``: what its public attributes hold."""
    classes = np.asarray(classes)
    protocol = Protocol(folds=3, repeats=2, seed=7)
    counts = np.bincount(codes, minlength=len(classes))
    return SimpleNamespace(
        protocol=protocol,
        repeats=2,
        scorer=protocol.scorer(classes, counts),
        X=X,
        schema=describe_columns(X),
        classes=classes,
        codes=codes,
        counts=counts,
        class_names=[str(name) for name in classes],
        splits=[(codes, codes)] * 6,
        left_out={"smote": "failed: too few rows"},
        pooled=lambda name, for_decisions=False: PooledPredictions(codes, *predictions[name]),
    )


def make_row(name, title, gain, **measures):
    return Row(name, title, {"accuracy": 0.8 + gain, **measures}, 0.01, gain, -0.1, 0.1, 0.3, 1.5)


@pytest.fixture(scope="session")
def comparison():
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1], [45, 15])
    X = pd.DataFrame({"a": rng.normal(size=N) + codes, "b": rng.normal(size=N), "c": "x"})
    p = np.clip(0.5 * codes + rng.uniform(0, 0.5, N), 0.01, 0.99)
    proba = np.column_stack([1 - p, p])
    always = np.zeros(N, int)
    predictions = {
        "logistic": (proba.argmax(axis=1), proba),
        "immax": (codes, proba**2 / (proba**2).sum(axis=1, keepdims=True)),
        "svm": (always, None),
    }
    return make_comparison(codes, ["<often>", "rare"], predictions, X)


@pytest.fixture(scope="session")
def answer():
    rows = (
        make_row("immax", "IMMAX logistic", 0.05, log_loss=0.3),
        make_row("logistic", "plain logistic regression", 0.0, log_loss=0.4),
        make_row("svm", "linear SVM", -0.02),
    )
    return Answer("accuracy", rows, "immax", "Use IMMAX logistic.")


@pytest.fixture(scope="session")
def pipeline(comparison):
    search = IMMAXClassifierCV(lams=[0.01, 0.1], n_margins=3, cv=3)
    steps = make_pipeline(prepare(comparison.schema), search)
    return steps.fit(comparison.X, comparison.classes[comparison.codes])


@pytest.fixture(scope="session")
def about():
    return About("parcels & co.csv", "state", "immax compare parcels.csv", 12.3, ("A notice.",))
