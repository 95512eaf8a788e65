"""The fit of a method on a fold."""

import numpy as np
import pytest
from mixed_table import mixed_table

from immax.compare import Protocol, fold_fits
from immax.compare.fold_cache import FoldResult
from immax.compare.fold_fits import FoldData, FoldFitter, FoldTask
from immax.compare.target import encode_target
from immax.tabular import describe_columns


@pytest.fixture(scope="module")
def data():
    X, y = mixed_table(90)
    target, protocol = encode_target(y), Protocol(folds=3)
    splits = protocol.splits(target.codes)
    return FoldData(X, target.classes, target.codes, describe_columns(X), splits, protocol)


def test_the_test_part_is_predicted(data):
    result = FoldFitter(data).attempt(FoldTask("logistic", 1))
    assert isinstance(result, FoldResult)
    assert result.labels.shape == data.splits[1].test.shape
    np.testing.assert_allclose(result.proba.sum(axis=1), 1)
    assert result.seconds > 0


def test_failures_and_time_limits_are_outcomes(data, monkeypatch):
    fitter = FoldFitter(data)
    assert isinstance(fitter.attempt(FoldTask("logistic", 0), seconds=0), TimeoutError)

    def fail(*_):
        raise ValueError("no such luck")

    monkeypatch.setattr(fold_fits, "fit_candidate", fail)
    outcome = fitter.attempt(FoldTask("logistic", 0))
    assert isinstance(outcome, ValueError)
    assert str(outcome) == "no such luck"
