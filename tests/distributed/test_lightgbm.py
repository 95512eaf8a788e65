"""LightGBM on Dask: what it does not take."""

import numpy as np
import pytest
from dask_cases import place, sample

from immax.distributed import DaskIMMAXLGBMClassifier

pytestmark = pytest.mark.filterwarnings("ignore")  # of Dask and LightGBM


def test_what_is_refused(client):
    X, y = sample(2, 100)
    data, labels = place(X, client), place(y, client)
    model = DaskIMMAXLGBMClassifier(n_estimators=2, verbose=-1)
    with pytest.raises(ValueError, match="does not take eval_set"):
        model.fit(data, labels, eval_set=[(data, labels)])
    model.fit(data, labels)
    for name in ("pred_leaf", "pred_contrib"):
        with pytest.raises(ValueError, match=f"{name} is an option of to_local"):
            model.predict(data, **{name: True})


def test_contributions_of_the_local_model_add_up(client):
    X, y = sample(3, 200)
    model = DaskIMMAXLGBMClassifier(n_estimators=3, verbose=-1, linear_tree=False)
    local = model.fit(place(X, client), place(y, client)).to_local()
    parts = local.predict(X, pred_contrib=True).reshape(len(X), 3, -1).sum(axis=-1)
    np.testing.assert_allclose(parts, local.decision_function(X), atol=1e-9)
