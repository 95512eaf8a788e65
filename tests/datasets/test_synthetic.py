"""Samples of known distributions."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import pdist
from scipy.stats import multivariate_normal
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from immax.datasets import SphericalMixture, gaussian_mixture, separable_pair, sparse_text


@pytest.mark.parametrize(("margin", "seed"), [(0.1, 0), (0.5, 1), (2.0, 2)])
def test_the_largest_margin_of_a_separable_pair(margin, seed):
    X, y = separable_pair(110, 10, margin, random_state=seed)
    assert np.bincount(y).tolist() == [100, 10]
    machine = SVC(kernel="linear", C=1e6).fit(X, y)
    assert machine.score(X, y) == 1
    normal = machine.coef_[0]
    assert 1 / np.linalg.norm(normal) == pytest.approx(margin, rel=1e-2)
    assert abs(normal[1]) < 1e-2 * abs(normal[0])
    np.testing.assert_array_equal(X, separable_pair(110, 10, margin, random_state=seed)[0])


@pytest.mark.parametrize(("n", "ratio", "counts"), [(2, 1, [1, 1]), (5, 1e9, [4, 1])])
def test_each_class_of_a_pair_has_a_sample(n, ratio, counts):
    assert np.bincount(separable_pair(n, ratio)[1]).tolist() == counts


@pytest.mark.parametrize(("c", "d"), [(2, 1), (3, 2), (5, 4), (5, 9)])
def test_means_are_equally_far_apart(c, d):
    mixture = gaussian_mixture([1] * c, d, 3.0)[2]
    assert mixture.means.shape == (c, d)
    np.testing.assert_allclose(pdist(mixture.means), 3)


@pytest.mark.parametrize(("c", "d"), [(3, 1), (6, 2), (6, 3)])
def test_neighbours_are_so_far_apart_where_there_is_no_room(c, d):
    means = gaussian_mixture([1] * c, d, 3.0)[2].means
    assert pdist(means).min() == pytest.approx(3)
    np.testing.assert_allclose(np.linalg.norm(np.diff(means, axis=0), axis=1), 3)


def test_posteriors_follow_from_the_densities():
    X, y, mixture = gaussian_mixture([60, 30, 10], 4, 1.5, random_state=0)
    assert np.bincount(y).tolist() == [60, 30, 10]
    density = np.column_stack([multivariate_normal(mean).pdf(X) for mean in mixture.means])
    joint = density * [0.6, 0.3, 0.1]
    expected = joint / joint.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(mixture.posterior(X), expected, rtol=1e-10)


def test_samples_follow_the_law():
    X, y, mixture = gaussian_mixture([20_000, 20_000], 3, 2.0, random_state=0)
    for k in (0, 1):
        np.testing.assert_allclose(X[y == k].mean(axis=0), mixture.means[k], atol=0.03)
        np.testing.assert_allclose(np.cov(X[y == k].T), np.eye(3), atol=0.04)


@pytest.mark.parametrize("priors", [[1, 1], [9, 1], [1, 9]])
def test_exact_bayes_error_of_two_classes(priors):
    mixture = gaussian_mixture(priors, 2, 1.5)[2]
    error, uncertainty = mixture.bayes_error()
    assert uncertainty == 0
    X, y = mixture.sample(20_000 * np.array(priors), random_state=1)
    wrong = mixture.posterior(X).argmax(axis=1) != y
    assert abs(wrong.mean() - error) < 4 * wrong.std() / np.sqrt(len(y))
    model = LogisticRegression(C=1e6).fit(X, y)
    assert 1 - model.score(X, y) == pytest.approx(error, abs=0.003)


def test_the_estimate_for_more_classes_agrees_with_the_exact_error():
    """Three means on a line, the outer classes of which hardly meet."""
    mixture = SphericalMixture(np.array([[-9.0], [-7.0], [30.0]]), np.array([0.3, 0.3, 0.4]))
    pair = SphericalMixture(mixture.means[:2], np.array([0.5, 0.5]))
    error, uncertainty = mixture.bayes_error(50_000)
    assert 0 < uncertainty < 0.002
    assert abs(error - 0.6 * pair.bayes_error()[0]) < 4 * uncertainty
    assert mixture.bayes_error(50_000) == (error, uncertainty)
    assert mixture.bayes_error(50_000, random_state=1) != (error, uncertainty)


def test_the_bayes_error_does_not_depend_on_idle_features():
    few, many = (gaussian_mixture([5, 3, 2], d, 2.0)[2].bayes_error(20_000) for d in (2, 5000))
    assert abs(few[0] - many[0]) < 5 * few[1]


def test_texts():
    X, y = sparse_text(2000, 1000, 5, 50, random_state=0)
    assert sparse.isspmatrix_csr(X)
    assert X.shape == (2000, 1000)
    assert X.has_canonical_format
    assert X.nnz < 0.05 * 2000 * 1000
    assert (X.data == np.round(X.data)).all()
    assert np.asarray(X.sum(axis=1)).min() >= 1
    counts = np.bincount(y)
    assert counts.sum() == 2000
    assert (np.diff(counts) < 0).all()
    assert counts[0] / counts[-1] == pytest.approx(50, rel=0.05)
    again, labels = sparse_text(2000, 1000, 5, 50, random_state=0)
    assert (again != X).nnz == 0
    np.testing.assert_array_equal(labels, y)
    train = np.arange(2000) % 2 == 0
    model = LogisticRegression(max_iter=200).fit(X[train], y[train])
    assert model.score(X[~train], y[~train]) > counts[0] / 2000 + 0.2


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: separable_pair(1, 2), "n must be a whole number of at least 2; got 1"),
        (lambda: separable_pair(10.5, 2), "n must be a whole number"),
        (lambda: separable_pair(10, 0.5), "ratio must be"),
        (lambda: separable_pair(10, 2, 0), "margin must be a positive"),
        (lambda: gaussian_mixture([5], 2, 1), "counts must be two or more positive"),
        (lambda: gaussian_mixture([5, 0], 2, 1), "counts must be"),
        (lambda: gaussian_mixture([5, 1.5], 2, 1), "counts must be"),
        (lambda: gaussian_mixture([5, 5], 0, 1), "d must be a whole number of at least 1"),
        (lambda: gaussian_mixture([5, 5], 2, 0), "separation must be a positive"),
        (lambda: sparse_text(2, 10, 3, 2), "n must be a whole number of at least 3"),
        (lambda: sparse_text(9, 0, 3, 2), "d must be"),
        (lambda: sparse_text(9, 9, 1, 2), "n_classes must be"),
    ],
)
def test_what_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
