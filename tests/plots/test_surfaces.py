"""Gains over equal margins against the training error."""

import numpy as np
import pytest

from immax.bench.surface_tables import Surfaces
from immax.plots import SurfacesDisplay, plot_surfaces


@pytest.fixture
def surfaces():
    accuracy = np.array(
        [[[0.50, 0.52, 0.54], [0.60, 0.60, 0.60]], [[0.50, 0.54, 0.50], [0.60, 0.64, 0.58]]]
    )
    tests = {("balanced", "accuracy"): accuracy, ("balanced", "log_loss"): accuracy}
    train = np.array([[[0.9, 0.9, 0.9], [1.0, 1.0, 1.0]]] * 2)
    return Surfaces("made up", "λ", np.array([0.1, 0.01]), np.array([0.0, 0.25, 0.5]), train, tests)


def test_a_line_for_each_power_but_zero(surfaces, ax):
    display = SurfacesDisplay.from_surfaces([surfaces], "balanced", "accuracy").plot([ax])
    assert display.axes_ == (ax,)
    panel = display.panels[0]
    np.testing.assert_allclose(panel.training_error, [10, 0.01])  # the least that is drawn
    assert list(panel.gains) == [0.25, 0.5]
    first, second = (bars.lines[0] for bars in ax.containers)
    np.testing.assert_allclose(first.get_ydata(), [3, 2])
    np.testing.assert_allclose(second.get_ydata(), [2, -1])
    deviation = ax.containers[0].lines[2][0].get_segments()[0]
    np.testing.assert_allclose(np.ptp(deviation[:, 1]) / 2, np.std([2, 4], ddof=1))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["t = 0.25", "t = 0.50"]
    assert ax.get_ylabel() == "gain in accuracy over t = 0"
    assert ax.get_title() == "made up"
    assert ax.xaxis_inverted()


def test_lower_is_better_for_losses(surfaces):
    up = SurfacesDisplay.from_surfaces([surfaces], "balanced", "accuracy").panels[0].gains[0.25]
    down = SurfacesDisplay.from_surfaces([surfaces], "balanced", "log_loss").panels[0].gains[0.25]
    assert (np.sign(up) == -np.sign(down)).all()


def test_a_panel_for_each_data_set(surfaces, tmp_path):
    path = tmp_path / "surfaces.svg"
    figure = plot_surfaces([surfaces, surfaces], "balanced", "accuracy", path)
    assert len(figure.axes) == 2
    assert figure.axes[0].get_ylabel()
    assert not figure.axes[1].get_ylabel()
    assert path.read_text().startswith("<?xml")


def test_one_run_has_no_deviation(surfaces, ax):
    tests = {key: values[:1] for key, values in surfaces.tests.items()}
    one = Surfaces("one", "λ", surfaces.settings, surfaces.powers, surfaces.train[:1], tests)
    SurfacesDisplay.from_surfaces([one], "balanced", "accuracy").plot([ax])
    assert not ax.containers[0].has_yerr
