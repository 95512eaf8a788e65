"""The search on Dask collections."""

import pickle

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from parted_cases import cut, rows

from immax import IMMAXClassifierCV
from immax.distributed import DaskIMMAXClassifierCV
from immax.distributed.parted_search import PartedIMMAXCV


@pytest.mark.filterwarnings("ignore:Dask currently has limited support")
def test_a_search_on_a_cluster(client):
    X, y = rows(3, 1500)
    given = {"n_margins": 3, "lams": [1e-3, 1e-1], "cv": 3, "scoring": "balanced_accuracy"}
    data, labels = da.from_array(X, chunks=(400, -1)), da.from_array(y, chunks=400)
    model = DaskIMMAXClassifierCV(client=client, **given).fit(data, labels)
    here = PartedIMMAXCV(**given)
    here._fit_parts(cut(X, y))
    np.testing.assert_allclose(
        model.cv_results_["mean_test_score"], here.cv_results_["mean_test_score"], atol=1e-9
    )
    np.testing.assert_allclose(model.coef_, here.coef_, atol=1e-6)
    local = pickle.loads(pickle.dumps(model)).to_local()
    assert type(local) is IMMAXClassifierCV
    for method in ("predict", "predict_proba", "decision_proba", "decision_function"):
        found = getattr(model, method)(data)
        assert isinstance(found, da.Array)
        np.testing.assert_array_equal(found.compute(), getattr(local, method)(X))
    assert model.score(data, labels) == local.score(X, y)
    frame = pd.DataFrame(X).add_prefix("x")
    table = dd.from_pandas(frame, npartitions=2)
    series = dd.from_pandas(pd.Series(y), npartitions=2)
    model = DaskIMMAXClassifierCV(n_margins=1, lams=[0.1], cv=2).fit(table, series)
    assert model.predict_proba(table).divisions == table.divisions
    assert model.best_estimator_.feature_names_in_.tolist() == frame.columns.tolist()
