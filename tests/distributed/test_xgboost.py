"""XGBoost on Dask: evaluation sets and early stopping."""

import numpy as np
import pytest
from dask_cases import place, sample
from sklearn.metrics import log_loss

from immax.decisions import Costs
from immax.distributed import DaskIMMAXXGBClassifier

pytestmark = pytest.mark.filterwarnings("ignore")  # of Dask and XGBoost


@pytest.mark.parametrize("c", [2, 3])
def test_metrics_are_of_the_rows_of_all_workers(c, client):
    X, y = sample(c)
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
    data, labels, weights = (place(one, client) for one in (X, y, weight))
    # Parts of very different sizes, so that a mean of the workers' means is another number.
    rows = np.r_[np.arange(10), np.arange(100, 400)]
    held_out = place(X[rows], client, parts=2), place(y[rows], client, parts=2)
    model = DaskIMMAXXGBClassifier(
        n_estimators=4, n_jobs=1, power=0.8, eval_metric=["error", "logloss", "margin_loss"]
    )
    model.fit(
        data,
        labels,
        eval_set=[(data, labels), held_out],
        sample_weight_eval_set=[weights, None],
    )
    history = model.evals_result()
    local = model.to_local()
    expected = log_loss(y, local.predict_proba(X), sample_weight=weight)
    assert history["validation_0"]["logloss"][-1] == pytest.approx(expected, rel=1e-4)
    expected = log_loss(y[rows], local.predict_proba(X[rows]), labels=local.classes_)
    assert history["validation_1"]["logloss"][-1] == pytest.approx(expected, rel=1e-4)
    expected = np.mean(local.predict(X[rows]) != y[rows])
    assert history["validation_1"]["error"][-1] == pytest.approx(expected, abs=1e-5)
    assert local.evals_result() == history


def test_early_stopping(client):
    X, y = sample(2)
    data, labels = place(X, client), place(y, client)
    held_out = place(X[::3], client), place(np.roll(y[::3], 40), client)  # labels that do not fit
    model = DaskIMMAXXGBClassifier(n_estimators=30, n_jobs=1, early_stopping_rounds=2)
    model.fit(data, labels, eval_set=[held_out])
    assert model.best_iteration < 5
    np.testing.assert_array_equal(
        model.predict_proba(data).compute(), model.to_local().predict_proba(X)
    )


def test_what_is_refused(client):
    X, y = sample(2, 100)
    data, labels = place(X, client), place(y, client)
    for metric in ("auc", log_loss):
        with pytest.raises(ValueError, match="does not follow from those of the workers"):
            DaskIMMAXXGBClassifier(eval_metric=metric).fit(data, labels)
    model = DaskIMMAXXGBClassifier(n_estimators=1)
    with pytest.raises(NotImplementedError, match="a method of to_local"):
        model.apply(data)
    unknown = place(np.where(y == "a", "z", y), client)
    with pytest.raises(ValueError, match=r"eval_set\[0\] holds the label 'z'"):
        model.fit(data, labels, eval_set=[(data, unknown)])


def test_no_score_where_an_aim_leaves_samples_undecided(client):
    X, y = sample(2, 200)
    data, labels = place(X, client), place(y, client)
    aim = Costs([1, 1], abstain=0.1)
    model = DaskIMMAXXGBClassifier(n_estimators=2, n_jobs=1, aim=aim).fit(data, labels)
    with pytest.raises(ValueError, match="score the decided samples"):
        model.score(data, labels)
