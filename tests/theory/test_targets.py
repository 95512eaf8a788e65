"""What a bound is on."""

import numpy as np
import pytest

from immax.theory.targets import target_of


def test_targets():
    labels = np.array([0] * 6 + [1] * 3 + [2])
    assert target_of(None, labels, 3)[::2] == ("error", 1.0)
    name, weights, span = target_of([1, 4, 2], labels, 3)
    assert (name, weights.tolist(), span) == ("cost", [1.0, 4.0, 2.0], 4.0)
    name, weights, span = target_of("balanced", labels, 3)
    assert name == "balanced error"
    np.testing.assert_allclose(weights, 10 / (3 * np.array([6, 3, 1])))
    assert np.mean(weights[labels]) == pytest.approx(1)
    assert span == pytest.approx(np.sqrt(sum(weights[k] ** 2 for k in labels) / 10))
    assert span < weights.max()


def test_bad_input():
    labels = np.array([0, 0, 1])
    with pytest.raises(ValueError, match="needs samples of every class; class 2 has none"):
        target_of("balanced", labels, 3)
    with pytest.raises(ValueError, match="got 'equal'"):
        target_of("equal", labels, 2)
    with pytest.raises(ValueError, match="entry for each of the 2 classes; got 3"):
        target_of([1, 2, 3], labels, 2)
