"""CatBoost's methods by the link and the rule."""

import numpy as np
import pytest
from catboost import EFstrType, Pool
from sklearn.datasets import make_classification
from sklearn.metrics import accuracy_score, log_loss

from immax.boosting import IMMAXCatBoostClassifier
from immax.boosting.catboost_predictions import REFUSED, named_metrics
from immax.links import immax_proba

LABELS = np.array(["ok", "fraud", "what"])


@pytest.fixture(scope="module", params=[2, 3])
def fitted(request):
    c = request.param
    X, y = make_classification(
        300,
        6,
        n_informative=4,
        n_classes=c,
        weights=[0.8] + [0.2 / (c - 1)] * (c - 2),
        flip_y=0.1,
        random_state=0,
    )
    y = np.sort(LABELS[:c])[y]
    params = {"iterations": 6, "thread_count": 1, "allow_writing_files": False}
    model = IMMAXCatBoostClassifier(
        power=0.9, aim="balanced_accuracy", custom_metric=["Accuracy"], **params
    )
    model.fit(X[:200], y[:200], eval_set=(X[200:], y[200:]), use_best_model=False)
    return X, y, model


def test_every_kind_of_prediction_is_the_links(fitted):
    X, _, model = fitted
    scores = model.decision_function(X)
    proba = immax_proba(scores, model.margins_)
    labels = model.rule_.predict(proba)
    assert (labels != model.classes_[proba.argmax(axis=1)]).any()
    expected = {
        "Class": labels,
        "Probability": proba,
        "LogProbability": np.log(proba),
        "RawFormulaVal": scores,
    }
    for kind, values in expected.items():
        found = model.predict(X, prediction_type=kind)
        stages = list(model.staged_predict(X, prediction_type=kind))
        assert len(stages) == 6
        for one in (found, stages[-1]):
            if kind == "Class":
                assert one.tolist() == values.tolist()
            else:
                np.testing.assert_allclose(one, values, atol=1e-9)
    np.testing.assert_allclose(model.predict_proba(X), proba, atol=1e-9)
    np.testing.assert_allclose(model.predict_log_proba(X), np.log(proba), atol=1e-9)
    first = next(iter(model.staged_predict_proba(X)))
    np.testing.assert_allclose(first, model.predict_proba(X, ntree_end=1))
    last = list(model.staged_predict_log_proba(X, eval_period=3))
    assert len(last) == 2
    np.testing.assert_allclose(last[-1], np.log(proba), atol=1e-9)
    with pytest.raises(ValueError, match="prediction_type must be one of"):
        model.predict(X, prediction_type="Exponent")
    with pytest.raises(ValueError, match="prediction_type must be one of"):
        model.staged_predict(X, prediction_type="Exponent")


def test_one_sample_alone(fitted):
    X, _, model = fitted
    np.testing.assert_allclose(model.predict_proba(X[0]), model.predict_proba(X[:1])[0])
    assert model.predict(list(X[0])) == model.predict(X[:1])[0]


def test_accuracy_takes_weights_and_pools(fitted):
    X, y, model = fitted
    weight = np.random.default_rng(0).uniform(0, 2, len(y))
    expected = accuracy_score(y, model.predict(X), sample_weight=weight)
    assert model.score(X, y, sample_weight=weight) == pytest.approx(expected)
    assert model.score(Pool(X, y)) == pytest.approx(accuracy_score(y, model.predict(X)))
    with pytest.raises(ValueError, match="requires y"):
        model.score(X)


