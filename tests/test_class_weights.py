import numpy as np
import pytest

from immax.class_weights import divide_out, power_weights, resolve_weights

CLASSES = np.array(["ham", "spam"])


def test_power_weights():
    assert power_weights([30, 10], 0.0).tolist() == [1, 1]
    assert power_weights([30, 10], 1.0).tolist() == [4 / 3, 4]
    with pytest.raises(ValueError, match="power must be a finite number"):
        power_weights([30, 10], np.nan)


def test_names_arrays_and_dicts():
    assert resolve_weights("equal", CLASSES, [30, 10]).tolist() == [1, 1]
    assert resolve_weights("balanced", CLASSES, [30, 10]).tolist() == [4 / 3, 4]
    assert resolve_weights([1, 2], CLASSES, [30, 10]).tolist() == [1, 2]
    assert resolve_weights({"spam": 2, "ham": 1}, CLASSES, [30, 10]).tolist() == [1, 2]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ("inverse", "'equal', 'balanced', an array"),
        ([1, 2, 3], "each of the 2 classes; got 3"),
        ([1, 0], "weights of class 1 is 0"),
        ({"ham": 1}, r"classes without a weight: \['spam'\]"),
        ({"ham": 1, "spam": 2, "eggs": 1}, r"unknown labels: \['eggs'\]"),
    ],
)
def test_what_is_refused(weights, message):
    with pytest.raises(ValueError, match=message):
        resolve_weights(weights, CLASSES, [30, 10])


def test_dividing_out_the_weights_inverts_the_weighting():
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(4), 20)
    w = np.array([0.1, 1.0, 3.0, 20.0])
    weighted = p * w / (p * w).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(divide_out(weighted, w), p, rtol=1e-12)
    assert divide_out(p, np.full(4, 2.0)) is p
