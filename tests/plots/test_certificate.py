"""The bounds of a certificate, term by term."""

import numpy as np
import pytest

from immax.plots import CertificateDisplay, plot_certificate
from immax.plots.axes import TOOLTIP
from immax.theory import Bound, certificate

RHO = np.ones(2)


def test_terms_are_stacked_and_totals_written(ax):
    bounds = (Bound(0.1, 0.3, 0.05, "1", RHO), Bound(0.2, 0.1, 0.05, "2", RHO))
    CertificateDisplay(bounds, ("first", "second"), 0.07).plot(ax)
    corners = [(bar.get_x(), bar.get_width(), bar.get_y() + 0.25) for bar in ax.patches]
    np.testing.assert_allclose(
        corners,
        [(0, 0.1, 1), (0, 0.2, 0), (0.1, 0.3, 1), (0.2, 0.1, 0), (0.4, 0.05, 1), (0.3, 0.05, 0)],
    )
    assert [text.get_text() for text in ax.texts] == ["0.45", "0.35"]
    error, vacuous = ax.lines
    assert error.get_xdata() == [0.07, 0.07]
    assert vacuous.get_xdata() == [1, 1]
    assert [text.get_text() for text in ax.get_yticklabels()] == ["first", "second"]
    assert ax.patches[2].get_gid() == f"{TOOLTIP}first: complexity 0.300"
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert {"training error", "empirical margin loss", "complexity", "confidence"} <= set(legend)


def test_a_bound_far_above_one_is_cut_off_and_its_value_given(ax):
    bounds = (Bound(0.1, 500.0, 0.05, "1", RHO), Bound(0.2, 0.5, 0.05, "2", RHO))
    CertificateDisplay(bounds, ("first", "second"), 0.07).plot(ax)
    assert ax.get_xlim() == (0, 2.5)
    assert ax.texts[0].get_text() == "500"
    assert ax.texts[0].get_position()[0] == 2.5
    assert ax.texts[1].get_position()[0] == pytest.approx(0.75)


def test_the_line_at_one_is_always_seen(ax):
    bounds = (Bound(0.01, 0.02, 0.01, "1", RHO),)
    CertificateDisplay(bounds, ("small",), 0.0).plot(ax)
    assert ax.get_xlim()[1] > 1


def test_both_bounds_of_a_certificate(data, model, ax):
    found = certificate(model, *data)
    assert plot_certificate(found, ax) is ax
    display = CertificateDisplay.from_certificate(found)
    assert display.bounds == (found.own, found.best)
    assert display.training_error == found.training_error
    assert len(ax.patches) == 6
