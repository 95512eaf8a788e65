"""Features that depend on the sample."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from immax import IMMAXClassifier, IMMAXClassifierCV
from immax.theory import certificate, split_certificate
from immax.theory.sample_features import describe_features, split_features

X, Y = make_blobs(600, centers=[[-4, 0], [4, 3]], random_state=0)


def test_conditions_name_what_was_fitted():
    pipeline = make_pipeline(SimpleImputer(), StandardScaler(), IMMAXClassifier()).fit(X, Y)
    model, features, condition = describe_features(pipeline, X)
    assert model is pipeline[-1]
    np.testing.assert_allclose(features, pipeline[:-1].transform(X))
    assert "as by SimpleImputer, StandardScaler." in condition
    assert 'gamma="scale"' in describe_features(SVC().fit(X, Y), X)[2]
    plain = describe_features(IMMAXClassifier().fit(X, Y), X)
    assert plain[1] is X
    assert "split_certificate" in plain[2]
    assert plain[2] in str(certificate(plain[0], X, Y))


@pytest.mark.parametrize("frame", [False, True])
def test_the_split_computes_features_from_one_part(frame):
    data = pd.DataFrame(X, columns=["a", "b"]) if frame else X
    pipeline = make_pipeline(StandardScaler(), IMMAXClassifier(lam=1e-2)).fit(data, Y)
    model, features, rest, condition = split_features(pipeline, data, Y, 0.25, 0)
    assert rest.size == 450
    first = np.setdiff1d(np.arange(600), rest)
    scaled = (X - X[first].mean(axis=0)) / X[first].std(axis=0)
    np.testing.assert_allclose(features, scaled[rest])
    again = IMMAXClassifier(lam=1e-2).fit(scaled, Y)
    np.testing.assert_allclose(model.coef_, again.coef_, rtol=1e-3)
    assert "150 other samples" in condition
    found = split_certificate(pipeline, data, Y, share=0.25)
    assert found.n_samples == 450
    assert found.best.total == pytest.approx(certificate(model, features, Y[rest]).best.total)
    assert found.best.total > certificate(pipeline, data, Y).best.total


def test_searches_and_kernel_machines():
    search = make_pipeline(StandardScaler(), IMMAXClassifierCV(lams=[1e-2], cv=3)).fit(X, Y)
    model = split_features(search, X, Y, 0.5, 0)[0]
    assert model.lam == search[-1].best_lam_
    np.testing.assert_allclose(model.margins_, search[-1].best_margins_)
    model, _, rest, _ = split_features(SVC().fit(X, Y), X, Y, 0.5, 0)
    first = np.setdiff1d(np.arange(600), rest)
    assert model.gamma == pytest.approx(1 / (2 * X[first].var()))


def test_bad_input():
    with pytest.raises(ValueError, match="share must be strictly between"):
        split_certificate(IMMAXClassifier().fit(X, Y), X, Y, share=1.0)
    with pytest.raises(Exception, match="not fitted"):
        split_certificate(make_pipeline(StandardScaler(), IMMAXClassifier()), X, Y)
