"""The bounds against their formulas, the search for margins, and simulations."""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import ndtr
from sklearn.svm import SVC

from immax import IMMAXClassifier
from immax.theory import (
    certificate,
    margin_bound,
    margin_loss,
    norm_cover,
    rademacher_kernel,
    rademacher_linear,
    search_margins,
    uniform_margin_bound,
)
from immax.theory.bounds import uniform_confidence


def sample(c, m=300, seed=0):
    rng = np.random.default_rng(seed)
    y = np.append(np.arange(max(c, 2)), rng.integers(0, max(c, 2), m - max(c, 2)))
    if c == 1:
        return np.where(y == 1, 1, -1) * rng.normal(0.6, 0.5, m), y
    scores = 0.4 * rng.normal(size=(m, c))
    scores[np.arange(m), y] += 1
    return scores, y


def test_theorem_margin_bound_binary():
    h, y = sample(1)
    rho, delta, complexity, m = [0.4, 0.7], 0.03, 0.021, len(y)
    bound = margin_bound(h, y, rho, complexity, delta)
    assert bound.empirical == pytest.approx(margin_loss(h, y, rho).mean())
    assert bound.complexity == pytest.approx(2 * complexity)
    assert bound.confidence == pytest.approx(3 * np.sqrt(np.log(2 / delta) / (2 * m)))
    assert bound.theorem == "margin-bound-binary"
    assert bound.total == bound.empirical + bound.complexity + bound.confidence


def test_theorem_margin_bound_multi():
    h, y = sample(4)
    bound = margin_bound(h, y, [0.4, 0.7, 0.2, 1.0], 0.021, 0.03)
    assert bound.complexity == pytest.approx(4 * np.sqrt(8) * 0.021)
    assert bound.confidence == pytest.approx(3 * np.sqrt(np.log(2 / 0.03) / (2 * len(y))))
    assert bound.theorem == "margin-bound-multi"


def test_theorem_margin_bound_binary_uniform():
    h, y = sample(1)
    (a, b), (ra, rb), delta, m = [0.4, 0.7], [2.0, 3.0], 0.03, len(y)
    bound = uniform_margin_bound(h, y, [a, b], 0.02, [ra, rb], delta)
    price = sum(np.sqrt(np.log(np.log2(2 * r / p)) / m) for r, p in ((ra, a), (rb, b)))
    rest = 3 * np.sqrt(np.log(8 / delta) / (2 * m))
    assert bound.complexity == pytest.approx(4 * 0.02)
    assert bound.confidence == pytest.approx(3 * price + rest)
    stated = uniform_margin_bound(h, y, [a, b], 0.02, [ra, rb], delta, proof=False)
    assert stated.confidence == pytest.approx(price + rest)
    assert bound.theorem == "margin-bound-binary-uniform"


@pytest.mark.parametrize("c", [2, 3, 6])
def test_theorem_margin_bound_multi_uniform(c):
    h, y = sample(c)
    rho, radii, delta, m = np.linspace(0.3, 0.9, c), np.full(c, 2.0), 0.03, len(y)
    stated = uniform_margin_bound(h, y, rho, 0.02, radii, delta, proof=False)
    proved = uniform_margin_bound(h, y, rho, 0.02, radii, delta)
    assert stated.complexity == pytest.approx(4 * c * np.sqrt(2 * c) * 0.02)
    # Halving all margins at once doubles the complexity, once.
    assert proved.complexity == pytest.approx(2 * margin_bound(h, y, rho, 0.02).complexity)
    assert proved.complexity <= stated.complexity * (1 + 1e-12)
    price = sum(np.sqrt(np.log(np.log2(4 / p)) / m) for p in rho)
    rest = 3 * np.sqrt(np.log(2 ** (c + 1) / delta) / (2 * m))
    assert proved.confidence == pytest.approx(3 * price + rest)
    assert stated.confidence == pytest.approx(price + rest)


