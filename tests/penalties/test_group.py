"""The group norm, from its formula and its limits."""

import numpy as np

from immax.penalties import GroupNorm, L1Norm


def test_the_value_weighs_groups_by_their_columns(W):
    groups = np.array([0, 1, 0, 2, 1])
    expected = sum(
        np.sqrt(np.sum(groups == g)) * np.linalg.norm(W[:, groups == g]) for g in range(3)
    )
    assert np.isclose(GroupNorm(groups).value(W), expected)


def test_singletons_of_one_score_are_l1(W):
    row = W[:1]
    for group in (GroupNorm(), GroupNorm(np.arange(5))):
        assert np.isclose(group.value(row), L1Norm().value(row))
        np.testing.assert_allclose(group.prox(row, 0.4), L1Norm().prox(row, 0.4))
        np.testing.assert_allclose(
            group.violations(row, 2 * row, 0.1), L1Norm().violations(row, 2 * row, 0.1)
        )


def test_groups_are_dropped_whole(W):
    found = GroupNorm(np.array([0, 1, 0, 2, 1])).prox(W, 1.0)
    for columns in ([0, 2], [1, 4], [3]):
        assert found[:, columns].any() == (found[:, columns] != 0).any()
        assert not found[:, columns].any() or (found[:, columns] != 0).sum() > 2
