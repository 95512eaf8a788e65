"""The path of coefficients, as an object and as a drawing."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.preprocessing import scale

from immax import IMMAXClassifier
from immax.paths import path
from immax.plots import CoefficientPathDisplay, plot_coefficient_path


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return scale(X), y


def test_a_line_for_each_feature_and_the_number_of_features(iris, ax):
    fitted = path(*iris, n_lams=8, ratio=0.01)
    display = CoefficientPathDisplay.from_path(fitted, list("abcd"), lam=0.05).plot(ax)
    assert display.sizes.shape == (8, fitted.used().size)
    assert ax.get_xscale() == "log"
    low, high = ax.get_xlim()
    assert low > high  # strong penalties on the left
    drawn = [line.get_ydata() for line in ax.lines[: display.sizes.shape[1]]]
    np.testing.assert_allclose(np.array(drawn).T, display.sizes)
    assert np.abs(display.sizes).max(axis=0).argmax() == 0
    legend = {text.get_text() for text in ax.get_legend().get_texts()}
    assert "chosen lambda" in legend


def test_two_classes_show_signs(iris, ax):
    X, y = iris
    fitted = path(X, y == 1, n_lams=5, ratio=0.01)
    assert plot_coefficient_path(fitted, ax=ax) is ax
    display = CoefficientPathDisplay.from_path(fitted)
    assert (display.sizes < 0).any()
    assert display.names[0].startswith("feature ")


def test_from_an_estimator(iris):
    model = IMMAXClassifier(penalty="group", lam=0.02)
    display = CoefficientPathDisplay.from_estimator(model, *iris)
    assert display.lam == 0.02
    assert display.lams.size == 50
