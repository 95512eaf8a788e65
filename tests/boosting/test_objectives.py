"""Objectives and metrics for the libraries' own training functions."""

import numpy as np
import pytest

from immax.boosting import metric, objective
from immax.boosting.pairs import gradient_hessian
from immax.losses.catalog import make_spec

COUNTS = np.array([900.0, 80.0, 15.0, 5.0])


@pytest.mark.parametrize("library", ["xgboost", "lightgbm"])
def test_objectives_of_the_libraries_own_train(library):
    rng = np.random.default_rng(0)
    h, y, w = 2 * rng.standard_normal((40, 4)), rng.integers(0, 4, 40), rng.uniform(0.5, 2, 40)

    class Data:
        def get_label(self):
            return y.astype(np.float32)

        def get_weight(self):
            return w

    spec = make_spec("immax", COUNTS)
    flat = h if library == "xgboost" else h.ravel(order="F")
    gradient, hessian = objective(spec, library)(flat, Data())
    factor = 2 if library == "xgboost" else 4 / 3
    expected = gradient_hessian(spec, h, y, w, factor=factor)
    np.testing.assert_allclose(gradient, expected[0], rtol=1e-6)
    np.testing.assert_allclose(hessian, expected[1], rtol=1e-6)
    name, value, *rest = metric(spec, "margin_loss", library)(flat, Data())
    assert name == "margin_loss"
    assert value == pytest.approx(np.average(spec.loss(h, y), weights=w))
    assert rest == ([] if library == "xgboost" else [False])
    with pytest.raises(ValueError, match="library must be one of"):
        objective(spec, "sklearn")
