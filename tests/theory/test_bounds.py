"""The bounds against their formulas, the search for margins, and simulations."""

import numpy as np
import pytest
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
    uniform_margin_bound,
)
from immax.theory.terms import complexity_factor


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
    assert bound.complexity == pytest.approx(4 * 0.021)
    assert bound.confidence == pytest.approx(3 * np.sqrt(np.log(2 / 0.03) / (2 * len(y))))
    assert bound.theorem == "margin-bound-multi"
    printed = margin_bound(h, y, [0.4, 0.7, 0.2, 1.0], 0.021, 0.03, proof="paper")
    assert printed.complexity == pytest.approx(4 * np.sqrt(8) * 0.021)
    assert printed.proof == "paper"


@pytest.mark.parametrize("c", [1, 3])
def test_bounds_by_the_expected_complexity(c):
    h, y = sample(c)
    rho, radii = np.linspace(0.3, 0.9, max(c, 2)), np.full(max(c, 2), 2.0)
    delta, m, k = 0.03, len(y), max(c, 2)
    fixed = margin_bound(h, y, rho, 0.02, delta, expected=True)
    assert fixed.confidence == pytest.approx(np.sqrt(np.log(1 / delta) / (2 * m)))
    assert fixed.complexity == margin_bound(h, y, rho, 0.02, delta).complexity
    added = sum(np.sqrt(np.log(np.log2(4 / p)) / m) for p in rho)
    rest = np.sqrt(np.log(2**k / delta) / (2 * m))
    printed = uniform_margin_bound(h, y, rho, 0.02, radii, delta, "paper", expected=True)
    assert printed.confidence == pytest.approx(added + rest)
    sharp = uniform_margin_bound(h, y, rho, 0.02, radii, delta, expected=True)
    logs = sum(np.log(np.log2(4 / p)) for p in rho)
    assert sharp.confidence == pytest.approx(np.sqrt(logs / m + rest**2))
    assert sharp.confidence <= printed.confidence


def test_theorem_margin_bound_binary_uniform():
    h, y = sample(1)
    (a, b), (ra, rb), delta, m = [0.4, 0.7], [2.0, 3.0], 0.03, len(y)
    bound = uniform_margin_bound(h, y, [a, b], 0.02, [ra, rb], delta)
    logs = sum(np.log(np.log2(2 * r / p)) for r, p in ((ra, a), (rb, b)))
    assert bound.complexity == pytest.approx(4 * 0.02)
    assert bound.confidence == pytest.approx(3 * np.sqrt((np.log(8 / delta) / 2 + logs) / m))
    printed = uniform_margin_bound(h, y, [a, b], 0.02, [ra, rb], delta, proof="paper")
    added = sum(np.sqrt(np.log(np.log2(2 * r / p)) / m) for r, p in ((ra, a), (rb, b)))
    assert printed.confidence == pytest.approx(added + 3 * np.sqrt(np.log(8 / delta) / (2 * m)))
    assert bound.theorem == "margin-bound-binary-uniform"


@pytest.mark.parametrize("c", [2, 3, 6])
def test_theorem_margin_bound_multi_uniform(c):
    h, y = sample(c)
    rho, radii, delta, m = np.linspace(0.3, 0.9, c), np.full(c, 2.0), 0.03, len(y)
    printed = uniform_margin_bound(h, y, rho, 0.02, radii, delta, proof="paper")
    sharp = uniform_margin_bound(h, y, rho, 0.02, radii, delta)
    assert printed.complexity == pytest.approx(4 * c * np.sqrt(2 * c) * 0.02)
    assert sharp.complexity == pytest.approx(8 * 0.02)
    rest = 3 * np.sqrt(np.log(2 ** (c + 1) / delta) / (2 * m))
    logs = np.log(np.log2(4 / rho))
    assert sharp.confidence == pytest.approx(np.sqrt(9 * logs.sum() / m + rest**2))
    # One root is below the sum of roots, each with the factor 3 that the proof gives.
    assert sharp.confidence <= 3 * np.sqrt(logs / m).sum() + rest
    assert printed.confidence == pytest.approx(np.sqrt(logs / m).sum() + rest)


def test_booleans_of_earlier_versions_are_deprecated():
    h, y = sample(3)
    given = (h, y, [0.5] * 3, 0.02, [1.0] * 3)
    with pytest.warns(FutureWarning, match="proof=False is deprecated: use proof='paper'"):
        printed = uniform_margin_bound(*given, proof=False)
    assert printed.complexity == uniform_margin_bound(*given, proof="paper").complexity


