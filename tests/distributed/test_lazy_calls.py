"""Methods of local models on collections."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from parted_cases import rows

from immax import IMMAXClassifier
from immax.distributed.lazy_calls import LazyCall, call_lazily, mean_accuracy


def test_results_have_the_kind_of_the_rows(client):
    X, y = rows(3, 90)
    frame = pd.DataFrame(X).add_prefix("x")
    model = IMMAXClassifier().fit(X, y)
    data = da.from_array(X, chunks=(40, -1))
    found = call_lazily(model, "decision_function", data)
    assert found.chunks == ((40, 40, 10), (3,))
    np.testing.assert_allclose(found.compute(), model.decision_function(X))
    assert LazyCall(model, "predict", {})(X).tolist() == model.predict(X).tolist()
    named = IMMAXClassifier().fit(frame, y)
    table = dd.from_pandas(frame, npartitions=2)
    assert list(call_lazily(named, "predict_proba", table).columns) == [0, 1, 2]
    with pytest.raises(ValueError, match="fitted to a data frame"):
        call_lazily(named, "predict", data)
    labels, weight = da.from_array(y, chunks=40), da.arange(90, chunks=40)
    predicted = call_lazily(model, "predict", data)
    accuracy = mean_accuracy(predicted, labels, weight, client)
    assert accuracy == pytest.approx(model.score(X, y, np.arange(90)))
