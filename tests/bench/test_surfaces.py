"""Surfaces of λ and power."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from immax.bench import surfaces
from immax.bench.data import Split
from immax.bench.surfaces import surface
from immax.datasets import gaussian_mixture
from immax.evaluation.metrics import measure
from immax.evaluation.selection import Selection


def data(*counts):
    X, y = gaussian_mixture(list(counts), 4, 2.0, random_state=0)[:2]
    return X, y, Split(X, y, {"balanced": (X, y)}, tuple("abc"[: len(counts)]))


@pytest.mark.parametrize("counts", [(300, 60), (300, 60, 20)])
def test_power_zero_is_logistic_regression_with_the_same_lambda(counts, monkeypatch):
    monkeypatch.setattr(surfaces, "TOL", 1e-9)
    X, y, split = data(*counts)
    (point,) = surface(split, Selection(lams=(0.05,), powers=(0.0,)))
    model = LogisticRegression(C=1 / (2 * 0.05 * len(y)), tol=1e-10, max_iter=5000).fit(X, y)
    expected = measure(y, model.predict(X), model.predict_proba(X), len(counts))
    assert point.train == pytest.approx(model.score(X, y))
    for metric in ("accuracy", "log_loss", "ece", "average_precision"):
        assert point.tests["balanced"][metric] == pytest.approx(expected[metric], abs=1e-4), metric


def test_probabilities_of_two_classes_are_those_of_the_loss(monkeypatch):
    seen = []
    original = surfaces.immax_proba

    def spy(scores, rho):
        seen.append(original(scores, rho))
        return seen[-1]

    monkeypatch.setattr(surfaces, "TOL", 1e-9)
    monkeypatch.setattr(surfaces, "immax_proba", spy)
    X, y, split = data(300, 60)
    surface(split, Selection(lams=(0.05,), powers=(0.0,)))
    model = LogisticRegression(C=1 / (2 * 0.05 * len(y)), tol=1e-10, max_iter=5000).fit(X, y)
    np.testing.assert_allclose(seen[0], model.predict_proba(X), atol=1e-4)


def test_every_lambda_and_power_is_fitted_and_lambda_descends():
    points = surface(data(30, 10)[2], Selection(lams=(0.01, 0.1), powers=(0.0, 0.25)))
    assert {(point.lam, point.power) for point in points} == {
        (lam, power) for lam in (0.1, 0.01) for power in (0.0, 0.25)
    }
    assert "accuracy_bayes" in points[0].tests["balanced"]
