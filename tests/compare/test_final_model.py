"""Models fitted to all rows, and their files."""

import numpy as np
import pandas as pd
import pytest
from mixed_table import mixed_table

from immax.compare import CANDIDATES, Protocol, compare, refit
from immax.compare.final_model import CodedLabels
from immax.decisions import rule_of
from immax.io import load_model, save_model


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", list(CANDIDATES))
def test_every_method_runs_and_its_model_is_saved(name, tmp_path):
    pytest.importorskip(CANDIDATES[name].needs or "numpy")
    X, y = mixed_table(150)
    comparison = compare(X, y, methods=[name], protocol=Protocol(folds=2))
    assert name in comparison.complete
    model = refit(comparison, name)
    assert set(model.predict(X)) <= {"no", "yes"}
    assert np.mean(model.predict(X) == y) > 0.6
    save_model(model, tmp_path / "model.skops", schema=comparison.schema, target="y")
    loaded = load_model(tmp_path / "model.skops").model
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    np.testing.assert_array_equal(loaded.classes_, ["no", "yes"])
    if CANDIDATES[name].proba:
        np.testing.assert_allclose(loaded.predict_proba(X), model.predict_proba(X))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["smote", "svm", "threshold", "xgb", "immax", "immax_hinge"])
def test_models_for_an_aim_are_saved_with_their_rules(name, tmp_path):
    pytest.importorskip(CANDIDATES[name].needs or "numpy")
    X, y = mixed_table(120)
    comparison = compare(X, y, methods=[name], protocol=Protocol("f1", folds=2))
    model = refit(comparison, name)
    save_model(model, tmp_path / "model.skops", schema=comparison.schema, target="y")
    loaded = load_model(tmp_path / "model.skops").model
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert set(model.predict(X)) <= {"no", "yes"}
    if name != "threshold":
        assert rule_of(loaded[-1]) == rule_of(model[-1])
        assert rule_of(model[-1]).classes.tolist() == ["no", "yes"]


@pytest.mark.parametrize(
    "labels",
    [
        pd.Series([False, True]),
        pd.Series([3, 7], dtype="Int64"),
        pd.Series([0.0, 1.0]),
        pd.Series(["a", "b"], dtype="category"),
        pd.to_datetime(pd.Series(["2024-01-01", "2025-01-01"])),
    ],
    ids=["bool", "nullable", "float", "category", "date"],
)
def test_labels_of_every_type(labels, tmp_path):
    X, y = mixed_table(90)
    y = labels.iloc[(y == "yes").astype(int)].reset_index(drop=True)
    comparison = compare(X, y, methods=[], protocol=Protocol(folds=2))
    model = refit(comparison, "logistic")
    save_model(model, tmp_path / "model.skops")
    assert set(load_model(tmp_path / "model.skops").model.predict(X)) <= set(comparison.classes)


def test_coded_labels_are_fitted_again():
    from sklearn.linear_model import LogisticRegression

    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array(["a", "a", "b", "b"])
    model = CodedLabels(LogisticRegression(C=1e3), np.array(["a", "b"])).fit(X, y)
    assert model.model.classes_.tolist() == [0, 1]
    assert model.predict(X).tolist() == y.tolist()
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
