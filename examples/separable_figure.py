"""The paper's figure: three hyperplanes of a separable sample, and how they fare beyond it.

Left, the sample: many negatives, few positives, and the hyperplanes of the SVM, LDAM and IMMAX,
which differ only in how they split the geometric margin. Right, the distribution that the sample
came from. Then the same for many samples: how often each one's error is the lowest.

    python examples/separable_figure.py [FILE.png]
"""

import sys

import numpy as np
from scipy.special import ndtr

from immax.theory import Hyperplane, hyperplanes

MEANS = np.array([[-2.0, -1.0], [2.0, 1.0]])
COUNTS = (300, 12)
COLOURS = {"SVM": "black", "LDAM": "#cc3311", "IMMAX": "#0077bb"}


def draw(rng: np.random.Generator, counts: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Two round Gaussians, as many samples of each as the counts say."""
    y = np.repeat([0, 1], counts)
    return MEANS[y] + rng.normal(size=(y.size, 2)), y


def separable_sample(
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray, dict[str, Hyperplane]]:
    """The first of the samples that a hyperplane separates."""
    while True:
        X, y = draw(rng, COUNTS)
        try:
            return X, y, hyperplanes(X, y)
        except ValueError:
            continue


def error(plane: Hyperplane) -> float:
    """On the full distribution, with the sample's class shares; exact."""
    share = COUNTS[1] / sum(COUNTS)
    distance = MEANS @ plane.normal + plane.offset
    return float((1 - share) * ndtr(distance[0]) + share * ndtr(-distance[1]))


def panels(X: np.ndarray, y: np.ndarray, planes: dict[str, Hyperplane], path: str) -> None:
    """Draw both panels into a file."""
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(10, 4.4), layout="constrained", sharey=True)
    X_all, y_all = draw(np.random.default_rng(1), (COUNTS[0] * 12, COUNTS[1] * 12))
    for ax, points, labels, size in ((axes[0], X, y, 14), (axes[1], X_all, y_all, 3)):
        for k, colour in ((0, "#88bbdd"), (1, "#ee9944")):
            ax.scatter(*points[labels == k].T, s=size, color=colour, linewidths=0)
        for name, plane in planes.items():
            ends = np.array([-6.0, 6.0])
            along = np.array([-plane.normal[1], plane.normal[0]])
            line = -plane.offset * plane.normal + np.outer(ends, along)
            label = name if ax is axes[0] else f"{name}: error {100 * error(plane):.2f} %"
            style = "-" if name == "SVM" else "--"
            ax.plot(*line.T, style, color=COLOURS[name], label=label, linewidth=1.8)
        ax.set(xlim=(-6, 6), ylim=(-5, 5), aspect="equal")
        ax.legend(loc="upper left")
    axes[0].set_title(f"The sample: {COUNTS[0]} negatives, {COUNTS[1]} positives")
    axes[1].set_title("The full distribution, same class shares")
    figure.savefig(path, dpi=150)


def main() -> None:
    """Draw the figure, and print how often and by how much each one wins."""
    path = sys.argv[1] if len(sys.argv) > 1 else "separable.png"
    X, y, planes = separable_sample(np.random.default_rng(0))
    for name, plane in planes.items():
        print(f"{name:6} error {100 * error(plane):.2f} % on the full distribution")
    try:
        panels(X, y, planes, path)
        print(f"drawn in {path}")
    except ModuleNotFoundError:
        print('not drawn: pip install "immax[report]"')
    rng = np.random.default_rng(1)
    draws = 300
    errors = np.array(
        [[error(plane) for plane in separable_sample(rng)[2].values()] for _ in range(draws)]
    )
    names = list(planes)
    lowest = np.bincount(errors.argmin(axis=1), minlength=len(names))
    for i, name in enumerate(names):
        print(
            f"{name:6} lowest in {lowest[i]} of {draws} samples, mean error "
            f"{100 * errors[:, i].mean():.2f} %"
        )


if __name__ == "__main__":
    main()
