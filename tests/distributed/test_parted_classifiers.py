"""Fits to parts, against fits to the same rows in memory."""

import numpy as np
import pytest
from parted_cases import cut, rows

from immax import BaselineClassifier, IMMAXClassifier
from immax.distributed import minimisation
from immax.distributed.parted_classifiers import PartedBaseline, PartedIMMAX
from immax.losses.catalog import METHODS


def assert_same(parted, local):
    assert parted.objective_ == pytest.approx(local.objective_, rel=1e-9)
    np.testing.assert_allclose(parted.coef_, local.coef_, atol=1e-6)
    np.testing.assert_allclose(parted.intercept_, local.intercept_, atol=1e-6)
    assert parted.n_rounds_ >= 3


@pytest.mark.parametrize("sparse_rows", [False, True])
@pytest.mark.parametrize("c", [2, 10])
@pytest.mark.parametrize("loss", ["logistic", "exponential"])
def test_immax(loss, c, sparse_rows):
    X, y = rows(c, sparse_rows=sparse_rows)
    weight = np.random.default_rng(0).integers(0, 4, len(y)) / 2
    params = {
        "loss": loss,
        "tol": 1e-12,
        "weights": "balanced",
        "use_radii": True,
        "lam": 1e-2,
    }
    local = IMMAXClassifier(**params).fit(X, y, weight)
    for keeps_scores in (True, False):
        raw = cut(X, y, weight, keeps_scores=keeps_scores)
        model = PartedIMMAX(**params)._fit_parts(raw)
        assert_same(model, local)
        np.testing.assert_allclose(model.margins_, local.margins_)
        np.testing.assert_allclose(model.weights_, local.weights_)
        assert model.gap_ <= 1e-6 * model.objective_


@pytest.mark.parametrize("c", [2, 5])
@pytest.mark.parametrize("method", list(METHODS))
def test_every_method_of_the_catalogue(method, c):
    X, y = rows(c, 1500)
    params = {"method": method, "tol": 1e-12, "lam": 1e-2, "random_state": 3}
    local = BaselineClassifier(**params).fit(X, y)
    model = PartedBaseline(**params)._fit_parts(cut(X, y))
    assert_same(model, local)
    assert model.spec_ == local.spec_
    assert (model.gap_ is None) == (local.gap_ is None)


@pytest.mark.parametrize("kind", [PartedIMMAX, PartedBaseline])
@pytest.mark.parametrize("intercept", [True, False])
def test_warm_starts(kind, intercept, monkeypatch):
    X, y = rows(3, 1500)
    model = kind(tol=1e-10, warm_start=True, fit_intercept=intercept)._fit_parts(cut(X, y))
    coef, sampled = model.coef_, []
    own = minimisation.sampled_start
    monkeypatch.setattr(
        minimisation, "sampled_start", lambda *args: sampled.append(args) or own(*args)
    )
    model._fit_parts(cut(X, y))
    assert not sampled
    assert model.n_iter_ <= 1
    np.testing.assert_allclose(model.coef_, coef, atol=1e-5)
    model._fit_parts(cut(*rows(2, 600)))  # other classes
    assert sampled
    assert model.coef_.shape[0] == 1


def test_single_precision_and_no_biases():
    X, y = rows(2)
    single = X.astype(np.float32)
    local = IMMAXClassifier(fit_intercept=False).fit(single, y)
    model = PartedIMMAX(fit_intercept=False)._fit_parts(cut(single, y))
    assert model.coef_.dtype == np.float32
    assert model.intercept_.tolist() == [0.0]
    np.testing.assert_allclose(model.coef_, local.coef_, atol=1e-3)


def test_the_max_form_is_refused():
    X, y = rows(3, 600)
    with pytest.raises(ValueError, match="in the sum form for three classes or more"):
        PartedIMMAX(form="max")._fit_parts(cut(X, y))
    PartedIMMAX(form="max")._fit_parts(cut(*rows(2, 600)))


def test_costs_are_checked():
    with pytest.raises(ValueError, match="costs"):
        PartedIMMAX(rule="bayes", costs=[1, 2, 3])._fit_parts(cut(*rows(2, 600)))
