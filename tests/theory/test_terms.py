"""The constants of the bounds."""

from itertools import product

import numpy as np
import pytest

from immax.theory.terms import check_delta, deviation, log_scales, uniform_deviation


@pytest.mark.parametrize("expected", [False, True])
@pytest.mark.parametrize("delta", [0.05, 0.2])
@pytest.mark.parametrize(("c", "last"), [(1, 1000), (2, 40), (3, 12)])
def test_what_margins_add_to_the_confidence_term(delta, c, last, expected):
    """The union bound of the proof, term by term: the shares of delta sum to at most delta."""
    m, shares = 500, []
    for k in product(range(last), repeat=c):
        own = uniform_deviation(m, np.ones(c), 2.0 ** -np.array(k), delta, expected)
        shares.append(np.exp(-2 * m * own**2) if expected else 2 * np.exp(-2 * m * own**2 / 9))
    assert delta / 4**c <= sum(shares) <= delta


def test_a_span_multiplies_deviations():
    assert deviation(100, 0.05, span=3.0) == pytest.approx(3 * deviation(100, 0.05))
    given = (100, np.ones(2), np.array([0.5, 0.1]), 0.05)
    for proof in ("sharp", "paper"):
        one, three = (uniform_deviation(*given, span=span, proof=proof) for span in (1.0, 3.0))
        assert three == pytest.approx(3 * one)


def test_the_largest_margin_is_free():
    np.testing.assert_array_equal(log_scales(np.array([2.0, 1.0]), np.array([2.0, 1.0])), 0)
    assert log_scales(np.array([0.5]), 2.0)[0] == pytest.approx(np.log(3))


def test_bad_input():
    with pytest.raises(ValueError, match="delta must be strictly between 0 and 1"):
        check_delta(0.0)
