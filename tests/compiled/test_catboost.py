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
    spec = make_spec(method, np.geomspace(1000, 10, c))
    sample = 3 * rng.standard_normal(c), 1, 1.7
    compiled = derivatives.SampleDerivatives(spec)
    monkeypatch.setattr(derivatives, "has_numba", lambda: False)
    plain = derivatives.SampleDerivatives(spec)
    gradient, hessian = plain.gradient_hessian(*sample)
    assert not np.tril(hessian, -1).any()
    assert np.diagonal(hessian).all()
    np.testing.assert_allclose(compiled.gradient(*sample), gradient, rtol=1e-10, atol=1e-14)
    both = compiled.gradient_hessian(*sample)
    np.testing.assert_allclose(both[0], gradient, rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(both[1], hessian, rtol=1e-9, atol=1e-13)
