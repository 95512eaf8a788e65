"""The coefficients of linear models along a decreasing sequence of lambda."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from immax.arrays import Array, Features
from immax.paths import CoefficientPath, path
from immax.plots.axes import COLOURS, get_axes, set_tooltip
from immax.plots.display import Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["CoefficientPathDisplay", "plot_coefficient_path"]

MOST_LINES = 60  # features, by their largest coefficient
MOST_NAMES = 7  # in the legend


@dataclass(eq=False)
class CoefficientPathDisplay(Display):
    """Coefficients of features against lambda, and the number of features that are used.

    Parameters
    ----------
    lams : ndarray of shape (n_lams,)
        The strengths of the penalty, the largest first.
    sizes : ndarray of shape (n_lams, n_features)
        For two classes the coefficients of the features that are drawn, for more the norms of
        their coefficients for all classes; the largest features first.
    names : sequence of str
        The names of these features.
    n_features_used : ndarray of int, shape (n_lams,)
        The number of features of each model.
    lam : float or None
        A lambda to mark.
    """

    lams: Array
    sizes: Array
    names: Sequence[str]
    n_features_used: Array
    lam: float | None = None

    @classmethod
    def from_path(
        cls,
        fitted: CoefficientPath,
        feature_names: Sequence[str] | None = None,
        lam: float | None = None,
    ) -> Self:
        """Create the display from a path.

        Parameters
        ----------
        fitted : CoefficientPath
            The result of ``immax.paths.path``.
        feature_names : sequence of str, optional
            Names of all features; by default those of the path, or their numbers.
        lam : float, optional
            A lambda to mark, such as the one that a search chose.

        Returns
        -------
        CoefficientPathDisplay
        """
        used = fitted.used()
        coefficients = fitted.coefficients(used)
        two = coefficients.shape[1] == 1
        sizes = coefficients[:, 0] if two else np.linalg.norm(coefficients, axis=1)
        largest = np.argsort(-np.abs(sizes).max(axis=0), kind="stable")[:MOST_LINES]
        names = fitted.feature_names if feature_names is None else feature_names
        chosen = used[largest]
        labels = [f"feature {j}" if names is None else str(names[j]) for j in chosen]
        return cls(fitted.lams, sizes[:, largest], labels, fitted.n_features_used, lam)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Features, y: ArrayLike) -> Self:
        """Create the display for a classifier, whose own lambda is marked.

        Parameters
        ----------
        estimator : IMMAXClassifier, BaselineClassifier or IMMAXClassifierCV
            With a penalty that uses few features; a search must be fitted.
        X, y
            The data that it is fitted to.

        Returns
        -------
        CoefficientPathDisplay
        """
        model = getattr(estimator, "best_estimator_", estimator)
        return cls.from_path(path(X, y, model), lam=float(model.lam))

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw a line for each feature, strong penalties on the left.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on; by default those of a new figure.

        Returns
        -------
        CoefficientPathDisplay
            The display itself.
        """
        self.ax_ = ax = get_axes(ax, 7, 4.2)
        for number, (name, column) in enumerate(zip(self.names, self.sizes.T, strict=True)):
            label = name if number < MOST_NAMES else None
            colour = COLOURS[number % len(COLOURS)] if label else "0.75"
            (line,) = ax.plot(self.lams, column, color=colour, label=label, linewidth=1.2)
            set_tooltip(line, f"{name}: {column[-1]:+.3g} at lambda {self.lams[-1]:.3g}")
        if self.lam is not None:
            ax.axvline(self.lam, color="0.4", linestyle=":", label="chosen lambda")
        ax.axhline(0, color="0.6", linewidth=0.8)
        ax.set_xscale("log")
        ax.invert_xaxis()
        ax.set_xlabel("lambda")
        ax.set_ylabel("coefficient")
        top = ax.secondary_xaxis("top")
        shown = np.unique(np.linspace(0, self.lams.size - 1, 6).astype(int))
        top.set_xticks(self.lams[shown], [str(count) for count in self.n_features_used[shown]])
        top.minorticks_off()
        top.set_xlabel("features used")
        if self.names:
            ax.legend(fontsize="x-small")
        return self


def plot_coefficient_path(
    fitted: CoefficientPath,
    feature_names: Sequence[str] | None = None,
    lam: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the coefficients of the models of a path against lambda.

    Parameters
    ----------
    fitted : CoefficientPath
        The result of ``immax.paths.path``.
    feature_names : sequence of str, optional
        Names of all features.
    lam : float, optional
        A lambda to mark.
    ax : matplotlib Axes, optional
        The axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib Axes
    """
    return CoefficientPathDisplay.from_path(fitted, feature_names, lam).plot(ax).ax_
