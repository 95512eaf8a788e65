"""Certificates in words."""

import numpy as np
from sklearn.datasets import make_blobs
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from immax import IMMAXClassifier
from immax.theory import certificate, describe_certificates, split_certificate


def test_both_certificates_are_offered():
    X, y = make_blobs(400, centers=[[-4, 0], [4, 0]], random_state=0)
    model = make_pipeline(StandardScaler(), IMMAXClassifier()).fit(X, y)
    text = describe_certificates(model, X, y)
    assert text.startswith(str(certificate(model, X, y)))
    assert text.endswith(str(split_certificate(model, X, y)))
    assert "as by StandardScaler" in text
    assert "from 200 other samples" in text


def test_refusals_are_given_with_their_reasons():
    X, y = make_blobs(90, centers=3 * np.eye(3), random_state=0)
    assert "vote among pairs" in describe_certificates(SVC().fit(X, y), X, y)
    lone = np.where(np.arange(90) == 0, 1, 0)
    model = IMMAXClassifier().fit(X, lone)
    assert "No certificate from a split" in describe_certificates(model, X, lone)