def test_metrics_after_each_tree(fitted):
    X, y, model = fitted
    name = "Logloss" if len(model.classes_) == 2 else "MultiClass"
    held_out = Pool(X[200:], y[200:])
    found = model.eval_metrics(held_out, [name, "Accuracy"])
    history = model.get_evals_result()
    assert set(history["validation"]) == {name, "Accuracy"}
    np.testing.assert_allclose(found[name], history["validation"][name])
    assert found["Accuracy"] == history["validation"]["Accuracy"]
    assert found[name][-1] == pytest.approx(
        log_loss(y[200:], model.predict_proba(X[200:]), labels=model.classes_)
    )
    assert found["Accuracy"][-1] == pytest.approx(model.score(X[200:], y[200:]))
    assert model.evals_result_ == history
    best = model.get_best_score()
    assert best == model.best_score_
    assert best["validation"]["Accuracy"] == max(found["Accuracy"])
    assert best["validation"][name] == pytest.approx(min(found[name]))
    assert best["learn"].keys() == {name}
    with pytest.raises(ValueError, match="draw the values"):
        model.eval_metrics(held_out, name, plot=True)
    with pytest.raises(ValueError, match="'RMSE' is not available"):
        model.eval_metrics(held_out, "RMSE")


def test_scores_of_the_evaluation_set(fitted):
    X, _, model = fitted
    found = np.array(model.get_test_eval()).squeeze()
    expected = model.decision_function(X[200:])
    np.testing.assert_allclose(found, expected if found.ndim == 1 else expected.T, atol=1e-6)


def test_contributions_are_of_scores(fitted):
    X, y, model = fitted
    parts = model.get_feature_importance(Pool(X, y), type=EFstrType.ShapValues)
    np.testing.assert_allclose(parts.sum(axis=-1), model.decision_function(X), atol=1e-9)
    assert model.get_feature_importance().shape == (6,)
    for kind in ("LossFunctionChange", EFstrType.SageValues):
        with pytest.raises(ValueError, match="needs a loss of CatBoost's own"):
            model.get_feature_importance(Pool(X, y), type=kind)
    with pytest.raises(ValueError, match="model_output must be 'Raw'"):
        model.get_feature_importance(Pool(X, y), type="ShapValues", model_output="Probability")


@pytest.mark.parametrize("name", REFUSED)
def test_other_methods_are_refused_by_name(name):
    with pytest.raises(NotImplementedError, match=f"^{name} would take scores for log-odds"):
        getattr(IMMAXCatBoostClassifier(), name)()


def test_copies_and_parameters(fitted):
    X, _, model = fitted
    for copy in (model.copy(), model.__deepcopy__(None)):
        np.testing.assert_array_equal(copy.predict_proba(X), model.predict_proba(X))
        assert copy.rule_ == model.rule_
        assert copy.get_best_score() == model.get_best_score()
    assert model.get_param("power") == 0.9
    assert model.get_param("iterations") == 6


def test_pools_and_other_formats_are_refused(fitted, tmp_path):
    X, y, model = fitted
    fresh = IMMAXCatBoostClassifier(iterations=2, allow_writing_files=False)
    with pytest.raises(TypeError, match=r"eval_set must be \(X, y\).*got a Pool"):
        fresh.fit(X, y, eval_set=Pool(X, y))
    with pytest.raises(TypeError, match="X must be features, with labels as y; got a Pool"):
        fresh.fit(Pool(X, y))
    with pytest.raises(ValueError, match="fit requires y to be passed"):
        fresh.fit(X)
    with pytest.raises(TypeError, match=r"eval_set must be \(X, y\).*got a Pool"):
        fresh.fit(X, y, eval_set=[Pool(X, y)])
    with pytest.raises(TypeError, match="X must be features, with labels as y; got a Pool"):
        fresh.fit(Pool(X, y), None)
    with pytest.raises(ValueError, match="format must be one of"):
        model.save_model(tmp_path / "model.onnx", format="onnx")
    with pytest.raises(ValueError, match="pass further ones as custom_metric"):
        fresh.set_params(eval_metric=["Accuracy", "AUC"]).fit(X, y)
    with pytest.raises(ValueError, match="custom_metric takes names"):
        named_metrics([max], 2)


def test_a_blob_holds_what_is_needed(fitted, tmp_path):
    X, _, model = fitted
    model.save_model(tmp_path / "model.cbm")
    blob = (tmp_path / "model.cbm").read_bytes()
    again = IMMAXCatBoostClassifier().load_model(blob=blob)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.predict(X).tolist() == model.predict(X).tolist()
