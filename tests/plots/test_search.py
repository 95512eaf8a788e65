"""The heat map of a search."""

import numpy as np
import pytest

from immax import IMMAXSVCCV, IMMAXClassifierCV
from immax.plots import SearchDisplay, plot_search
from immax.plots.axes import TOOLTIP


def test_the_table_becomes_a_grid(search):
    display = SearchDisplay.from_search(search)
    table = search.cv_results_
    assert display.strengths.tolist() == [0.01, 0.1]
    assert display.scores.shape == (2, display.parameters.size)
    for i, lam in enumerate(display.strengths):
        for j, parameter in enumerate(display.parameters):
            cells = [
                k
                for k, point in enumerate(table["param_parameters"])
                if point[0] == parameter and table["param_lam"][k] == lam
            ]
            assert display.scores[i, j] == max(table["mean_test_score"][k] for k in cells)
            assert display.near_best[i, j] == any(table["near_best"][k] for k in cells)
    assert display.best == (search.best_parameters_[0], search.best_lam_)
    assert display.theory == pytest.approx(1 / 3)


def test_what_is_drawn_where(ax):
    scores = np.array([[0.5, 0.6, np.nan], [0.7, 0.9, 0.8]])
    near_best = scores > 0.75
    grid = np.array([0.0, 0.5, 1.0]), np.array([0.1, 1.0])
    SearchDisplay(*grid, scores, near_best, (0.5, 1.0), 0.25, "C").plot(ax)
    assert len(ax.patches) == 6
    assert ax.patches[4].get_xy() == (0.5, 0.5)
    assert ax.patches[4].get_gid() == f"{TOOLTIP}parameter 0.500, C 1: 0.9000"
    circles, cross = ax.collections[:2]
    assert circles.get_offsets().tolist() == [[1, 1], [2, 1]]
    assert cross.get_offsets().tolist() == [[1, 1]]
    assert ax.lines[0].get_xdata() == [0.5, 0.5]  # halfway between the columns of 0 and 0.5
    assert [text.get_text() for text in ax.get_xticklabels()] == ["0.00", "0.50", "1.00"]
    assert [text.get_text() for text in ax.get_yticklabels()] == ["0.1", "1"]
    assert ax.get_ylabel() == "C"
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert sorted(legend) == ["chosen", "theory", "within a standard error"]


def test_margins_and_class_weights_have_a_column_for_each_pair(data, ax):
    X, y = data[0][::3], data[1][::3]
    search = IMMAXClassifierCV(lams=[0.01, 0.1], cv=2, aim="balanced_accuracy").fit(X, y)
    display = SearchDisplay.from_search(search)
    assert display.scores.shape == (2, 4)
    assert display.theory == (pytest.approx(1 / 3), 0.0)
    display.plot(ax)
    labels = [text.get_text() for text in ax.get_xticklabels()]
    assert labels == ["-0.33, 1.00", "0.00, 0.00", "0.00, 1.00", "0.33, 0.00"]
    chosen = ", ".join(f"{value:.2f}" for value in search.best_parameters_)
    ((x, row),) = ax.collections[1].get_offsets()
    assert labels[int(x)] == chosen
    assert display.strengths[int(row)] == search.best_lam_
    assert ax.lines[0].get_xdata() == [3, 3]


def test_the_function_returns_the_axes(search, ax):
    assert plot_search(search, ax) is ax
    assert ax.get_xlabel() == "parameter of the margins"


def test_the_strength_of_a_kernel_search_is_c(data, ax):
    X, y = data[0][::5], data[1][::5]
    search = IMMAXSVCCV(Cs=[0.1, 1.0], n_margins=2, cv=2).fit(X, y)
    assert plot_search(search, ax).get_ylabel() == "C"


def test_searches_that_cannot_be_drawn():
    with pytest.raises(ValueError, match="has not been fitted"):
        plot_search(IMMAXClassifierCV())
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 2)), np.repeat([0, 1, 2], 30)
    search = IMMAXClassifierCV(family="free", lams=[0.1], n_margins=6, cv=2, budget=80).fit(X, y)
    with pytest.raises(ValueError, match="families of one parameter"):
        plot_search(search)