def test_costs_multiply_losses_margins_and_confidence():
    h, y = sample(3)
    rho, w = np.array([0.4, 0.7, 0.5]), np.array([1.0, 2.0, 5.0])
    X = np.random.default_rng(0).normal(size=(len(y), 4))
    complexity = rademacher_linear(X, y, rho / w, 1.0)
    bound = margin_bound(h, y, rho, complexity, 0.03, costs=w)
    losses = [w[k] * margin_loss(h[i : i + 1], y[i : i + 1], rho)[0] for i, k in enumerate(y)]
    assert bound.empirical == pytest.approx(np.mean(losses))
    assert bound.complexity == pytest.approx(4 * complexity)
    assert bound.confidence == pytest.approx(15 * np.sqrt(np.log(2 / 0.03) / (2 * len(y))))
    assert bound.target == "cost"
    assert bound.vacuous == (bound.total >= 5)
    uniform = uniform_margin_bound(h, y, rho, complexity, np.ones(3), 0.03, costs=w)
    plain = uniform_margin_bound(h, y, rho, 0.0, np.ones(3), 0.03)
    assert uniform.confidence == pytest.approx(5 * plain.confidence)
    # Costs of one are the error.
    same = margin_bound(h, y, rho, 0.1, costs=np.ones(3))
    assert same.total == pytest.approx(margin_bound(h, y, rho, 0.1).total)


def test_balanced_costs_are_the_mean_of_the_classes_errors():
    h, y = sample(3)
    tiny = margin_bound(h, y, [1e-9] * 3, 0.0, costs="balanced")
    rates = [np.mean(np.argmax(h[y == k], axis=1) != k) for k in range(3)]
    assert tiny.empirical == pytest.approx(np.mean(rates))
    counts = np.bincount(y)
    square = np.mean((len(y) / (3 * counts[y])) ** 2)
    plain = margin_bound(h, y, [1e-9] * 3, 0.0)
    assert tiny.confidence == pytest.approx(np.sqrt(square) * plain.confidence)
    assert tiny.trivial == 1


def test_a_complexity_of_other_scores_or_margins_is_refused():
    h, y = sample(2)
    X = np.random.default_rng(0).normal(size=(len(y), 4))
    single = rademacher_linear(X, y, [1.0, 0.5], 1.0)
    with pytest.raises(ValueError, match=r"shape \(m, 2\).*multiclass=True"):
        margin_bound(h, y, [1.0, 0.5], single)
    both = rademacher_linear(X, y, [1.0, 0.5], 1.0, multiclass=True)
    assert both == pytest.approx(np.sqrt(2) * single)
    assert margin_bound(h, y, [1.0, 0.5], both).complexity == pytest.approx(4 * both)
    with pytest.raises(ValueError, match=r"shape \(m,\).*multiclass=False"):
        margin_bound(h[:, 1] - h[:, 0], y, [1.0, 0.5], both)
    with pytest.raises(ValueError, match="computed for the margins"):
        margin_bound(h, y, [0.5, 0.5], both)
    with pytest.raises(ValueError, match="divided by the costs"):
        uniform_margin_bound(h, y, [1.0, 0.5], both, [1.0, 1.0], costs=[1.0, 3.0])


def contraction_sides(values, labels, rho, draws=400, seed=0):
    """Complexities of a finite class: of its margin losses, and twice the class-sensitive one."""
    rng = np.random.default_rng(seed)
    H, m, c = values.shape
    losses = np.stack([margin_loss(own, labels, rho) for own in values])
    signs = rng.choice([-1.0, 1.0], (draws, m))
    left = (signs @ losses.T).max(axis=1).mean() / m
    vector_signs = rng.choice([-1.0, 1.0], (draws, m * c))
    weighed = (values / rho[labels][None, :, None]).reshape(H, m * c)
    return left, 2 * (vector_signs @ weighed.T).max(axis=1).mean() / m


@pytest.mark.parametrize("c", [3, 10])
@pytest.mark.parametrize("kind", ["gaussian", "blocks", "one score"])
def test_the_sharp_contraction_on_finite_classes(c, kind):
    """``R(margin losses) <= 2 R^rho``: the inequality that the factor 4 rests on."""
    rng = np.random.default_rng(1)
    H, m = 40, 60
    labels = rng.integers(0, c, m)
    rho = rng.uniform(0.3, 2.0, c)
    values = rng.normal(size=(H, m, c))
    if kind == "blocks":  # every hypothesis favours a class
        values = 2.0 * (np.arange(H)[:, None, None] % c == np.arange(c)) + 0.1 * values
    elif kind == "one score":  # which is where the Lipschitz constant is attained
        values *= np.arange(c) == 0
    left, right = contraction_sides(values, labels, rho)
    assert left <= right


