"""Confusion matrices against scikit-learn's metrics."""

import numpy as np
import pytest
from sklearn import metrics

from immax.decisions.confusion import (
    confusion_matrix,
    f_scores,
    jaccard_scores,
    precisions,
    recalls,
)


@pytest.fixture
def labels():
    rng = np.random.default_rng(0)
    return rng.integers(0, 4, 200), rng.integers(0, 4, 200), rng.uniform(0, 2, 200)


def test_matrix(labels):
    y, said, weight = labels
    own = confusion_matrix(y, said, 4, 4, weight)
    np.testing.assert_allclose(own, metrics.confusion_matrix(y, said, sample_weight=weight))
    assert confusion_matrix(y, said, 4, 5).shape == (4, 5)


@pytest.mark.parametrize("beta", [0.5, 1.0, 2.0])
def test_scores_of_classes(labels, beta):
    y, said, weight = labels
    own = confusion_matrix(y, said, 4, 4, weight)
    precision, recall, f, _ = metrics.precision_recall_fscore_support(
        y, said, beta=beta, sample_weight=weight
    )
    np.testing.assert_allclose(precisions(own), precision)
    np.testing.assert_allclose(recalls(own), recall)
    np.testing.assert_allclose(f_scores(own, beta), f)
    expected = metrics.jaccard_score(y, said, average=None, sample_weight=weight)
    np.testing.assert_allclose(jaccard_scores(own), expected)


def test_many_matrices_at_once(labels):
    y, said, _ = labels
    one = confusion_matrix(y, said, 4, 4)
    both = np.stack([one, one.T])
    np.testing.assert_allclose(f_scores(both)[0], f_scores(one))
    np.testing.assert_allclose(recalls(both)[1], recalls(one.T))


def test_a_class_without_samples_has_no_recall_and_one_without_predictions_no_precision():
    table = np.array([[3.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    assert recalls(table)[:2].tolist() == [1.0, 0.0]
    assert np.isnan(recalls(table)[2])
    assert precisions(table).tolist() == [0.6, 0.0, 0.0]
