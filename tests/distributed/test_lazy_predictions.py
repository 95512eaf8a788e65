"""What models on Dask have, before and after a fit."""

import pytest
from parted_cases import rows
from sklearn.exceptions import NotFittedError

from immax import IMMAXClassifier
from immax.distributed import DaskIMMAXClassifier, DaskIMMAXClassifierCV
from immax.distributed.lazy_predictions import copy_fit, has_local_proba


def test_probabilities_are_those_of_the_local_estimator():
    assert has_local_proba(DaskIMMAXClassifier())
    assert hasattr(DaskIMMAXClassifierCV(), "predict_proba")
    assert not hasattr(DaskIMMAXClassifier("hinge"), "predict_proba")
    with pytest.raises(AttributeError, match="has no attribute 'predict_proba'"):
        has_local_proba(DaskIMMAXClassifier("hinge"))
    with pytest.raises(NotFittedError):
        DaskIMMAXClassifier().to_local()


def test_copies_have_parameters_and_attributes():
    X, y = rows(2, 300)
    fitted = IMMAXClassifier(lam=0.3).fit(X, y)
    fitted.n_rounds_ = 7
    copied = copy_fit(fitted, IMMAXClassifier)
    assert copied.lam == 0.3
    assert (copied.predict(X) == fitted.predict(X)).all()
    assert not hasattr(copied, "n_rounds_")
