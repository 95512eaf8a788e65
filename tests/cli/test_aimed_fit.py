"""The search of ``immax fit``."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

from immax.cli.aim_options import AimOptions
from immax.cli.aimed_fit import describe_fit, make_search
from immax.errors import WrongCall


@pytest.fixture(scope="module")
def data():
    return make_classification(120, 3, n_redundant=0, weights=[0.8], random_state=0)


@pytest.mark.parametrize(
    ("loss", "options", "name"),
    [
        ("logistic", {}, "accuracy"),
        ("logistic", {"metric": "roc_auc"}, "roc_auc"),
        ("logistic", {"costs": "0=1,1=10"}, "costs"),
        ("hinge", {"budget": "10%"}, "budget"),
    ],
)
def test_what_was_chosen(data, loss, options, name):
    X, y = data
    search = make_search(loss, AimOptions(**options), y, 2, 0)
    assert search.name.startswith(name)
    if loss == "hinge":
        search.model.set_params(lams=[0.01, 0.1])
    choice = describe_fit(search.model.fit(X, y), search.sign)
    weighted = {"weight_power"} if options.keys() & {"costs", "budget"} else set()
    assert set(choice) == {"score", "power", "lam", "rule"} | weighted
    if name == "costs":
        cost = np.where(y == 1, 10, 1)[search.model.predict(X) != y].sum() / len(y)
        assert 0 < choice["score"] < 3 * cost + 0.5
        assert choice["rule"].startswith("predict 1 when its probability is at least 0.0909")


def test_limits_are_those_of_a_comparison(data):
    _, y = data
    with pytest.raises(WrongCall, match="did you mean 'accuracy'"):
        make_search("logistic", AimOptions(metric="acuracy"), y, 5, 0)
    rare = np.r_[np.zeros(20, int), np.ones(3, int)]
    assert make_search("logistic", AimOptions(), rare, 5, 0).model.cv == 3
