"""The diagram of mean ranks."""

import numpy as np

from immax.plots.ranks import _cliques, plot_ranks


def test_methods_within_the_critical_difference_are_joined():
    assert _cliques(np.array([1.0, 1.5, 2.4, 4.0]), 1.0) == [(0, 1), (1, 2)]


def test_the_diagram_is_written_as_svg(tmp_path):
    path = tmp_path / "ranks.svg"
    plot_ranks(["a", "b", "c", "d"], np.array([1.0, 1.5, 2.4, 4.0]), 50, path)
    assert path.read_text().startswith("<?xml")
