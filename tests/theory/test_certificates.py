"""Certificates of fitted models."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

from immax import IMMAXClassifier, IMMAXClassifierCV
from immax.search import PowerFamily
from immax.theory import (
    best_margins,
    certificate,
    empirical_margin_loss,
    margin_bound,
    margin_loss,
    norm_cover,
    rademacher_kernel,
)


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
    assert certificate(model, X, y).training_error == np.mean(model.predict(X) != y) == 0
    X, y = make_blobs(300, centers=8 * np.eye(3), random_state=0)
    with pytest.raises(ValueError, match="vote among pairs"):
        certificate(SVC(kernel="linear").fit(X, y), X, y)
    thin = SGDClassifier(random_state=0).fit(X, y).sparsify()
    assert certificate(thin, X, y).training_error < 0.1


@pytest.mark.parametrize("c", [2, 4])
def test_certificate_of_separate_classes_is_not_vacuous(c):
    X, y = make_blobs(40_000 if c > 2 else 5000, centers=8 * np.eye(c), random_state=0)
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


@pytest.mark.parametrize("rule", ["score", "bayes"])
def test_certificate_of_a_search_is_about_what_it_predicts(rule):
    X, y = make_blobs([500, 60], centers=[[-1, 0], [1, 0]], random_state=0)
    search = IMMAXClassifierCV(rule=rule, lams=[1e-2], family=PowerFamily(values=(0.6,)), cv=3)
    search.fit(X, y)
    found = certificate(search, X, y)
    assert found.training_error == pytest.approx(np.mean(search.predict(X) != y))
    assert found.own.rho.tolist() == search.margins_.tolist()
    chosen = certificate(search.best_estimator_, X, y)
    assert found.best.total == chosen.best.total
    other = search.best_estimator_.set_params(rule="bayes" if rule == "score" else "score")
    assert certificate(other, X, y).best.total != found.best.total


def test_a_model_that_predicts_otherwise_is_refused():
    class Contrary(IMMAXClassifier):
        def predict(self, X):
            return self.classes_[::-1][np.searchsorted(self.classes_, super().predict(X))]

    X, y = make_blobs(200, centers=[[-1, 0], [1, 0]], random_state=0)
    with pytest.raises(ValueError, match="predict does not choose the class of the highest score"):
        certificate(Contrary().fit(X, y), X, y)


def test_certificates_of_costs():
    X, y = make_blobs([4000, 400], centers=[[-2, 0], [2, 0]], random_state=0)
    costs = [1.0, 10.0]
    model = IMMAXClassifier(rule="bayes", costs=costs, margins="equal").fit(X, y)
    found = certificate(model, X, y, costs=costs)
    wrong = model.predict(X) != y
    assert found.training_error == pytest.approx(np.mean(np.where(y == 1, 10, 1) * wrong))
    assert found.best.target == "cost"
    assert str(found).startswith("Cost on the 4,400 samples")
    balanced = certificate(model, X, y, costs="balanced")
    assert balanced.training_error == pytest.approx(np.mean([wrong[y == k].mean() for k in (0, 1)]))
    assert str(balanced).startswith("Balanced error on the 4,400 samples")
    assert "these class counts" in str(balanced)
    same = certificate(model, X, y, costs=[1.0, 1.0]).best.total
    assert same == pytest.approx(certificate(model, X, y).best.total)
    # The margins of costly classes may be larger: they are searched for the costs.
    rho = best_margins(model, X, y, costs=costs)
    assert rho[1] / rho[0] > (lambda r: r[1] / r[0])(best_margins(model, X, y))


@pytest.mark.parametrize("c", [5, 100])
def test_what_the_sharp_factor_does_to_a_certificate(c):
    """The figures of docs/theory.md, on classes at the corners of a simplex."""
    X, y = make_blobs(10_000, centers=8 * np.eye(c), random_state=0)
    model = IMMAXClassifier(lam=1e-2, tol=1e-2).fit(X[:1500], y[:1500])
    sharp, printed = (certificate(model, X, y, proof=proof) for proof in ("sharp", "paper"))
    assert printed.own.complexity == pytest.approx(np.sqrt(2 * c) * sharp.own.complexity)
    assert printed.best.vacuous
    assert sharp.best.vacuous == (c == 100)
    assert (sharp.best.proof, printed.best.proof) == ("sharp", "paper")


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
    with pytest.raises(ValueError, match="costs must have an entry for each of the 2 classes"):
        certificate(model, X, y, costs=[1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="costs must be 'balanced'"):
        certificate(model, X, y, costs="equal")
    three = SVC().fit(X, np.arange(60) % 3)
    with pytest.raises(ValueError, match="vote among pairs"):
        certificate(three, X, np.arange(60) % 3)
