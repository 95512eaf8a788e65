"""What models on Dask have, before and after a fit."""

import pytest
from sklearn.exceptions import NotFittedError

from immax.distributed import DaskIMMAXClassifier, DaskIMMAXClassifierCV
from immax.distributed.lazy_predictions import has_local_proba


def test_probabilities_are_those_of_the_local_estimator():
    assert has_local_proba(DaskIMMAXClassifier())
    assert hasattr(DaskIMMAXClassifierCV(), "predict_proba")
    assert not hasattr(DaskIMMAXClassifier("hinge"), "predict_proba")
    with pytest.raises(AttributeError, match="has no attribute 'predict_proba'"):
        has_local_proba(DaskIMMAXClassifier("hinge"))
    with pytest.raises(NotFittedError):
        DaskIMMAXClassifier().to_local()
