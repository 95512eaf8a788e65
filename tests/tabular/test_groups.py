"""Groups of one-hot columns, and models that are given them."""

import numpy as np
import pandas as pd
import pytest

from immax import IMMAXClassifier
from immax.tabular import describe_columns, fit_prepared, prepare


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    n = 200
    colour = rng.choice(["red", "blue", "green", "rare"], n, p=[0.4, 0.3, 0.285, 0.015])
    table = pd.DataFrame(
        {
            "age": rng.normal(40, 10, n),
            "noise": rng.normal(size=n),
            "colour": colour,
            "coin": rng.choice(["heads", "tails"], n),
        }
    )
    y = (table["colour"] == "red").to_numpy() ^ (rng.random(n) < 0.1)
    return table, y


def test_a_model_by_groups_is_given_them(table):
    X, y = table
    model = fit_prepared(
        prepare(describe_columns(X)), IMMAXClassifier(penalty="group", lam=0.05), X, y
    )
    groups = np.array(model[-1].groups)
    kept = {group for group in groups if model[-1].coef_[:, groups == group].any()}
    assert kept == {"colour"}
    assert (model[-1].coef_[0, groups == "colour"] != 0).all()
    assert model.predict(X).shape == y.shape


def test_other_models_are_left_alone(table):
    X, y = table
    own = ["a"] * len(prepare(describe_columns(X)).fit(X)["features"].variables_)
    for classifier in (IMMAXClassifier(), IMMAXClassifier(penalty="group", groups=own)):
        model = fit_prepared(prepare(describe_columns(X)), classifier, X, y)
        assert model[-1].groups == classifier.groups