@pytest.mark.parametrize("delta", [0.05, 0.2])
@pytest.mark.parametrize(("c", "last"), [(1, 1000), (2, 40), (3, 12)])
def test_the_price_of_the_margins_is_paid(delta, c, last):
    """The union bound of the proof, term by term: the shares of delta sum to at most delta."""
    m = 500
    shares = []
    for k in product(range(last), repeat=c):
        deviation = uniform_confidence(m, np.ones(c), 2.0 ** -np.array(k), delta)
        shares.append(2 * np.exp(-2 * m * deviation**2 / 9))
    assert delta / 4**c <= sum(shares) <= delta


def test_corollary_margin_bound_binary_lin():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), rng.integers(0, 2, 200)
    w, rho, Lambda = np.array([0.3, 0.1, -0.2]), [0.5, 0.8], 0.5
    bound = margin_bound(X @ w, y, rho, rademacher_linear(X, y, rho, Lambda), 0.05)
    norms = np.linalg.norm(X, axis=1)
    moment = sum((y == k).sum() * norms[y == k].max() ** 2 / rho[k] ** 2 for k in (0, 1))
    assert bound.complexity == pytest.approx(2 * Lambda / 200 * np.sqrt(moment))


def test_corollaries_margin_bound_multi_kernel():
    rng = np.random.default_rng(0)
    c, m, Lambda = 3, 200, 0.5
    X, y = rng.normal(size=(m, 4)), rng.integers(0, c, m)
    rho = np.array([0.5, 0.8, 0.4])
    scores = X @ rng.normal(size=(4, c))
    from immax.theory import rademacher_l1

    norms, largest = np.linalg.norm(X, axis=1), np.abs(X).max(axis=1)
    two = margin_bound(scores, y, rho, rademacher_kernel(norms**2, y, rho, Lambda))
    one = margin_bound(scores, y, rho, rademacher_l1(X, y, rho, Lambda))
    moments = [
        sum((y == k).sum() * values[y == k].max() ** 2 / rho[k] ** 2 for k in range(c))
        for values in (norms, largest)
    ]
    assert two.complexity == pytest.approx(4 * np.sqrt(2) * Lambda * c / m * np.sqrt(moments[0]))
    expected = 8 * Lambda * c / m * np.sqrt(moments[1] * np.log(2 * c * 4))
    assert one.complexity == pytest.approx(expected)


def test_the_cover_of_norms_shares_delta_among_all_balls():
    shares = [norm_cover(2.0**j, 0.05)[1] for j in range(-400, 401)]
    assert sum(shares) == pytest.approx(0.05, rel=5e-3)
    assert sum(shares) <= 0.05
    for norm in (0.3, 1.0, 1 + 2e-13, 1.001, 77.0):
        ball, _ = norm_cover(norm, 0.05)
        assert norm <= ball < 2 * norm
    assert norm_cover(5.0, 0.05, unit=5.0)[0] == 5.0


@pytest.mark.parametrize("c", [1, 3])
@pytest.mark.parametrize("seed", range(5))
def test_best_margins_are_not_beaten(c, seed):
    h, y = sample(c, seed=seed)
    k = max(c, 2)
    rng = np.random.default_rng(seed)
    moments, radii = rng.uniform(20, 200, k), np.full(k, 4.0)
    scale = 0.3 / len(y)

    def total(rho):
        complexity = scale * np.sqrt(np.sum(moments / rho**2))
        return uniform_margin_bound(h, y, rho, complexity, radii).total

    found = total(search_margins(h, y, moments, radii, scale))
    for _ in range(300):
        assert found <= total(radii * 10 ** rng.uniform(-2, 0, k)) + 1e-12
    starts = radii * 10 ** rng.uniform(-1.5, 0, (4, k))
    for start in starts:
        rival = minimize(
            lambda z: total(np.minimum(np.exp(z), radii)), np.log(start), method="Nelder-Mead"
        )
        assert found <= rival.fun + 1e-5


def test_vacuous_bounds_say_so():
    h, y = sample(1, m=20)
    bound = margin_bound(h, y, [0.01, 0.01], 3.0)
    assert bound.vacuous
    assert str(bound).startswith("vacuous")
    good = margin_bound(
        np.where(np.arange(10_000) % 2, 1.0, -1.0), np.arange(10_000) % 2, [1, 1], 0.0
    )
    assert not good.vacuous
    assert str(good).startswith("error at most 0.0")


