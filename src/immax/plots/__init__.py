"""Plots for notebooks and reports, each as a function and as a display object."""

from immax.plots.bound_curve import BoundCurveDisplay, plot_bound_curve
from immax.plots.certificate import CertificateDisplay, plot_certificate
from immax.plots.coefficient_path import CoefficientPathDisplay, plot_coefficient_path
from immax.plots.comparison import ComparisonDisplay, plot_comparison
from immax.plots.decision_curve import DecisionCurveDisplay, plot_decision_curve
from immax.plots.margins import MarginsDisplay, plot_margins
from immax.plots.precision_recall import PrecisionRecallDisplay, plot_precision_recall
from immax.plots.ranks import RanksDisplay, plot_ranks
from immax.plots.reliability import ReliabilityDisplay, plot_reliability
from immax.plots.search import SearchDisplay, plot_search
from immax.plots.surfaces import SurfacesDisplay, plot_surfaces
from immax.plots.threshold_curve import ThresholdCurveDisplay, plot_threshold_curve

__all__ = [
    "BoundCurveDisplay",
    "CertificateDisplay",
    "CoefficientPathDisplay",
    "ComparisonDisplay",
    "DecisionCurveDisplay",
    "MarginsDisplay",
    "PrecisionRecallDisplay",
    "RanksDisplay",
    "ReliabilityDisplay",
    "SearchDisplay",
    "SurfacesDisplay",
    "ThresholdCurveDisplay",
    "plot_bound_curve",
    "plot_certificate",
    "plot_coefficient_path",
    "plot_comparison",
    "plot_decision_curve",
    "plot_margins",
    "plot_precision_recall",
    "plot_ranks",
    "plot_reliability",
    "plot_search",
    "plot_surfaces",
    "plot_threshold_curve",
]
