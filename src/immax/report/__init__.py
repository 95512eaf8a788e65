"""The HTML page of a comparison.

The plots of ``immax.plots`` can be imported from here too.
"""

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
from immax.report.page import About, write_report

__all__ = [
    "About",
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
