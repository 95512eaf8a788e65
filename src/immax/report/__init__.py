"""Pictures for notebooks, and the page of a comparison."""

from immax.report.displays import (
    ComparisonDisplay,
    MarginsDisplay,
    PrecisionRecallDisplay,
    ReliabilityDisplay,
)
from immax.report.page import write_report
from immax.report.plots import (
    plot_comparison,
    plot_margins,
    plot_precision_recall,
    plot_reliability,
)
from immax.search.picture import plot_search

__all__ = [
    "ComparisonDisplay",
    "MarginsDisplay",
    "PrecisionRecallDisplay",
    "ReliabilityDisplay",
    "plot_comparison",
    "plot_margins",
    "plot_precision_recall",
    "plot_reliability",
    "plot_search",
    "write_report",
]
