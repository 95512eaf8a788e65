"""The margin losses against plain loops, and the lemmas that rewrite them."""

import numpy as np
import pytest

from immax.theory import margin_loss, margins_of, phi, zero_one_loss


def sample(c, n=200, seed=0):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=n if c == 1 else (n, c)).round(1)  # with ties
    return scores, rng.integers(0, max(c, 2), n), rng.uniform(0.2, 2, max(c, 2))


def test_phi():
    for u in np.linspace(-3, 3, 25):
        for rho in (0.3, 1.0, 2.5):
            assert phi(u, rho) == pytest.approx(min(1, max(0, 1 - u / rho)))


def test_binary_margin_loss_by_its_definition():
    h, y, (rho_minus, rho_plus) = sample(1)
    expected = []
    for score, label in zip(h, y, strict=True):
        sign = 1 if label == 1 else -1
        rho = rho_plus if sign == 1 else rho_minus
        expected.append(min(1, max(0, 1 - sign * score / rho)))
    np.testing.assert_allclose(margin_loss(h, y, [rho_minus, rho_plus]), expected)


@pytest.mark.parametrize("c", [2, 3, 7])
def test_multi_class_margin_loss_by_its_definition(c):
    h, y, rho = sample(c)
    expected = []
    for scores, label in zip(h, y, strict=True):
        margin = scores[label] - max(s for j, s in enumerate(scores) if j != label)
        expected.append(sum(min(1, max(0, 1 - margin / rho[k])) for k in range(c) if k == label))
    np.testing.assert_allclose(margin_loss(h, y, rho), expected)


@pytest.mark.parametrize("c", [1, 2, 3, 7])
def test_lemma_margin_loss_and_margin_loss_multi(c):
    h, y, rho = sample(c, 2000)
    np.testing.assert_allclose(
        margin_loss(h, y, rho, by="prediction"), margin_loss(h, y, rho), atol=1e-15
    )


@pytest.mark.parametrize("c", [1, 2, 3, 7])
def test_the_zero_one_loss_is_below_the_margin_loss(c):
    h, y, rho = sample(c, 2000)
    assert (zero_one_loss(h, y) <= margin_loss(h, y, rho)).all()


def test_ties_go_to_the_highest_index_and_zero_is_positive():
    assert zero_one_loss([[1.0, 1.0]], [1]) == 0
    assert zero_one_loss([[1.0, 1.0]], [0]) == 1
    assert zero_one_loss([0.0], [1]) == 0
    assert zero_one_loss([0.0], [0]) == 1
    assert margins_of([[1.0, 1.0, 0.0]], [0]) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.1], [2], [1, 1]), "class numbers from 0 to 1"),
        (([0.1, 0.2], [1], [1, 1]), "shape"),
        (([], [], [1, 1]), "at least 1"),
        (([np.nan], [1], [1, 1]), "finite"),
        (([0.1], [1], [1, -1]), "rho"),
        (([0.1], [1], [1, 1, 1]), "2 classes, rho is that of 3"),
        (([0.1], [1], [1, 1], "margin"), "by must be"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        margin_loss(*arguments)
