"""Hessians of the softmax losses: their parts, and the forms in which solvers ask for them."""

import numpy as np
import pytest

from immax.losses.catalog import METHODS, make_spec
from immax.losses.softmax_curvature import SoftmaxCurvature

COUNTS = [700, 250, 45, 5]
RNG = np.random.default_rng(1)
SCORES = RNG.normal(scale=2, size=(30, 4))
LABELS = RNG.integers(0, 4, 30)


def test_the_parts_add_up_to_the_formula():
    p = RNG.dirichlet(np.ones(4), 30)
    residual = p - np.eye(4)[LABELS]
    f, g, scale = RNG.uniform(size=30), RNG.uniform(size=30), RNG.uniform(0.5, 2, size=4)
    curvature = SoftmaxCurvature(p, f, scale, residual, g)
    for a in range(4):
        for b in range(4):
            expected = [
                scale[a]
                * (f[i] * (p[i, a] * (a == b) - p[i, a] * p[i, b]) + g[i] * r[a] * r[b])
                * scale[b]
                for i, r in enumerate(residual)
            ]
            np.testing.assert_allclose(curvature.block(a, b), expected, atol=1e-14)


@pytest.mark.parametrize("method", METHODS)
def test_all_forms_agree(method):
    curvature = make_spec(method, COUNTS).kernel(LABELS, 3).curvature(SCORES)
    columns = [curvature.product(np.tile(row, (30, 1))) for row in np.eye(4)]
    full = np.stack(columns, axis=2)
    np.testing.assert_allclose(curvature.diagonal(), np.einsum("njj->nj", full), atol=1e-12)
    np.testing.assert_allclose(curvature.total(), full.sum(axis=0), atol=1e-11)
    for a in range(4):
        for b in range(4):
            np.testing.assert_allclose(curvature.block(a, b), full[:, a, b], atol=1e-12)


def test_the_positive_part_is_at_least_the_curvature():
    curvature = make_spec("focal", COUNTS).kernel(LABELS, 3).curvature(SCORES)
    for part, least in ((curvature, -np.inf), (curvature.positive(), -1e-14)):
        blocks = np.array([[part.block(a, b) for b in range(4)] for a in range(4)])
        values = np.linalg.eigvalsh(blocks.transpose(2, 0, 1))
        assert values.min() >= least
        assert (values.min() < -1e-3) == (part is curvature)
    more = [[curvature.positive().block(a, b) for b in range(4)] for a in range(4)]
    less = [[curvature.block(a, b) for b in range(4)] for a in range(4)]
    difference = np.transpose(np.array(more) - np.array(less), (2, 0, 1))
    assert np.linalg.eigvalsh(difference).min() >= -1e-14
    plain = make_spec("ce", COUNTS).kernel(LABELS, 3).curvature(SCORES)
    assert plain.positive() is plain
