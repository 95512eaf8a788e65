"""Plots for notebooks and reports, as functions and as display objects."""

from immax.plots.comparison import ComparisonDisplay, plot_comparison
from immax.plots.margins import MarginsDisplay, plot_margins
from immax.plots.precision_recall import PrecisionRecallDisplay, plot_precision_recall
from immax.plots.ranks import plot_ranks
from immax.plots.reliability import ReliabilityDisplay, plot_reliability
from immax.plots.search import plot_search
from immax.plots.surfaces import plot_surfaces

__all__ = [
    "ComparisonDisplay",
    "MarginsDisplay",
    "PrecisionRecallDisplay",
    "ReliabilityDisplay",
    "plot_comparison",
    "plot_margins",
    "plot_precision_recall",
    "plot_ranks",
    "plot_reliability",
    "plot_search",
    "plot_surfaces",
]
