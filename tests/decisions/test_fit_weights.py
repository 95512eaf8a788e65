"""Sample weights for the fit of any estimator."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from immax.decisions.fit_weights import weight_params

WEIGHT = np.array([1.0, 2.0])


def test_by_name():
    assert weight_params(LogisticRegression(), None) == {}
    assert weight_params(LogisticRegression(), WEIGHT) == {"sample_weight": WEIGHT}
    search = GridSearchCV(LogisticRegression(), {"C": [1]})  # passes all parameters on
    assert weight_params(search, WEIGHT) == {"sample_weight": WEIGHT}


def test_pipelines_give_them_to_the_last_step():
    inner = make_pipeline(LogisticRegression())
    model = make_pipeline(StandardScaler(), inner)
    assert weight_params(model, WEIGHT) == {"pipeline__logisticregression__sample_weight": WEIGHT}


@pytest.mark.parametrize("model", [KNeighborsClassifier(), make_pipeline(KNeighborsClassifier())])
def test_estimators_without_weights_are_named(model):
    with pytest.warns(UserWarning, match="KNeighborsClassifier takes no sample_weight"):
        assert weight_params(model, WEIGHT) == {}
