"""Aims: values against scikit-learn's metrics, closed forms, and what is refused."""

import numpy as np
import pytest
from sklearn import metrics

from immax.decisions.aims import (
    AIMS,
    MCC,
    Accuracy,
    BalancedAccuracy,
    FBeta,
    GMean,
    Jaccard,
    Kappa,
)
from immax.decisions.confusion import confusion_matrix

EXPECTED = {
    Accuracy(): metrics.accuracy_score,
    BalancedAccuracy(): metrics.balanced_accuracy_score,
    MCC(): metrics.matthews_corrcoef,
    Kappa(): lambda y, z, sample_weight: metrics.cohen_kappa_score(
        y, z, sample_weight=sample_weight
    ),
    FBeta(average="macro"): lambda y, z, **w: metrics.f1_score(y, z, average="macro", **w),
    FBeta(average="micro"): lambda y, z, **w: metrics.f1_score(y, z, average="micro", **w),
    Jaccard("macro"): lambda y, z, **w: metrics.jaccard_score(y, z, average="macro", **w),
}
BINARY = {
    FBeta(): metrics.f1_score,
    FBeta(2.0): lambda y, z, **w: metrics.fbeta_score(y, z, beta=2, **w),
    Jaccard(): metrics.jaccard_score,
}


def draw(c, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, c, 300)
    z = np.where(rng.uniform(size=300) < 0.6, y, rng.integers(0, c, 300))
    return y, z, rng.uniform(0.5, 2, 300)


@pytest.mark.parametrize("aim", EXPECTED, ids=lambda aim: aim.name)
@pytest.mark.parametrize("c", [2, 5])
def test_values_are_scikit_learns(aim, c):
    y, z, weight = draw(c)
    own = aim.value(confusion_matrix(y, z, c, c, weight))
    assert own == pytest.approx(EXPECTED[aim](y, z, sample_weight=weight))


@pytest.mark.parametrize("aim", BINARY, ids=lambda aim: aim.name)
def test_values_of_one_class(aim):
    y, z, weight = draw(2)
    table = confusion_matrix(y, z, 2, 2, weight)
    assert aim.value(table, 1) == pytest.approx(BINARY[aim](y, z, sample_weight=weight))
    expected = BINARY[aim](1 - y, 1 - z, sample_weight=weight)
    assert aim.value(table, 0) == pytest.approx(expected)


def test_geometric_mean_of_recalls():
    table = np.array([[8.0, 2.0], [5.0, 5.0]])
    assert GMean().value(table) == pytest.approx(np.sqrt(0.8 * 0.5))
    assert GMean().value(np.array([[10.0, 0.0], [10.0, 0.0]])) == 0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: FBeta(0), "beta"),
        (lambda: FBeta(average="weighted"), "average"),
        (lambda: Jaccard("micro"), "average"),
    ],
)
def test_what_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_aims_are_immutable_and_equal_by_value():
    assert FBeta(2.0) == AIMS["f2"]()
    assert hash(FBeta()) == hash(FBeta())
    with pytest.raises(AttributeError):
        FBeta().beta = 3


@pytest.mark.parametrize("name", AIMS)
def test_every_name_makes_an_aim(name):
    aim = AIMS[name]()
    table = np.array([[8.0, 2.0], [5.0, 5.0]])
    assert np.isfinite(aim.value(table))
