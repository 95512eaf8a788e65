"""Features that depend on the sample."""

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_blobs
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from immax import IMMAXClassifier, IMMAXClassifierCV
from immax.decisions import Costs, DecisionClassifierCV
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
    model = split_features(search, X, Y, 0.5, 0)[0].best_estimator_
    assert model.lam == search[-1].best_lam_
    np.testing.assert_allclose(model.margins_, search[-1].best_margins_)
    model, _, rest, _ = split_features(SVC().fit(X, Y), X, Y, 0.5, 0)
    first = np.setdiff1d(np.arange(600), rest)
    assert model.gamma == pytest.approx(1 / (2 * X[first].var()))


@pytest.mark.parametrize("aim", ["f1", "balanced_accuracy", Costs([1.0, 5.0])])
@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_the_split_keeps_the_rule_of_an_aim(loss, aim):
    X, y = make_blobs([500, 60], centers=[[-1, 0], [1, 0]], random_state=0)
    search = IMMAXClassifierCV(loss, aim=aim, lams=[1e-2], cv=3)
    model = make_pipeline(StandardScaler(), search).fit(X, y)
    fitted, features, rest, _ = split_features(model, X, y, 0.5, 0)
    assert fitted.best_rule_ == model[-1].best_rule_
    assert fitted.best_estimator_ is not model[-1].best_estimator_
    found = split_certificate(model, X, y)
    assert found.training_error == pytest.approx(np.mean(fitted.predict(features) != y[rest]))
    assert found.best.total > certificate(model, X, y).best.total


@pytest.mark.parametrize("c", [2, 3])
def test_a_pipeline_within_a_model_with_a_rule(c):
    X, y = make_blobs([300, 60, 40][:c], centers=3 * np.eye(c), random_state=0)
    inner = make_pipeline(StandardScaler(), LogisticRegression())
    model = DecisionClassifierCV(inner, "balanced_accuracy", cv=3).fit(X, y)
    found = certificate(model, X, y)
    assert found.training_error == pytest.approx(np.mean(model.predict(X) != y))
    assert "as by StandardScaler" in str(found)
    assert split_certificate(model, X, y).n_samples == len(y) // 2
    grid = GridSearchCV(inner, {"logisticregression__C": [0.1, 1.0]}, cv=3).fit(X, y)
    error = certificate(grid, X, y).training_error
    assert error == pytest.approx(1 - grid.score(X, y))


def test_rules_that_have_no_certificate_say_what_does():
    X, y = make_blobs([300, 60, 40], centers=2 * np.eye(3), random_state=0)
    costs = np.arange(9.0).reshape(3, 3) * (1 - np.eye(3))
    model = DecisionClassifierCV(LogisticRegression(), Costs(costs), cv=3).fit(X, y)
    for bounds in (certificate, split_certificate):
        with pytest.raises(ValueError, match=r"not of each pair of classes.*estimator_"):
            bounds(model, X, y)
    assert certificate(model.estimator_, X, y).n_samples == 400
    abstains = DecisionClassifierCV(LogisticRegression(), Costs([1.0, 1.0, 1.0], 0.1), cv=3)
    with pytest.raises(ValueError, match="with abstention"):
        split_certificate(abstains.fit(X, y), X, y)
    bayes = DecisionClassifierCV(CalibratedClassifierCV(SVC(), cv=3), "f1_macro", cv=3).fit(X, y)
    with pytest.raises(TypeError, match="linear classifier or a kernel machine"):
        certificate(bayes, X, y)


def test_bad_input():
    with pytest.raises(ValueError, match="share must be strictly between"):
        split_certificate(IMMAXClassifier().fit(X, Y), X, Y, share=1.0)
    with pytest.raises(Exception, match="not fitted"):
        split_certificate(make_pipeline(StandardScaler(), IMMAXClassifier()), X, Y)
