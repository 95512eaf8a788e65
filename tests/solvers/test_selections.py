"""Selected coefficients, against the penalty of all of them."""

import numpy as np
import pytest

from immax.penalties import ElasticNet, GroupNorm, L1Norm
from immax.solvers.selections import most_violating, select_blocks

GROUPS = np.array([0, 1, 0, 2, 1])


@pytest.mark.parametrize("omega", [L1Norm(), ElasticNet(0.4), GroupNorm(), GroupNorm(GROUPS)])
def test_a_selection_of_everything_is_the_penalty(omega):
    rng = np.random.default_rng(0)
    W, G = rng.normal(size=(3, 5)), rng.normal(size=(3, 5))
    W[:, 3] = 0
    blocks = omega.blocks(W.shape)
    chosen = np.ones(blocks.weights.size, dtype=bool)
    selection = select_blocks(blocks, chosen, W.shape, 0.7)
    z, gradient = selection.take(W), selection.take(G)
    assert selection.penalty(z) == pytest.approx(0.7 * omega.value(W))
    np.testing.assert_allclose(selection.violations(z, gradient), omega.violations(W, G, 0.7))
    back = np.zeros_like(W)
    back[selection.rows, selection.cols] = z
    np.testing.assert_array_equal(back, W)


def test_some_blocks():
    blocks = GroupNorm(GROUPS).blocks((2, 5))
    selection = select_blocks(blocks, np.array([True, False, True]), (2, 5), 1.0)
    assert selection.columns.tolist() == [0, 2, 3]
    assert selection.cols.tolist() == [0, 0, 2, 2, 3, 3]
    assert selection.rows.tolist() == [0, 1] * 3
    assert selection.starts.tolist() == [0, 4, 6]
    assert not selection.scalar


def test_live_blocks_and_the_most_violating_others():
    violations = np.array([0.0, 3.0, 1.0, 2.0, 0.5])
    live = np.array([True, False, False, False, False])
    assert most_violating(violations, live, 3).tolist() == [True, True, False, True, False]
    assert most_violating(violations, live, 9).tolist() == [True] * 5
    assert most_violating(violations, live, 0).tolist() == [True, True, False, False, False]
