"""From fitted models to ONNX."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from sklearn.utils.validation import check_is_fitted

from immax import __version__
from immax.atomic import replacing
from immax.calibration import ScoreCalibration
from immax.kernels.svc import IMMAXSVC
from immax.linear import BaselineClassifier, IMMAXClassifier
from immax.linear_base import has_proba
from immax.onnx.decisions import (
    add_labels,
    add_rule,
    by_cost,
    by_highest,
    by_sign,
    by_threshold,
)
from immax.onnx.graph import Graph, Output
from immax.onnx.lightgbm_trees import add_lightgbm_scores
from immax.onnx.links import add_calibration, add_immax_link, add_spec_link, normalise
from immax.onnx.machines import add_kernel_scores, add_linear_scores
from immax.onnx.tables import Columns, add_columns, add_transformer
from immax.onnx.unfolding import Calibrated, Decided, Thresholded, unfold
from immax.onnx.xgboost_trees import add_xgboost_scores
from immax.search.base import MarginSearch
from immax.tabular.pipeline import TypedColumns

__all__ = ["save_onnx", "to_onnx"]

TREES = {"get_booster": add_xgboost_scores, "booster_": add_lightgbm_scores}
"""The functions that add scores of trees, by an attribute of the libraries' estimators."""


@dataclass(frozen=True)
class Classified:
    """The tensors of a classifier: class indices, and probabilities where there are any."""

    indices: str
    scores: str
    proba: str | None = None


def to_onnx(model: Any) -> Any:
    """Return a fitted model as an ONNX graph with the exact link and the model's decision rule.

    Models of arrays have the input ``X``, doubles of shape (n, d). Models of tables, pipelines that
    begin with ``immax.tabular.prepare``, have an input of shape (n, 1) for each column: doubles for
    numbers (NaN is missing) and for dates (days since 1970), strings for categories (``"missing"``
    and ``""`` are missing) and for booleans (``"True"`` and ``"False"``, or as the table had them,
    in lower case, in upper case or with a capital, or ``"1"`` and ``"0"``). The outputs are
    ``label`` of shape (n,), and ``probabilities`` of shape (n, c) or, where the model has none,
    ``scores``.

    Parameters
    ----------
    model : fitted classifier
        ``IMMAXClassifier``, ``BaselineClassifier``, ``IMMAXSVC``, their searches,
        ``IMMAXXGBClassifier``, ``IMMAXLGBMClassifier``, ``LogisticRegression``, ``LinearSVC``,
        ``XGBClassifier``, one of these in ``DecisionClassifierCV`` or in scikit-learn's
        ``FixedThresholdClassifier`` and ``TunedThresholdClassifierCV``, or a pipeline that ends in
        one.

    Returns
    -------
    onnx.ModelProto

    Raises
    ------
    TypeError
        If a step of the model cannot be exported.
    NotImplementedError
        If an option of the model cannot be exported.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from immax import IMMAXClassifier
    >>> graph = to_onnx(IMMAXClassifier().fit(*load_iris(return_X_y=True)))
    >>> [output.name for output in graph.graph.output]
    ['label', 'probabilities']
    """
    check_is_fitted(model)
    graph = Graph()
    steps, last = unfold(model)
    X: str | Columns
    if steps and isinstance(steps[0], TypedColumns):
        X = add_columns(graph, steps[0])
        steps = steps[1:]
    else:
        counted = next(one for one in (model, *steps, last) if hasattr(one, "n_features_in_"))
        X = graph.input("X", int(counted.n_features_in_))
    for step in steps:
        X = add_transformer(graph, step, X)
    if not isinstance(X, str):
        X = add_transformer(graph, "passthrough", X)
    tensors = _classify(graph, last, X)
    c = len(model.classes_)
    if tensors.proba is None:
        rest = {"scores": Output(tensors.scores, "double", 1 if c == 2 else c)}
    else:
        rest = {"probabilities": Output(tensors.proba, "double", c)}
    label = add_labels(graph, tensors.indices, np.asarray(model.classes_))
    notes = {"immax": __version__, "classes": str(np.asarray(model.classes_).tolist())}
    return graph.model({"label": label, **rest}, notes)


