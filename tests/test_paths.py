"""Paths of lam: their start, their models, and what is refused."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.preprocessing import scale

from immax import BaselineClassifier, IMMAXClassifier
from immax.paths import lam_max, path


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return scale(X), y


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return scale(X)[20:], y[20:]


@pytest.mark.parametrize("data", ["cancer", "iris"])
@pytest.mark.parametrize("penalty", ["l1", "elasticnet", "group"])
@pytest.mark.parametrize("loss", ["logistic", "exponential"])
def test_just_above_lam_max_the_model_is_empty_and_just_below_it_is_not(
    loss, penalty, data, request
):
    X, y = request.getfixturevalue(data)
    weight = np.linspace(0.5, 2, len(y))
    model = IMMAXClassifier(loss, penalty=penalty)
    lam = lam_max(X, y, model, weight)
    assert model.set_params(lam=1.0001 * lam).fit(X, y, weight).n_features_used_ == 0
    assert model.set_params(lam=0.999 * lam).fit(X, y, weight).n_features_used_ > 0


def test_lam_max_of_the_logistic_loss_is_the_largest_correlation(cancer):
    X, y = cancer
    expected = np.abs(X.T @ (y - y.mean())).max() / len(y)
    assert lam_max(X, y, margins="equal") == pytest.approx(expected)
    assert lam_max(sparse.csr_matrix(X), y, margins="equal") == pytest.approx(expected)
    net = lam_max(X, y, margins="equal", penalty="elasticnet", l1_ratio=0.25)
    assert net == pytest.approx(4 * expected)


@pytest.mark.parametrize("estimator", [IMMAXClassifier(), BaselineClassifier("la")])
def test_models_of_a_path_are_those_of_single_fits(estimator, iris):
    X, y = iris
    found = path(X, y, estimator, penalty="group", n_lams=6, ratio=0.02)
    assert found.lams[0] == pytest.approx(lam_max(X, y, estimator, penalty="group"))
    assert found.lams[-1] == pytest.approx(0.02 * found.lams[0])
    assert found.n_features_used[0] == 0
    assert (found.gaps <= 1e-6 * found.objectives).all()
    model = estimator.set_params(penalty="group", lam=found.lams[3]).fit(X, y)
    assert found.objectives[3] == pytest.approx(model.objective_, rel=2e-6)
    np.testing.assert_allclose(found.coefs[3].toarray(), model.coef_, atol=1e-2)
    assert found.coefficients().shape == (6, 3, found.used().size)
    assert found.coefficients([0, 2]).shape == (6, 3, 2)
    assert found.intercepts.shape == (6, 3)
    assert found.penalty == "group"


def test_given_values_are_sorted_and_names_are_kept(cancer):
    pandas = pytest.importorskip("pandas")
    X, y = cancer
    table = pandas.DataFrame(X[:, :3], columns=["a", "b", "c"])
    found = path(table, y, lams=[0.01, 0.1], fit_intercept=False)
    assert found.lams.tolist() == [0.1, 0.01]
    assert found.feature_names == ("a", "b", "c")
    assert not found.intercepts.any()


def test_what_makes_no_sense_is_refused(cancer):
    X, y = cancer
    with pytest.raises(ValueError, match="every feature is used at any lam"):
        lam_max(X, y, penalty="l2")
    with pytest.raises(ValueError, match="every feature is used"):
        path(X, y, penalty="elasticnet", l1_ratio=0)
    with pytest.raises(ValueError, match="lams must be positive"):
        path(X, y, lams=[0.1, -1])
    with pytest.raises(ValueError, match="n_lams must be a positive whole number; got 0"):
        path(X, y, n_lams=0)
    with pytest.raises(ValueError, match="ratio must be between 0 and 1; got 2"):
        path(X, y, ratio=2)
    with pytest.raises(ValueError, match="no feature is related to y"):
        path(np.zeros_like(X), y)
    assert path(X, y, penalty="l2", lams=[1.0, 0.1]).n_features_used.tolist() == [30, 30]