def gaussian_error(w, b, means):
    """Of the hyperplane, on two unit Gaussians of shares 0.8 and 0.2."""
    length = np.linalg.norm(w)
    return 0.8 * ndtr((w @ means[0] + b) / length) + 0.2 * ndtr(-(w @ means[1] + b) / length)


def test_simulation_binary_linear():
    means = np.array([[-3.0, 0, 0, 0], [3.0, 0, 0, 0]])
    rng = np.random.default_rng(0)
    exceeded = informative = 0
    for _ in range(200):
        y = (rng.random(3000) < 0.2).astype(int)
        X = means[y] + rng.normal(size=(3000, 4))
        model = IMMAXClassifier(lam=1e-2).fit(X, y)
        found = certificate(model, X, y, delta=0.1)
        error = gaussian_error(model.coef_[0], model.intercept_[0], means)
        exceeded += error > min(found.best.total, found.own.total)
        informative += found.best.total < 0.6
    assert exceeded <= 0.1 * 200
    assert informative == 200


def test_simulation_multi_class_linear():
    rng = np.random.default_rng(0)
    means = 10 * np.eye(3)

    def draw(m):
        y = rng.choice(3, m, p=[0.7, 0.2, 0.1])
        return means[y] + rng.normal(size=(m, 3)), y

    X_test, y_test = draw(20_000)
    exceeded = informative = 0
    for _ in range(200):
        X, y = draw(20_000)
        model = IMMAXClassifier(lam=1.0, tol=1e-3).fit(X, y)
        found = certificate(model, X, y, delta=0.1)
        error = np.mean(model.predict(X_test) != y_test)
        exceeded += error > min(found.best.total, found.own.total)
        informative += not found.best.vacuous
    assert exceeded <= 0.1 * 200
    assert informative == 200


def test_simulation_kernel():
    rng = np.random.default_rng(0)

    def draw(m):
        y = (rng.random(m) < 0.3).astype(int)
        radius = np.where(y == 1, 0.5, 2.0) + 0.3 * rng.normal(size=m)
        angle = rng.uniform(0, 2 * np.pi, m)
        return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), y

    X_test, y_test = draw(5000)
    exceeded = informative = 0
    for _ in range(200):
        X, y = draw(1000)
        model = SVC(C=0.05, gamma=1.0).fit(X, y)
        alpha = model.dual_coef_[0]
        K = np.exp(-((model.support_vectors_[:, None] - model.support_vectors_[None]) ** 2).sum(-1))
        norm = np.sqrt(alpha @ K @ alpha + model.intercept_[0] ** 2)
        ball, left = norm_cover(norm, 0.1)
        rho = [1.0, 1.0]
        complexity = rademacher_kernel(np.full(len(y), 2.0), y, rho, ball, step="sample")
        bound = margin_bound(model.decision_function(X), y, rho, complexity, left)
        exceeded += np.mean(model.predict(X_test) != y_test) > bound.total
        informative += not bound.vacuous
    assert exceeded <= 0.1 * 200
    assert informative > 100


def test_bad_input():
    h, y = sample(1)
    for arguments, message in [
        ((h, y, [1.0, 1.0], -1.0), "complexity"),
        ((h, y, [1.0, 1.0], np.nan), "complexity"),
        ((h, y, [1.0, 1.0], 0.1, 0.0), "delta"),
        ((h, y, [1.0, 0.0], 0.1), "rho"),
    ]:
        with pytest.raises(ValueError, match=message):
            margin_bound(*arguments)
    with pytest.raises(ValueError, match="rho must not exceed radii; class 1"):
        uniform_margin_bound(h, y, [1.0, 3.0], 0.1, [2.0, 2.0])
    with pytest.raises(ValueError, match="norm must be"):
        norm_cover(0.0, 0.05)
    with pytest.raises(ValueError, match="scale must be"):
        search_margins(h, y, [1.0, 1.0], [1.0, 1.0], -0.1)
    with pytest.raises(ValueError, match="moments"):
        search_margins(h, y, [1.0], [1.0, 1.0], 0.1)
