"""Aims: values against scikit-learn's metrics, closed forms, and what is refused."""

import numpy as np
import pytest
from sklearn import metrics

from immax.decisions.aims import (
    AIMS,
    MCC,
    Accuracy,
    BalancedAccuracy,
    Budget,
    Costs,
    FBeta,
    GMean,
    Jaccard,
    Kappa,
    PrecisionAt,
    RecallAt,
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


def test_constraints_are_below_zero_where_they_are_not_met():
    table = np.array([[90.0, 10.0], [5.0, 15.0]])  # precision 0.6, recall 0.75
    assert RecallAt(precision=0.5).value(table) == pytest.approx(0.75)
    assert RecallAt(precision=0.9).value(table) == pytest.approx(0.6 - 1)
    assert PrecisionAt(recall=0.7).value(table) == pytest.approx(0.6)
    assert PrecisionAt(recall=0.8).value(table) == pytest.approx(0.75 - 1)
    assert Budget(share=0.25).value(table) == pytest.approx(0.75)
    assert Budget(share=0.1).value(table) < 0
    assert Budget(count=25).value(table) == pytest.approx(0.75)
    assert Budget(count=24).value(table) < 0


def test_costs():
    labels = np.array(["fraud", "ok"])
    aim = Costs({"ok": 1.0, "fraud": 10.0}, abstain=0.5)
    np.testing.assert_array_equal(aim.matrix(labels), [[0, 10, 0.5], [1, 0, 0.5]])
    table = np.array([[3.0, 1.0, 2.0], [4.0, 5.0, 0.0]])
    assert aim.for_classes(labels).value(table) == pytest.approx(-(10 + 2 * 0.5 + 4) / 15)
    matrix = [[0, 2, 3], [1, 0, 5], [7, 1, 0]]
    np.testing.assert_array_equal(Costs(matrix).matrix(np.arange(3)), matrix)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Costs([1, -1]), "not negative"),
        (lambda: Costs([0, 0]), "all zero"),
        (lambda: Costs([[1, 2, 3], [1, 2, 3]]), "row and column"),
        (lambda: Costs("cheap"), "numbers"),
        (lambda: Costs([1, 2], abstain=-1), "abstain"),
        (
            lambda: Costs([1, 2, 3]).matrix(np.arange(2)),
            r"costs must have shape \(2,\)",
        ),
        (lambda: Costs({"a": 1}).matrix(np.array(["a", "b"])), "classes without a cost: \\['b'\\]"),
        (lambda: FBeta(0), "beta"),
        (lambda: FBeta(average="weighted"), "average"),
        (lambda: Jaccard("micro"), "average"),
        (lambda: RecallAt(precision=1.0), "between 0 and 1"),
        (lambda: PrecisionAt(recall=0), "between 0 and 1"),
        (lambda: Budget(), "either"),
        (lambda: Budget(share=0.1, count=3), "either"),
        (lambda: Budget(share=0.0), "between 0 and 1"),
        (lambda: Budget(count=0), "positive whole number"),
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