def save_onnx(model: Any, path: str | Path) -> None:
    """Write a fitted model as an ONNX file.

    Parameters
    ----------
    model : fitted classifier
        As for ``to_onnx``.
    path : str or Path
        The file; it is written atomically.
    """
    content = to_onnx(model).SerializeToString()
    with replacing(Path(path)) as part:
        part.write_bytes(content)


def _classify(graph: Graph, model: Any, X: str) -> Classified:
    """Add the nodes of a classifier."""
    if isinstance(model, Decided):
        inner = _classify(graph, model.model, X)
        if inner.proba is None:
            raise NotImplementedError("a rule needs a model with probabilities")
        return Classified(add_rule(graph, inner.proba, model.rule), inner.scores, inner.proba)
    if isinstance(model, Calibrated):
        inner = _classify(graph, model.model, X)
        calibrated = _classify_logistic(graph, model.calibration, inner.proba or inner.scores)
        return Classified(inner.indices, inner.scores, calibrated.proba)
    if isinstance(model, Thresholded):
        return _classify_by_threshold(graph, model, X)
    if isinstance(model, MarginSearch):
        return _classify_search(graph, model, X)
    if isinstance(model, (IMMAXClassifier, BaselineClassifier)):
        return _classify_linear(graph, model, X)
    if isinstance(model, IMMAXSVC):
        return _classify_machine(graph, model, X)
    if isinstance(model, LogisticRegression):
        return _classify_logistic(graph, model, X)
    if isinstance(model, LinearSVC):
        scores = add_linear_scores(graph, X, model.coef_, model.intercept_)
        return Classified(_by_scores(graph, scores, len(model.classes_)), scores)
    for attribute, add_scores in TREES.items():
        if hasattr(model, "loss_") and hasattr(model, attribute):
            return _classify_trees(graph, model, add_scores(graph, X, model))
    if is_classifier(model) and hasattr(model, "get_booster"):
        return _classify_xgboost(graph, model, X)
    raise TypeError(
        f"{type(model).__name__} cannot be exported to ONNX; IMMAXClassifier, BaselineClassifier, "
        "IMMAXSVC, their searches, IMMAXXGBClassifier, IMMAXLGBMClassifier, LogisticRegression, "
        "LinearSVC, XGBClassifier, and DecisionClassifierCV, FixedThresholdClassifier and "
        "TunedThresholdClassifierCV of one of these can"
    )


def _classify_by_threshold(graph: Graph, model: Thresholded, X: str) -> Classified:
    """Add the classes by a threshold of probabilities or, where there are none, of scores."""
    inner = _classify(graph, model.model, X)
    if inner.proba is not None and model.response != "decision_function":
        values, usual = graph.slice(inner.proba, 1, model.positive, model.positive + 1), 0.5
    else:
        sign = graph.constant(1.0 if model.positive else -1.0)
        values, usual = graph.add("Mul", inner.scores, sign), 0.0
    threshold = usual if model.threshold is None else model.threshold
    indices = by_threshold(graph, values, threshold, model.positive)
    return Classified(indices, inner.scores, inner.proba)


def _by_scores(graph: Graph, scores: str, n_classes: int) -> str:
    return by_sign(graph, scores) if n_classes == 2 else by_highest(graph, scores)


def _classify_linear(graph: Graph, model: Any, X: str) -> Classified:
    c = len(model.classes_)
    scores = add_linear_scores(graph, X, model.coef_, model.intercept_)
    proba = None
    if hasattr(model, "predict_proba") and has_proba(model):
        if isinstance(model, IMMAXClassifier):
            proba = add_immax_link(graph, scores, model.margins_, model.loss)
            weights = getattr(model, "weights_", np.ones(c))
            if np.ptp(weights) > 0:
                odds = graph.add("Mul", proba, graph.constant(weights.min() / weights))
                proba = normalise(graph, odds)
        else:
            proba = add_spec_link(graph, _both(graph, scores, c), model.spec_)
    if model.rule == "bayes" and proba is not None:
        return Classified(by_cost(graph, proba, model.costs, c), scores, proba)
    return Classified(_by_scores(graph, scores, c), scores, proba)


