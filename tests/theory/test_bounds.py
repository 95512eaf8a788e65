"""The bounds against their formulas, the search for margins, and simulations."""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import ndtr
from sklearn.datasets import make_blobs
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

from immax import IMMAXClassifier
from immax.theory import (
    best_margins,
    certificate,
    empirical_margin_loss,
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


def test_certificate_says_what_it_should(capsys):
    X, y = make_blobs(400, centers=[[-1, 0], [1, 0]], random_state=0)
    found = certificate(IMMAXClassifier().fit(X, y), X, y)
    assert found.best.vacuous
    text = str(found)
    assert "vacuous, which says nothing" in text
    assert "fixed before the sample" in text
    assert found.samples_for(found.training_error / 2) == np.inf


def test_samples_for_foretells_what_more_samples_give():
    def blobs(m):
        return make_blobs(m, centers=[[-4, 0], [4, 0]], random_state=0)

    found = certificate(IMMAXClassifier().fit(*blobs(60)), *blobs(60))
    assert found.best.vacuous
    needed = int(found.samples_for(0.5))
    larger = certificate(IMMAXClassifier().fit(*blobs(needed)), *blobs(needed))
    assert larger.best.total == pytest.approx(0.5, abs=0.1)
    assert f"about {needed:,} samples" in str(found)


def test_rules_and_pairs_that_no_bound_is_for():
    X, y = make_blobs(300, centers=[[-4, 0], [4, 0]], random_state=0)
    model = IMMAXClassifier(rule="bayes").fit(X, y)
    with pytest.raises(ValueError, match="rule is 'bayes'"):
        certificate(model, X, y)
    assert certificate(model.set_params(rule="score"), X, y).training_error == 0
    X, y = make_blobs(300, centers=8 * np.eye(3), random_state=0)
    with pytest.raises(ValueError, match="vote among pairs"):
        certificate(SVC(kernel="linear").fit(X, y), X, y)
    thin = SGDClassifier(random_state=0).fit(X, y).sparsify()
    assert certificate(thin, X, y).training_error < 0.1


@pytest.mark.parametrize("c", [2, 4])
def test_certificate_of_separate_classes_is_not_vacuous(c):
    X, y = make_blobs(200_000 if c > 2 else 5000, centers=8 * np.eye(c), random_state=0)
    labels = np.array(list("abcd"))[y]
    for model in (IMMAXClassifier(lam=1e-2), LogisticRegression(C=0.1)):
        model.fit(X[:2000], labels[:2000])
        found = certificate(model, X, labels)
        assert found.training_error < 0.01
        assert not found.best.vacuous
        assert found.best.total >= found.training_error
        curve = found.curve()
        totals = curve["empirical"] + curve["complexity"] + curve["confidence"]
        assert found.best.total <= totals.min() + 1e-9


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "precomputed", "callable"])
def test_certificate_of_a_kernel_machine(kernel):
    X, y = make_blobs(300, centers=[[-3, 0], [3, 0]], random_state=0)
    options = {"kernel": kernel, "coef0": 1.0, "degree": 2, "gamma": 0.5}
    linear = X @ X.T
    gram = {
        "rbf": np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(-1)),
        "poly": (0.5 * linear + 1) ** 2,
    }.get(kernel, linear)
    data = gram if kernel == "precomputed" else X
    if kernel == "callable":
        options["kernel"] = lambda A, B: A @ B.T
    model = SVC(**options).fit(data, y)
    found = certificate(model, data, y)
    a = np.zeros(300)
    a[model.support_] = model.dual_coef_[0]
    norm = np.sqrt(a @ gram @ a + model.intercept_[0] ** 2)
    ball, left = norm_cover(norm, 0.05)
    rho = np.ones(2)
    complexity = rademacher_kernel(np.diag(gram) + 1, y, rho, ball, step="sample")
    expected = margin_bound(model.decision_function(data), y, rho, complexity, left)
    assert found.own.total == pytest.approx(expected.total, rel=1e-6)
    if kernel == "linear":
        machine = certificate(SVC(kernel="rbf").fit(X, y), X, y)
        assert machine.training_error == 0


def test_margins_and_margin_loss_of_a_model():
    X, y = make_blobs(500, centers=[[-3, 0], [3, 0]], random_state=0)
    model = IMMAXClassifier().fit(X, y)
    loss = empirical_margin_loss(model, X, y)
    h = model.decision_function(X)
    assert loss == pytest.approx(margin_loss(h, y, model.margins_).mean())
    assert empirical_margin_loss(model, X, y, [1e-9, 1e-9]) == pytest.approx(
        np.mean(model.predict(X) != y)
    )
    rho = best_margins(model, X, y)
    norm = np.sqrt(np.sum(model.coef_**2) + model.intercept_[0] ** 2)
    found = certificate(model, X, y).best
    np.testing.assert_allclose(rho, found.rho * norm)
    assert empirical_margin_loss(model, X, y, rho) == pytest.approx(found.empirical)
    plain = LogisticRegression().fit(X, y)
    with pytest.raises(ValueError, match="rho must be given"):
        empirical_margin_loss(plain, X, y)
    with pytest.raises(ValueError, match="class of the model"):
        empirical_margin_loss(model, X, y + 1)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # matplotlib's own
def test_certificate_draws():
    pytest.importorskip("matplotlib").use("agg")
    X, y = make_blobs(400, centers=[[-4, 0], [4, 0]], random_state=0)
    axes = certificate(IMMAXClassifier().fit(X, y), X, y).plot()
    assert axes.get_ylabel() == "bound on the error"
    assert len(axes.collections) == 3


def test_bad_input():
    X, y = make_blobs(60, centers=2, random_state=0)
    model = IMMAXClassifier().fit(X, y)
    with pytest.raises(ValueError, match="delta must be"):
        certificate(model, X, y, delta=1.0)
    with pytest.raises(ValueError, match="features"):
        certificate(model, X[:, :1], y)
    with pytest.raises(ValueError, match="class of the model"):
        certificate(model, X, y + 5)
    with pytest.raises(Exception, match="not fitted"):
        certificate(IMMAXClassifier(), X, y)
    with pytest.raises(TypeError, match="linear classifier or a kernel machine"):
        certificate(GaussianNB().fit(X, y), X, y)
    three = SVC().fit(X, np.arange(60) % 3)
    with pytest.raises(ValueError, match="vote among pairs"):
        certificate(three, X, np.arange(60) % 3)
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