@pytest.mark.parametrize("c", [2, 5])
def test_the_margin_is_root_two_lipschitz(c):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 4000, c))
    y = rng.integers(0, c, 4000)
    from immax.theory import margins_of

    slopes = np.abs(margins_of(a, y) - margins_of(b, y)) / np.linalg.norm(a - b, axis=1)
    assert slopes.max() <= np.sqrt(2) + 1e-12
    assert slopes.max() > 1.2


def test_factors_of_the_table():
    assert complexity_factor(5, proof="paper") / complexity_factor(5) == pytest.approx(10**0.5)
    ratio = complexity_factor(100, True, "paper") / complexity_factor(100, True)
    assert ratio == pytest.approx(50 * 200**0.5)


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
    two, one = (
        margin_bound(scores, y, rho, complexity, proof="paper")
        for complexity in (
            rademacher_kernel(norms**2, y, rho, Lambda),
            rademacher_l1(X, y, rho, Lambda),
        )
    )
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
    for _ in range(100):
        y = (rng.random(3000) < 0.2).astype(int)
        X = means[y] + rng.normal(size=(3000, 4))
        model = IMMAXClassifier(lam=1e-2).fit(X, y)
        found = certificate(model, X, y, delta=0.1)
        error = gaussian_error(model.coef_[0], model.intercept_[0], means)
        exceeded += error > min(found.best.total, found.own.total)
        informative += found.best.total < 0.6
    assert exceeded <= 0.1 * 100
    assert informative == 100


def test_simulation_multi_class_linear():
    rng = np.random.default_rng(0)
    means = 10 * np.eye(3)

    def draw(m):
        y = rng.choice(3, m, p=[0.7, 0.2, 0.1])
        return means[y] + rng.normal(size=(m, 3)), y

    X_test, y_test = draw(20_000)
    exceeded = informative = 0
    for _ in range(40):
        X, y = draw(8000)
        model = IMMAXClassifier(lam=1.0, tol=1e-3).fit(X, y)
        found = certificate(model, X, y, delta=0.1)
        error = np.mean(model.predict(X_test) != y_test)
        exceeded += error > min(found.best.total, found.own.total)
        informative += not found.best.vacuous
    assert exceeded <= 0.1 * 40
    assert informative == 40


def test_simulation_balanced_error_and_costs():
    """The balanced error, for given class counts, and a cost of five for class 1."""
    means = np.array([[-4.0, 0], [4.0, 0]])
    rng = np.random.default_rng(0)
    exceeded = informative = 0
    for _ in range(30):
        y = (rng.random(6000) < 0.1).astype(int)
        X = means[y] + rng.normal(size=(6000, 2))
        model = IMMAXClassifier(lam=1e-2, rule="bayes", costs=[1.0, 5.0]).fit(X, y)
        X_test = means[:, None] + rng.normal(size=(2, 2000, 2))
        rates = [np.mean(model.predict(X_test[k]) != k) for k in (0, 1)]
        balanced = certificate(model, X, y, 0.1, costs="balanced")
        costly = certificate(model, X, y, 0.1, costs=[1.0, 5.0])
        exceeded += np.mean(rates) > balanced.best.total
        exceeded += 0.9 * rates[0] + 0.5 * rates[1] > costly.best.total
        informative += balanced.best.total < 0.9
    assert exceeded <= 0.1 * 30
    assert informative == 30


def test_simulation_kernel():
    rng = np.random.default_rng(0)

    def draw(m):
        y = (rng.random(m) < 0.3).astype(int)
        radius = np.where(y == 1, 0.5, 2.0) + 0.3 * rng.normal(size=m)
        angle = rng.uniform(0, 2 * np.pi, m)
        return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), y

    X_test, y_test = draw(5000)
    exceeded = informative = 0
    for _ in range(50):
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
    assert exceeded <= 0.1 * 50
    assert informative > 25


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
    with pytest.raises(ValueError, match="costs must have an entry for each of the 2 classes"):
        margin_bound(h, y, [1.0, 1.0], 0.1, costs=[1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="costs must be 'balanced' or one positive number"):
        margin_bound(h, y, [1.0, 1.0], 0.1, costs="fair")
    with pytest.raises(ValueError, match="costs of class 1 is 0"):
        margin_bound(h, y, [1.0, 1.0], 0.1, costs=[1.0, 0.0])
    with pytest.raises(ValueError, match="proof must be 'sharp' or 'paper'"):
        margin_bound(h, y, [1.0, 1.0], 0.1, proof="best")
    with pytest.raises(ValueError, match="radii of class 0 is 0"):
        uniform_margin_bound(h, y, [1.0, 1.0], 0.1, [0.0, 1.0])
