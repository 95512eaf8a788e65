"""The paper's figure: three hyperplanes of a separable sample, and their errors on new data.

The left panel shows a sample with many negatives and few positives, and the hyperplanes of the
SVM, LDAM and IMMAX, which differ only in how they split the geometric margin. The right panel
shows the distribution that the sample comes from. The same is repeated for many samples, to count
how often each hyperplane has the lowest error and to compute its mean error.

The paper does not specify its distribution. Here, the frequent class is wide and the rare one is
compact, both with heavy tails (Student's t with three degrees of freedom). For comparison, the
same is done for two equal Gaussians: there, IMMAX is best most often, but not on average.

    python examples/separable_figure.py [FILE.png]
"""

import sys
from dataclasses import dataclass

import numpy as np

from immax.theory import Hyperplane, hyperplanes

COUNTS = (300, 12)
DRAWS = 200
COLOURS = {"SVM": "black", "LDAM": "#cc3311", "IMMAX": "#0077bb"}


@dataclass
class Distribution:
    """Two classes in the plane, of which the second may be narrower, and the tails heavy."""

    name: str
    distance: float
    width: float
    heavy: bool

    def draw(
        self, rng: np.random.Generator, counts: tuple[int, int]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Draw the given number of points of each class."""
        y = np.repeat([0, 1], counts)
        noise = rng.normal(size=(y.size, 2))
        if self.heavy:
            noise /= np.sqrt(rng.chisquare(3, y.size) / 3)[:, None]
        means = self.distance * np.array([[-1.0, -0.5], [1.0, 0.5]])
        return means[y] + noise * np.where(y == 1, self.width, 1.0)[:, None], y

    def separable_sample(
        self, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray, dict[str, Hyperplane]]:
        """Draw samples until a hyperplane separates one, and return it with its hyperplanes."""
        while True:
            X, y = self.draw(rng, COUNTS)
            try:
                return X, y, hyperplanes(X, y)
            except ValueError:
                continue

    def __post_init__(self) -> None:
        self._X, self._y = self.draw(np.random.default_rng(2), (200_000, 200_000))

    def error(self, plane: Hyperplane) -> float:
        """Return the error with the class shares of the sample, estimated from 400,000 points."""
        wrong = plane.predict(self._X) != self._y
        rates = [wrong[self._y == k].mean() for k in (0, 1)]
        return float(np.average(rates, weights=COUNTS))


def draw_panels(
    law: Distribution, X: np.ndarray, y: np.ndarray, planes: dict[str, Hyperplane], path: str
) -> None:
    """Save a figure with both panels."""
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(10, 4.6), layout="constrained", sharey=True)
    population = law.draw(np.random.default_rng(1), (COUNTS[0] * 12, COUNTS[1] * 12))
    for ax, (points, labels), size in ((axes[0], (X, y), 16), (axes[1], population, 4)):
        for k, colour in ((0, "#88bbdd"), (1, "#ee8833")):
            ax.scatter(*points[labels == k].T, s=size, color=colour, linewidths=0)
        for name, plane in planes.items():
            along = np.array([-plane.normal[1], plane.normal[0]])
            line = -plane.offset * plane.normal + np.outer([-20.0, 20.0], along)
            label = name if ax is axes[0] else f"{name}: error {100 * law.error(plane):.2f} %"
            style = "-" if name == "SVM" else "--"
            ax.plot(*line.T, style, color=COLOURS[name], label=label, linewidth=1.8)
        ax.set(xlim=(-9, 7), ylim=(-7, 7), aspect="equal")
        ax.legend(loc="lower left", framealpha=1)
    axes[0].set_title(f"The sample: {COUNTS[0]} negatives, {COUNTS[1]} positives")
    axes[1].set_title("The distribution, with the same class shares")
    figure.savefig(path, dpi=150)
    pyplot.close(figure)


def main() -> None:
    """Draw the figure, and print how often each hyperplane is best and its mean error."""
    path = sys.argv[1] if len(sys.argv) > 1 else "separable.png"
    compact = Distribution("a compact rare class, heavy tails", 3.5, 0.3, True)
    X, y, planes = compact.separable_sample(np.random.default_rng(0))
    try:
        draw_panels(compact, X, y, planes, path)
        print(f"saved to {path}")
    except ModuleNotFoundError:
        print('not drawn, Matplotlib is missing: pip install "immax[report]"')
    for law in (compact, Distribution("two equal Gaussians", 2.0, 1.0, False)):
        rng = np.random.default_rng(1)
        samples = (law.separable_sample(rng)[2] for _ in range(DRAWS))
        errors = np.array([[law.error(p) for p in planes.values()] for planes in samples])
        lowest = np.bincount(errors.argmin(axis=1), minlength=3)
        print(f"{law.name}, {DRAWS} separable samples:")
        for i, name in enumerate(COLOURS):
            less = 100 * (errors[:, i] - errors[:, 0])
            half = 1.96 * less.std(ddof=1) / np.sqrt(DRAWS)
            share = 100 * errors[:, i].mean()
            line = f"    {name:6} lowest error in {lowest[i]:3}, mean error {share:.3f} %"
            if name != "SVM":
                line += f", against the SVM {less.mean():+.3f} ± {half:.3f}"
            print(line)


if __name__ == "__main__":
    main()
