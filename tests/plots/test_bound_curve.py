"""The uniform bound against the scale of the margins."""

import numpy as np
import pytest

from immax.plots import BoundCurveDisplay, plot_bound_curve
from immax.theory import certificate


@pytest.fixture(scope="module")
def found(data, model):
    return certificate(model, *data)


def test_the_curve_is_smallest_at_one(found):
    display = BoundCurveDisplay.from_certificate(found)
    totals = display.empirical + display.complexity + display.confidence
    assert display.least == found.best.total
    assert (totals >= display.least - 1e-9).all()
    assert display.scale[0] < 1 <= display.scale[-1] * (1 + 1e-9)


def test_the_terms_are_stacked(ax):
    scale, ones = np.array([0.5, 1.0, 2.0]), np.ones(3)
    BoundCurveDisplay(scale, 0.1 * ones, 0.3 * ones, 0.2 * ones, 0.6).plot(ax)
    tops = [area.get_paths()[0].vertices[:, 1].max() for area in ax.collections]
    assert tops == pytest.approx([0.1, 0.4, 0.6])
    assert [area.get_label() for area in ax.collections] == [
        "empirical margin loss",
        "complexity",
        "confidence",
    ]
    vacuous, best = ax.lines
    assert vacuous.get_ydata() == [1, 1]
    assert best.get_xdata() == [1, 1]
    assert ax.get_ylim() == (0, 1.6)
    assert ax.get_xscale() == "log"


def test_a_certificate_draws_itself(found, ax):
    assert found.plot(ax) is ax
    assert len(ax.collections) == 3
    from matplotlib.figure import Figure

    other = plot_bound_curve(found, Figure().subplots())
    assert other.get_xlabel() == ax.get_xlabel() == "margins, as a multiple of the best ones"
