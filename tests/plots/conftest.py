"""Axes that need no screen, and models that several plots draw."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

from immax import IMMAXClassifier, IMMAXClassifierCV

mpl = pytest.importorskip("matplotlib")
mpl.use("agg")


@pytest.fixture
def ax():
    from matplotlib.figure import Figure

    return Figure().subplots()


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    from matplotlib import pyplot

    pyplot.close("all")


@pytest.fixture(scope="session")
def data():
    X, y = load_breast_cancer(return_X_y=True)
    return scale(X[:, :6]), y


@pytest.fixture(scope="session")
def model(data):
    return IMMAXClassifier().fit(*data)


@pytest.fixture(scope="session")
def search(data):
    return IMMAXClassifierCV(lams=np.array([0.01, 0.1]), n_margins=4, cv=3).fit(*data)
