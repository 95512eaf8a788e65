"""Aims with a precision or a recall to keep, or with a budget."""

import numpy as np
import pytest

from immax.decisions.constrained_aims import Budget, PrecisionAt, RecallAt


def test_constraints_are_below_zero_where_they_are_not_met():
    table = np.array([[90.0, 10.0], [5.0, 15.0]])  # precision 0.6, recall 0.75
    assert RecallAt(precision=0.5).value(table) == pytest.approx(0.75)
    assert RecallAt(precision=0.9).value(table) == pytest.approx(0.6 - 0.9)
    assert PrecisionAt(recall=0.7).value(table) == pytest.approx(0.6)
    assert PrecisionAt(recall=0.8).value(table) == pytest.approx(0.75 - 0.8)
    assert Budget(share=0.25).value(table) == pytest.approx(0.75)
    assert Budget(share=0.1).value(table) < 0
    assert Budget(count=25).value(table) == pytest.approx(0.75)
    assert Budget(count=24).value(table) < 0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RecallAt(precision=1.0), "between 0 and 1"),
        (lambda: PrecisionAt(recall=0), "between 0 and 1"),
        (lambda: Budget(), "either"),
        (lambda: Budget(share=0.1, count=3), "either"),
        (lambda: Budget(share=0.0), "between 0 and 1"),
        (lambda: Budget(count=0), "positive whole number"),
        (lambda: Budget(count=True), "positive whole number; got True"),
    ],
)
def test_what_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Budget("1%"), "share"),
        (lambda: Budget(count="5"), "count"),
        (lambda: Budget(count=float("nan")), "count"),
        (lambda: RecallAt("0.9"), "precision"),
        (lambda: PrecisionAt(None), "recall"),
    ],
)
def test_what_is_not_a_number_is_named(make, message):
    with pytest.raises(ValueError, match=f"{message} must"):
        make()
