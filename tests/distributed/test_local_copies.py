"""Fitted models as estimators for data in memory."""

from parted_cases import rows

from immax import IMMAXClassifier
from immax.distributed.local_copies import copy_fit


def test_copies_have_parameters_and_attributes():
    X, y = rows(2, 300)
    fitted = IMMAXClassifier(lam=0.3).fit(X, y)
    fitted.n_rounds_ = 7
    copied = copy_fit(fitted, IMMAXClassifier)
    assert copied.lam == 0.3
    assert (copied.predict(X) == fitted.predict(X)).all()
    assert not hasattr(copied, "n_rounds_")
