"""Pipelines and wrappers, opened for ONNX, and the classifiers inside them with what is around."""

import numpy as np
import pytest
from onnx_models import assert_same
from sklearn.datasets import make_classification
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from immax import IMMAXSVC, IMMAXClassifier, IMMAXClassifierCV
from immax.compare.final_model import CodedLabels
from immax.decisions import DecidedModel, Rule
from immax.decisions.calibrated_scores import CalibratedScores
from immax.onnx import to_onnx
from immax.onnx.unfolding import Calibrated, Decided, Thresholded, unfold

pytest.importorskip("onnx", reason="needs the extra onnx")
X, Y = make_classification(150, 4, weights=[0.8], class_sep=0.5, flip_y=0.1, random_state=0)
NAMES = np.array(["no", "yes"])[Y]
X3, Y3 = make_classification(200, 4, n_informative=4, n_redundant=0, n_classes=3, random_state=0)


def scaled(model):
    return make_pipeline(StandardScaler(), model)


THRESHOLDS = {
    "pipeline": FixedThresholdClassifier(scaled(IMMAXClassifier()), threshold=0.2),
    "negative": FixedThresholdClassifier(IMMAXClassifier(), threshold=0.7, pos_label="no"),
    "auto": FixedThresholdClassifier(scaled(LogisticRegression())),
    "scores": FixedThresholdClassifier(
        IMMAXClassifier(), threshold=-0.4, response_method="decision_function"
    ),
    "negative scores": FixedThresholdClassifier(
        IMMAXClassifier(), threshold=0.3, pos_label="no", response_method="decision_function"
    ),
    "hinge": FixedThresholdClassifier(IMMAXClassifier("hinge"), threshold=-0.5),
    "machine": FixedThresholdClassifier(IMMAXSVC(), pos_label="no"),
    "search": FixedThresholdClassifier(
        IMMAXClassifierCV(cv=3, n_margins=2, random_state=0), threshold=0.3
    ),
    "tuned": TunedThresholdClassifierCV(scaled(IMMAXClassifier()), cv=3),
    "tuned negative": TunedThresholdClassifierCV(
        LogisticRegression(), scoring=make_scorer(f1_score, pos_label="no"), cv=3
    ),
}


@pytest.mark.parametrize("name", THRESHOLDS)
def test_thresholds(name):
    model = scaled(THRESHOLDS[name]).fit(X, NAMES)
    found = assert_same(model, to_onnx(model), X)
    assert ("scores" in found) == (name in ("hinge", "machine"))
    assert set(found["label"]) == {"no", "yes"}


def test_a_frozen_classifier_with_a_threshold():
    inner = scaled(LogisticRegression()).fit(X, NAMES)
    model = FixedThresholdClassifier(FrozenEstimator(inner), threshold=0.3).fit(X, NAMES)
    assert_same(model, to_onnx(model), X)
    steps, last = unfold(model)
    assert isinstance(steps[0], StandardScaler)
    assert last == Thresholded(inner[-1], 0.3, 1, "auto")
    assert last.n_features_in_ == 4


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("machine", [LinearSVC(), IMMAXClassifier("hinge"), LogisticRegression()])
def test_calibrated_scores(classes, machine):
    features, y = (X, Y) if classes == 2 else (X3, Y3)
    inner = scaled(machine).fit(features, y)
    columns = (
        inner.predict_proba(features)
        if hasattr(inner, "predict_proba")
        else inner.decision_function(features).reshape(len(y), -1)
    )
    model = CalibratedScores(inner, LogisticRegression().fit(columns, y))
    assert "probabilities" in assert_same(model, to_onnx(model), features)
    assert isinstance(unfold(model)[1], Calibrated)
    rule = Rule(np.arange(classes), np.diag(np.arange(1.0, classes + 1)), np.bincount(y) / len(y))
    decided = DecidedModel(model, rule)
    assert_same(decided, to_onnx(decided), features)
    assert isinstance(unfold(decided)[1], Decided)


def test_labels_of_codes():
    model = CodedLabels(scaled(LogisticRegression()).fit(X3, Y3), np.array(["a", "b", "c"]))
    assert set(assert_same(model, to_onnx(model), X3)["label"]) == {"a", "b", "c"}
    rule = Rule(model.classes, np.diag([1.0, 2.0, 3.0]), np.bincount(Y3) / len(Y3))
    decided = DecidedModel(model, rule)
    assert_same(decided, to_onnx(decided), X3)


@pytest.mark.parametrize("classes", [2, 3])
def test_a_linear_machine(classes):
    features, y = (X, Y) if classes == 2 else (X3, Y3)
    model = LinearSVC().fit(features, y)
    found = assert_same(model, to_onnx(model), features)
    expected = model.decision_function(features).reshape(len(y), -1)
    np.testing.assert_allclose(found["scores"], expected, atol=1e-5)
