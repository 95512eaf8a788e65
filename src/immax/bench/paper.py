"""The figures of the paper's tables.

They are accuracies in per cent on test sets as imbalanced as the training sets: mean and standard
deviation over five runs.
"""

from __future__ import annotations

from immax.bench.cells import Cell

__all__ = ["PAPER", "paper_figure"]

METHODS = ("ce", "rw", "bs", "equal", "la", "cb", "focal", "ldam", "immax")
DATA = ("cifar10", "cifar100", "tiny_imagenet")

# One row per method, in the order above; columns are the data sets.
LONG_TAILED = {
    200: """
        94.81 0.38 78.78 0.49 61.72 0.68
        92.36 0.11 67.52 0.76 48.16 0.72
        93.62 0.25 72.27 0.73 54.18 0.65
        94.21 0.21 76.23 0.80 60.63 0.85
        94.59 0.45 78.54 0.49 61.83 0.78
        94.95 0.46 79.36 0.81 62.51 0.71
        94.96 0.39 79.53 0.75 62.70 0.79
        95.45 0.38 79.18 0.71 63.70 0.62
        96.11 0.34 80.47 0.68 65.20 0.65
    """,
    100: """
        95.65 0.23 70.05 0.36 51.17 0.66
        93.32 0.51 63.35 0.26 43.73 0.54
        94.80 0.26 65.36 0.69 47.06 0.73
        95.15 0.39 68.81 0.29 50.34 0.78
        95.75 0.17 70.19 0.78 51.27 0.57
        95.83 0.11 69.85 0.75 51.58 0.65
        95.72 0.11 70.33 0.42 51.66 0.78
        95.85 0.10 70.43 0.52 52.00 0.53
        96.56 0.18 71.51 0.34 53.47 0.72
    """,
    10: """
        93.05 0.18 70.43 0.27 53.22 0.42
        91.45 0.26 67.35 0.51 48.46 0.78
        91.84 0.30 66.52 0.39 51.22 0.53
        92.30 0.18 68.64 0.60 51.77 0.30
        92.84 0.43 70.16 0.58 53.75 0.20
        92.96 0.27 70.31 0.63 53.66 0.58
        93.09 0.33 70.70 0.36 53.26 0.50
        93.16 0.25 70.94 0.29 53.61 0.20
        93.68 0.12 71.93 0.36 54.89 0.44
    """,
}
STEP = {
    200: """
        94.71 0.24 77.07 0.55 61.61 0.53
        90.31 0.38 72.59 0.26 58.49 0.61
        90.69 0.41 74.18 0.62 61.11 0.32
        93.43 0.23 76.85 0.38 61.81 0.39
        94.85 0.18 76.89 0.74 61.51 0.78
        94.92 0.18 77.04 0.13 61.55 0.57
        94.78 0.16 77.10 0.62 61.77 0.51
        94.85 0.23 77.18 0.50 62.54 0.51
        95.42 0.30 78.21 0.48 63.57 0.36
    """,
    100: """
        95.03 0.21 76.92 0.27 60.62 0.53
        90.74 0.19 68.17 0.82 53.24 0.65
        93.24 0.36 70.97 0.35 60.07 0.23
        94.04 0.30 77.17 0.20 60.46 0.64
        94.83 0.11 77.27 0.34 60.81 0.46
        95.08 0.28 76.88 0.44 60.63 0.37
        95.07 0.34 77.00 0.34 60.72 0.36
        95.17 0.24 77.05 0.45 62.33 0.46
        96.05 0.15 78.17 0.35 63.04 0.60
    """,
    10: """
        92.95 0.18 74.43 0.38 59.68 0.29
        90.64 0.15 68.65 0.49 46.97 0.73
        92.55 0.26 69.55 0.84 56.70 0.34
        92.62 0.24 72.64 0.61 60.34 0.52
        93.55 0.30 74.60 0.26 60.36 0.28
        93.54 0.15 74.63 0.36 59.88 0.29
        93.11 0.16 74.51 0.41 59.75 0.44
        93.34 0.16 74.82 0.46 61.11 0.30
        93.93 0.18 75.86 0.26 61.93 0.25
    """,
}
BINARY = {
    "airplane": {"hinge": (90.17, 0.09), "ldam": (90.37, 0.01), "immax_hinge": (91.02, 0.06)},
    "automobile": {"hinge": (91.01, 0.13), "ldam": (90.44, 0.02), "immax_hinge": (91.26, 0.05)},
    "horse": {"hinge": (90.58, 0.11), "ldam": (90.17, 0.01), "immax_hinge": (91.03, 0.03)},
}


def _table() -> dict[tuple[str, str, float | str, str], tuple[float, float]]:
    figures: dict[tuple[str, str, float | str, str], tuple[float, float]] = {}
    for kind, tables in (("long_tailed", LONG_TAILED), ("step", STEP)):
        for ratio, text in tables.items():
            for method, line in zip(METHODS, text.strip().splitlines(), strict=True):
                numbers = [float(word) for word in line.split()]
                for place, data in enumerate(DATA):
                    pair = (numbers[2 * place], numbers[2 * place + 1])
                    figures[data, kind, float(ratio), method] = pair
    for name, row in BINARY.items():
        for method, pair in row.items():
            figures["cifar10", "one_vs_rest", name, method] = pair
    return figures


PAPER = _table()
"""Mean and deviation by data set, kind of imbalance, ratio (or class) and method."""


def paper_figure(
    cell: Cell, test: str = "imbalanced", metric: str = "accuracy"
) -> tuple[float, float] | None:
    """Return the paper's figure for a cell.

    Parameters
    ----------
    cell : Cell
    test : str, default="imbalanced"
    metric : str, default="accuracy"

    Returns
    -------
    (float, float) or None
        Mean and standard deviation in per cent; None if the paper has no such figure.
    """
    kind, which = cell.variant.kind, cell.variant.ratio or cell.variant.class_name
    models = {"long_tailed": "resnet34", "step": "resnet34", "one_vs_rest": "linear"}
    if kind is None or which is None or cell.model != models.get(kind):
        return None
    if test != "imbalanced" or metric != "accuracy":
        return None
    return PAPER.get((cell.data.name, kind, which, cell.method))
