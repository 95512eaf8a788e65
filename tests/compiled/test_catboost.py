"""The compiled derivatives of single samples against the NumPy kernel."""

import numpy as np
import pytest

pytest.importorskip("numba")

from immax.boosting import derivatives
from immax.losses.catalog import METHODS, make_spec


@pytest.mark.parametrize("c", [3, 40])
@pytest.mark.parametrize("method", [m for m in METHODS if m != "equal"])
def test_samples_are_those_of_numpy(method, c, monkeypatch):
    rng = np.random.default_rng(0)
    sample = derivatives.SampleDerivatives(make_spec(method, np.geomspace(1000, 10, c)))
    h = 3 * rng.standard_normal(c)
    found = sample.gradient(h, 1, 1.7), sample.hessian(h, 1, 1.7)
    monkeypatch.setattr(derivatives, "has_numba", lambda: False)
    np.testing.assert_allclose(found[0], sample.gradient(h, 1, 1.7), rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(found[1], sample.hessian(h, 1, 1.7), rtol=1e-9, atol=1e-13)
