"""Fits to the training rows of a fold, against fits in memory."""

import numpy as np
import pytest
from mixed_table import mixed_table
from sklearn.linear_model import LogisticRegression

from immax import BaselineClassifier, IMMAXClassifier
from immax.compare.protocol import Protocol
from immax.compare.training_rows import TrainingRows
from immax.distributed.row_hashes import fold_numbers
from immax.distributed.stream_parts import ReadMeter
from immax.errors import WrongCall
from immax.tabular import prepare, streamed_table
from immax.tabular.streamed_table import open_streamed

FOLDS, SEED, LEFT_OUT = 3, 1, 2


@pytest.fixture
def opened(tmp_path, monkeypatch):
    monkeypatch.setattr(streamed_table, "BATCH_CELLS", 1)

    def open_table(classes):
        X, y = mixed_table(3000, classes, seed=1)
        X.assign(y=y).to_parquet(tmp_path / "table.parquet")
        return X, y.to_numpy(), open_streamed(tmp_path / "table.parquet", "y")

    return open_table


def _counterpart(core, n_sample, n_rows):
    """Return the same model for rows in memory, to be solved much more exactly."""
    if isinstance(core, LogisticRegression):
        # C was chosen for the rows of the sample.
        C = core.C * n_sample / n_rows
        return LogisticRegression(C=C, class_weight=core.class_weight, tol=1e-9, max_iter=9999)
    kind = IMMAXClassifier if isinstance(core, IMMAXClassifier) else BaselineClassifier
    return kind(**{**core.get_params(deep=False), "tol": 1e-9})


@pytest.mark.parametrize("classes", [2, 3])
def test_a_choice_of_the_sample_is_fitted_to_all_training_rows(opened, classes):
    from copy import deepcopy

    from immax.compare.chosen_models import linear_models

    X, y, table = opened(classes)
    folds = fold_numbers(np.arange(len(y)), FOLDS, SEED)
    train = folds != LEFT_OUT
    steps = prepare(table.schema).fit(X[train])
    labels, codes = np.unique(y, return_inverse=True)
    features, counts = steps.transform(X), np.bincount(codes)
    protocol = Protocol("log_loss", folds=FOLDS, search_rows=400)
    scorer, meter = protocol.scorer(labels, counts), ReadMeter()
    names = ["logistic", "weights", "immax", "la"]
    with TrainingRows(table, steps, protocol, seed=SEED, left_out=LEFT_OUT, meter=meter) as rows:
        chosen = [rows.choose(name, scorer).model for name in names]
        before = [deepcopy(linear_models(model)) for model in chosen]
        n_sample = len(rows._sample)
        rows.fit(chosen)
        found = rows.predict(chosen, [True] * len(chosen))
    assert 300 < n_sample < 500
    assert 5 < meter.passes < 25
    assert meter.n_bytes == meter.passes * features.nbytes
    for model, old, predictions in zip(chosen, before, found, strict=True):
        for core, sampled in zip(linear_models(model), old, strict=True):
            expected = _counterpart(sampled, n_sample, train.sum())
            expected.fit(features[train], codes[train])
            reached = core.predict_proba(features)
            np.testing.assert_allclose(reached, expected.predict_proba(features), atol=2e-3)
            assert np.abs(reached - sampled.predict_proba(features)).max() > 0.01
        np.testing.assert_allclose(
            np.concatenate(predictions.proba), model.predict_proba(features[~train]), atol=1e-6
        )
        assert (np.concatenate(predictions.labels) == model.predict(features[~train])).all()
        assert predictions.proba[0].dtype == np.float32
        assert predictions.labels[0].dtype == np.int16


def test_samples_that_lack_a_class_are_refused(opened):
    X, _, table = opened(2)
    steps = prepare(table.schema).fit(X)
    rows = TrainingRows(table, steps, Protocol(search_rows=5))
    with pytest.raises(WrongCall, match="raise --search-rows"), rows:
        pass


def test_a_fold_with_all_rows_of_a_class_is_refused(opened, tmp_path):
    X, y, _ = opened(2)
    folds = fold_numbers(np.arange(len(y)), FOLDS, SEED)
    y[:] = np.where((y == "yes") & (folds == LEFT_OUT), "yes", "no")
    X.assign(y=y).to_parquet(tmp_path / "table.parquet")
    table = open_streamed(tmp_path / "table.parquet", "y")
    steps = prepare(table.schema).fit(X)
    rows = TrainingRows(table, steps, Protocol(folds=FOLDS), seed=SEED, left_out=LEFT_OUT)
    with pytest.raises(WrongCall, match="'yes' are held out in one fold: use fewer --folds"), rows:
        pass
