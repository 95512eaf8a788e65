"""The page of a comparison. The plots are in ``immax.plots``, and can be had from here too."""

from immax.plots import (
    ComparisonDisplay,
    MarginsDisplay,
    PrecisionRecallDisplay,
    ReliabilityDisplay,
    plot_comparison,
    plot_margins,
    plot_precision_recall,
    plot_reliability,
    plot_search,
)
from immax.report.page import write_report

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
