"""The link in ONNX against the link in NumPy."""

import numpy as np
import pytest
from onnx_models import evaluate

from immax.calibration import ScoreCalibration
from immax.links import immax_proba, spec_proba
from immax.losses import catalog
from immax.margins import power_margins
from immax.onnx.links import add_calibration, add_immax_link, add_spec_link, normalise

COUNTS = [900, 300, 90, 30, 10]
SHARED = [900, 90, 90, 10, 10]  # classes that share a margin are one state


@pytest.mark.parametrize("loss", ["logistic", "exponential"])
@pytest.mark.parametrize("scale", [1.0, 30.0, 1000.0])
@pytest.mark.parametrize("counts", [[900, 100], COUNTS, SHARED, [5, 5, 5]])
def test_immax(counts, loss, scale):
    rho = power_margins(counts, 1 / 3)
    scores = scale * np.random.default_rng(0).normal(size=(50, len(counts)))
    if len(counts) == 2:
        scores = scores[:, :1]
    given = scores[:, 0] if len(counts) == 2 else scores
    found = evaluate(scores, lambda graph, h: add_immax_link(graph, h, rho, loss))
    np.testing.assert_allclose(found, immax_proba(given, rho, loss), atol=1e-9)


@pytest.mark.parametrize("method", [name for name in catalog.METHODS if name != "equal"])
@pytest.mark.parametrize("counts", [[900, 100], COUNTS])
def test_methods_of_the_catalogue(method, counts):
    spec = catalog.make_spec(method, counts)
    scores = 3 * np.random.default_rng(1).normal(size=(40, len(counts)))
    found = evaluate(scores, lambda graph, h: add_spec_link(graph, h, spec))
    np.testing.assert_allclose(found, spec_proba(scores, spec), atol=1e-9)


def test_the_equalization_loss_is_refused():
    spec = catalog.equal(COUNTS, threshold=0.05)
    with pytest.raises(NotImplementedError, match="equalization"):
        evaluate(np.zeros((2, 5)), lambda graph, h: add_spec_link(graph, h, spec))


@pytest.mark.parametrize("columns", [1, 3])
def test_calibration(columns):
    scores = np.random.default_rng(2).normal(size=(20, columns))
    own = ScoreCalibration(np.linspace(0.5, 2, columns), np.linspace(-1, 1, columns))
    found = evaluate(scores, lambda graph, h: add_calibration(graph, h, own.slopes, own.offsets))
    np.testing.assert_allclose(found, own.proba(scores), atol=1e-12)


def test_rows_sum_to_one():
    found = evaluate(np.array([[1.0, 3.0], [2.0, 2.0]]), normalise)
    np.testing.assert_allclose(found, [[0.25, 0.75], [0.5, 0.5]])
