"""What CatBoost asks for: derivatives of minus the loss."""

import numpy as np
import pytest

from immax.boosting import derivatives
from immax.boosting.derivatives import SampleDerivatives, TwoClassDerivatives
from immax.boosting.pairs import gradient_hessian
from immax.losses.catalog import METHODS, make_spec

CERTAIN = [method for method in METHODS if method != "equal"]  # without draws


@pytest.fixture(params=[False, True], ids=["plain", "compiled"])
def _either_way(request, monkeypatch):
    if not request.param:
        monkeypatch.setattr(derivatives, "has_numba", lambda: False)


@pytest.mark.usefixtures("_either_way")
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("method", CERTAIN)
def test_pairs_are_those_of_the_other_libraries(method, weighted):
    rng = np.random.default_rng(0)
    scores, y = 3 * rng.standard_normal(200), (np.arange(200) < 40).astype(np.float32)
    weight = rng.uniform(0.5, 2, 200).astype(np.float32) if weighted else None
    spec = make_spec(method, np.array([900.0, 100.0]))
    found = TwoClassDerivatives(spec)(scores, y, weight)
    gradient, hessian = gradient_hessian(spec, scores, y.astype(int), weight)
    np.testing.assert_allclose(-found[:, 0], gradient, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(-found[:, 1], hessian, rtol=1e-4, atol=1e-6)


@pytest.mark.usefixtures("_either_way")
@pytest.mark.parametrize("target", [0, 3])
@pytest.mark.parametrize("method", CERTAIN)
def test_a_sample_beside_finite_differences(method, target):
    spec = make_spec(method, np.array([900.0, 80.0, 15.0, 5.0]))
    h, step = np.array([0.3, -1.2, 0.8, 2.0]), 1e-4
    moves = step * np.eye(4)
    found = SampleDerivatives(spec)
    loss = lambda s: -1.7 * spec.loss(s[None], np.array([target]))[0]  # noqa: E731
    gradient = [(loss(h + move) - loss(h - move)) / (2 * step) for move in moves]
    np.testing.assert_allclose(found.gradient(h, target, 1.7), gradient, rtol=1e-5, atol=1e-7)
    hessian = [
        (np.array(found.gradient(h + move, target, 1.7)) - found.gradient(h - move, target, 1.7))
        / (2 * step)
        for move in moves
    ]
    np.testing.assert_allclose(
        found.gradient_hessian(h, target, 1.7)[1], np.triu(hessian), rtol=1e-4, atol=1e-6
    )
