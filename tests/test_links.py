"""The link inverts the conditional risk."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from immax.links import immax_proba, spec_proba
from immax.losses import LossSpec
from immax.losses.catalog import METHODS, make_spec
from immax.losses.exponential_risks import ExponentialRisk
from immax.losses.softmax_risks import SoftmaxRisk
from immax.plain_rules import highest_argmax


def conditional_minimiser(risk, n_classes):
    """Scores that minimise the risk of a single point with class probabilities as weights."""
    scores = np.zeros(n_classes)
    null = risk.null_direction
    for _ in range(2000):
        tiled = np.tile(scores, (n_classes, 1))
        value, residuals = risk.value_gradient(tiled)
        gradient = residuals.sum(axis=0)
        hessian = risk.curvature(tiled).total()
        hessian = hessian + np.trace(hessian) * (np.outer(null, null) + 1e-14 * np.eye(n_classes))
        move = np.linalg.solve(hessian, gradient)
        step = 1.0
        while risk.value(np.tile(scores - step * move, (n_classes, 1))) > value + 1e-15:
            step /= 2
            if step < 1e-12:
                return scores
        scores = scores - step * move
        if np.abs(gradient).max() < 1e-16:
            break
    return scores


def problem(c, seed):
    rng = np.random.default_rng(seed)
    return rng.uniform(0.15, 1, c), rng.dirichlet(np.full(c, 2.0))


@pytest.mark.parametrize("c", [2, 3, 10, 50])
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**20))
def test_logistic_link_recovers_the_probabilities(c, seed):
    rho, p = problem(c, seed)
    risk = SoftmaxRisk(LossSpec(rho), np.arange(c), p, None)
    scores = conditional_minimiser(risk, c)
    np.testing.assert_allclose(immax_proba(scores[None], rho)[0], p, atol=1e-8)


@pytest.mark.parametrize("c", [2, 3, 10, 50])
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**20))
def test_exponential_link_recovers_the_probabilities(c, seed):
    rho, p = problem(c, seed)
    scores = conditional_minimiser(ExponentialRisk(np.arange(c), rho, p), c)
    np.testing.assert_allclose(immax_proba(scores[None], rho, "exponential")[0], p, atol=1e-8)


@pytest.mark.parametrize("loss", ["logistic", "exponential"])
def test_shared_margins_are_grouped_and_nothing_else_changes(loss):
    rng = np.random.default_rng(0)
    c = 12
    values = np.array([0.2, 0.5, 0.9])[rng.integers(0, 3, c)]
    scores = rng.normal(size=(30, c))
    apart = values * (1 + 1e-9 * np.arange(c))
    assert len(np.unique(apart)) == c
    np.testing.assert_allclose(
        immax_proba(scores, values, loss), immax_proba(scores, apart, loss), atol=1e-7
    )


@pytest.mark.parametrize("method", METHODS)
def test_every_method_s_link_recovers_the_probabilities(method):
    c = 6
    rng = np.random.default_rng(3)
    p = rng.dirichlet(np.full(c, 2.0))
    if method == "equal":
        spec = make_spec(method, [5000, 4000, 900, 5, 3, 2], p=0.4)
        # The expected loss over the draw, as two weighted copies of the point.
        labels, drop = np.tile(np.arange(c), 2), np.repeat([False, True], c)
        weight = np.concatenate([0.6 * p, 0.4 * p])
        risk = SoftmaxRisk(spec, labels, weight, drop)
        tile = 2
    else:
        spec = make_spec(method, [500, 300, 100, 50, 10, 3])
        risk, tile = SoftmaxRisk(spec, np.arange(c), p, None), 1

    class Tiled:
        null_direction = risk.null_direction

        def value(self, s):
            return risk.value(np.tile(s, (tile, 1)))

        def value_gradient(self, s):
            return risk.value_gradient(np.tile(s, (tile, 1)))

        def curvature(self, s):
            return risk.curvature(np.tile(s, (tile, 1)))

    scores = conditional_minimiser(Tiled(), c)
    np.testing.assert_allclose(spec_proba(scores[None], spec)[0], p, atol=1e-8)


def test_a_spec_with_everything_but_focus_has_a_link_too():
    spec = LossSpec(
        [0.5, 1.0, 2.0],
        offset=[0.1, -1.0, 0.3],
        target_offset=[0.5, 0.0, 1.0],
        weight=[1.0, 2.0, 0.5],
    )
    p = np.array([0.5, 0.3, 0.2])
    scores = conditional_minimiser(SoftmaxRisk(spec, np.arange(3), p, None), 3)
    np.testing.assert_allclose(spec_proba(scores[None], spec)[0], p, atol=1e-8)


@pytest.mark.parametrize("offset", [None, [0.5, 0.0, 1.0]])
@pytest.mark.parametrize("temperature", [[0.5, 1.0, 2.0], [1.0, 1.0, 1.0]])
def test_focus_with_temperatures_and_offsets(temperature, offset):
    spec = LossSpec(temperature, target_offset=offset, focus=1.0)
    p = np.array([0.5, 0.3, 0.2])
    scores = conditional_minimiser(SoftmaxRisk(spec, np.arange(3), p, None), 3)
    np.testing.assert_allclose(spec_proba(scores[None], spec)[0], p, atol=1e-7)


def test_strong_focus_in_single_precision():
    proba = spec_proba(np.float32([[20, 0, 0], [0, 90, 0]]), make_spec("focal", [5, 4, 3], gamma=8))
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1, rtol=1e-5)


def test_the_binary_threshold_is_alpha():
    for alpha in (0.1, 0.4, 0.8):
        proba = immax_proba(np.array([0.0, 1e-9, -1e-9]), [1 - alpha, alpha])[:, 1]
        np.testing.assert_allclose(proba, alpha, atol=1e-7)
        assert proba[2] < proba[0] < proba[1]


def test_binary_shapes_agree_with_the_general_chain():
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(50, 2))
    rho = np.array([0.25, 0.75])
    for loss in ("logistic", "exponential"):
        pair = immax_proba(scores, rho, loss)
        np.testing.assert_allclose(pair, immax_proba(scores[:, 1] - scores[:, 0], rho, loss))
        # A third class that is never likely must not matter.
        third = np.column_stack([scores, np.full(50, -60.0)])
        three = immax_proba(third, [*rho, 0.5], loss)
        np.testing.assert_allclose(three[:, :2], pair, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("loss", ["logistic", "exponential"])
@pytest.mark.parametrize("c", [2, 3, 20])
def test_extreme_scores(c, loss, dtype):
    rng = np.random.default_rng(0)
    rho = rng.uniform(0.05, 1, c)
    scores = rng.choice([-1e4, -50, 0, 1, 1e4], size=(500, c)).astype(dtype)
    proba = immax_proba(scores, rho, loss)
    assert proba.dtype == dtype
    assert not np.isnan(proba).any()
    assert (proba >= 0).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1, rtol=1e-5 if dtype == np.float32 else 1e-13)
    clear = (scores == 1e4).sum(axis=1) == 1
    assert (highest_argmax(proba)[clear] == highest_argmax(scores)[clear]).all()


@pytest.mark.parametrize("method", METHODS)
def test_extreme_scores_of_every_method(method):
    scores = np.random.default_rng(0).choice([-1e4, 0, 1e4], size=(300, 5))
    proba = spec_proba(scores, make_spec(method, [5000, 300, 100, 5, 1]))
    assert not np.isnan(proba).any()
    np.testing.assert_allclose(proba.sum(axis=1), 1, rtol=1e-12)


@pytest.mark.parametrize("loss", ["logistic", "exponential"])
def test_scores_and_margins_scale_together(loss):
    """Margins are used as they are given, with one score as with several."""
    scores, rho = np.linspace(-3, 3, 9), np.array([1.6, 0.4])
    for factor in (0.5, 10.0):
        scaled = immax_proba(factor * scores, factor * rho, loss)
        np.testing.assert_allclose(scaled, immax_proba(scores, rho, loss))
    assert np.abs(immax_proba(scores, rho, loss) - immax_proba(scores, rho / 2, loss)).max() > 0.05
    # One minus the other: the derivative of the conditional risk at h is zero.
    slope = (lambda u: -1 / (1 + np.exp(u))) if loss == "logistic" else (lambda u: -np.exp(-u))
    for h, (p0, p1) in zip(scores, immax_proba(scores, rho, loss), strict=True):
        derivative = p1 * slope(h / rho[1]) / rho[1] - p0 * slope(-h / rho[0]) / rho[0]
        assert derivative == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("loss", ["logistic", "exponential"])
def test_many_states_are_iterated_to_the_same_end(loss, monkeypatch):
    rng = np.random.default_rng(0)
    scores = np.vstack([rng.normal(scale=s, size=(5, 60)) for s in (0.1, 1, 5, 100)])
    rho = rng.uniform(0.1, 1, 60)
    iterated = immax_proba(scores, rho, loss)
    monkeypatch.setattr("immax.markov_chains.MOST_STATES", 100)
    np.testing.assert_allclose(iterated, immax_proba(scores, rho, loss), rtol=1e-9, atol=1e-13)


def test_equal_margins_are_the_softmax():
    scores = np.random.default_rng(0).normal(size=(20, 5))
    e = np.exp(scores / 0.2)
    np.testing.assert_allclose(immax_proba(scores, np.full(5, 0.2)), e / e.sum(1, keepdims=True))


def test_blocks_of_rows_make_no_difference(monkeypatch):
    scores = np.random.default_rng(0).normal(size=(100, 4))
    rho = [0.1, 0.2, 0.2, 0.5]
    whole = immax_proba(scores, rho)
    monkeypatch.setattr("immax.links.BLOCK_ENTRIES", 40)
    np.testing.assert_allclose(immax_proba(scores, rho), whole, rtol=1e-13)


def test_no_rows():
    assert immax_proba(np.empty((0, 3)), [1.0, 2.0, 3.0]).shape == (0, 3)


@pytest.mark.parametrize(
    ("scores", "rho", "loss", "message"),
    [
        ([[0.0, 1.0, 2.0]], [1.0, 1.0], "logistic", r"scores must have shape \(n, 2\) or \(n,\)"),
        ([0.0, 1.0], [1.0, 1.0, 1.0], "logistic", r"scores must have shape \(n, 3\); got \(2,\)"),
        ([[0.0, np.nan]], [1.0, 1.0], "logistic", "scores must be finite"),
        ([[0.0, 1.0]], [1.0, 0.0], "logistic", "rho of class 1 is 0"),
        ([[0.0, 1.0]], [1.0, 1.0], "hinge", "CalibratedClassifierCV"),
    ],
)
def test_bad_input_is_named(scores, rho, loss, message):
    with pytest.raises(ValueError, match=message):
        immax_proba(scores, rho, loss)


def test_the_former_name_of_expected_calls_warns():
    scores, rho = np.zeros((2, 3)), [1.0, 2.0, 3.0]
    with pytest.warns(FutureWarning, match="use expected_calls"):
        found = immax_proba(scores, rho, calls=2)
    np.testing.assert_array_equal(found, immax_proba(scores, rho, expected_calls=2))
    with pytest.warns(FutureWarning, match="use expected_calls"):
        immax_proba([0.0], [1.0, 2.0], calls=2)
    with pytest.warns(FutureWarning, match="use expected_calls"):
        spec_proba(scores, make_spec("ce", [3, 2, 1]), calls=2)