def _both(graph: Graph, scores: str, n_classes: int) -> str:
    """Add the scores of both classes, where there is one of class 1."""
    return graph.add("Mul", scores, graph.constant([[-0.5, 0.5]])) if n_classes == 2 else scores


def _classify_machine(graph: Graph, model: IMMAXSVC, X: str) -> Classified:
    if model.calibrated:
        raise NotImplementedError(
            "IMMAXSVC(calibrated=True) cannot be exported to ONNX; IMMAXSVCCV with an aim can"
        )
    scores = add_kernel_scores(graph, X, model)
    return Classified(_by_scores(graph, scores, len(model.classes_)), scores)


def _classify_search(graph: Graph, model: Any, X: str) -> Classified:
    """Add the model of decisions and, where it is another one, that of probabilities.

    Calibrations that are there without being asked for are not part of the model.
    """
    model._check_refitted()
    best = _classify(graph, model.best_estimator_, X)
    decided = _calibrated(graph, best, model.best_calibration_)
    other = getattr(model, "probability_estimator_", model.best_estimator_)
    if not hasattr(model, "predict_proba"):
        proba = None
    elif other is model.best_estimator_:
        proba = _calibrated(graph, best, model.probability_calibration_)
    else:
        inner = _classify(graph, other, X)
        proba = _calibrated(graph, inner, model.probability_calibration_)
    if isinstance(model.best_rule_, str):
        return Classified(best.indices, best.scores, proba)
    if decided is None:
        raise NotImplementedError("a rule needs a model with probabilities")
    return Classified(add_rule(graph, decided, model.best_rule_), best.scores, proba)


def _calibrated(
    graph: Graph, tensors: Classified, calibration: ScoreCalibration | None
) -> str | None:
    if calibration is None:
        return tensors.proba
    return add_calibration(graph, tensors.scores, calibration.slopes, calibration.offsets)


def _classify_logistic(graph: Graph, model: LogisticRegression, X: str) -> Classified:
    # Versions of scikit-learn before 1.8 can fit each class against the rest, without a softmax.
    several = getattr(model, "multi_class", "auto")
    if len(model.classes_) > 2 and (model.solver == "liblinear" or several == "ovr"):
        raise NotImplementedError(
            "LogisticRegression of several classes can be exported to ONNX with a softmax; got "
            f"solver={model.solver!r}, multi_class={several!r}"
        )
    scores = add_linear_scores(graph, X, model.coef_, model.intercept_)
    proba = _add_softmax(graph, scores, len(model.classes_))
    return Classified(_by_scores(graph, scores, len(model.classes_)), scores, proba)


def _classify_xgboost(graph: Graph, model: Any, X: str) -> Classified:
    """Add an ``XGBClassifier``, in which the lowest class wins a tie."""
    scores = add_xgboost_scores(graph, X, model)
    proba = _add_softmax(graph, scores, len(model.classes_))
    return Classified(graph.add("ArgMax", proba, axis=1, keepdims=0), scores, proba)


def _add_softmax(graph: Graph, scores: str, n_classes: int) -> str:
    count = 1 if n_classes == 2 else n_classes
    return add_calibration(graph, scores, np.ones(count), np.zeros(count))


def _classify_trees(graph: Graph, model: Any, scores: str) -> Classified:
    c, spec = len(model.classes_), model.loss_.spec
    if spec.name == "immax":
        proba = add_immax_link(graph, scores, spec.temperature, "logistic")
    else:
        proba = add_spec_link(graph, _both(graph, scores, c), spec)
    if model.rule_ is not None:
        return Classified(add_rule(graph, proba, model.rule_), scores, proba)
    return Classified(_by_scores(graph, scores, c), scores, proba)
