"""Certificates in words, for commands and reports."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from immax.arrays import Features
from immax.theory.certificates import certificate, split_certificate

__all__ = ["NO_CERTIFICATE", "describe_certificates"]

NO_CERTIFICATE = "No certificate: only linear and kernel models have one."


def describe_certificates(model: Any, X: Features, y: ArrayLike, delta: float = 0.05) -> str:
    """Return a model's certificate in words, and the one that holds for features from the data.

    Parameters
    ----------
    model : fitted classifier
        As in ``certificate``; mostly a pipeline.
    X, y
        The training data.
    delta : float, default=0.05
        The probability with which each of the bounds may fail.

    Returns
    -------
    str
        Where there is no certificate, the reason.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = make_blobs(100, centers=2, random_state=0)
    >>> describe_certificates(GaussianNB().fit(X, y), X, y)
    'No certificate: only linear and kernel models have one.'
    """
    try:
        optimistic = certificate(model, X, y, delta)
    except (TypeError, AttributeError):
        return NO_CERTIFICATE
    except ValueError as error:
        return f"No certificate: {error}."
    try:
        split = f"From a split of the data:\n{split_certificate(model, X, y, delta)}"
    except ValueError as error:
        split = f"No certificate from a split of the data: {error}."
    return f"{optimistic}\n\n{split}"
