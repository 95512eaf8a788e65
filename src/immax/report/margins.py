"""The part of the page about the margins of IMMAX."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from immax.compare import Comparison
from immax.decisions import DecidedModel
from immax.evaluation.estimators import describe_parameters
from immax.report.pictures import FittedSearch, Picture, draw_margins, draw_path, draw_search
from immax.tabular.streamed_table import StreamedTable

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

__all__ = ["MarginsSection", "describe_margins", "describe_path"]


@dataclass(frozen=True)
class MarginsSection:
    """The margin search of IMMAX and the model that it chose.

    Parameters
    ----------
    power, lam : float
        The chosen power of the class counts and strength of the penalty.
    weight_power : float or None
        The power of the inverse class counts that class weights are proportional to; None if the
        search was for margins alone.
    rule : str
        The chosen rule: "score", "bayes", or that of an aim in words.
    search, margins : Picture
        The scores of all candidates, and the chosen margins.
    thresholds : tuple of (str, float)
        For two classes and no aim, the probability above which the rule "score" predicts each.
    certificate : str
        Bounds on the error of the rule "score".
    """

    power: float
    lam: float
    weight_power: float | None
    rule: str
    search: Picture
    margins: Picture
    thresholds: tuple[tuple[str, float], ...]
    certificate: str


def describe_margins(pipeline: Pipeline, comparison: Comparison) -> MarginsSection:
    """Collect what the page shows of the margins.

    Parameters
    ----------
    pipeline : Pipeline
        Fitted to all rows; its last step is the search.
    comparison : Comparison

    Returns
    -------
    MarginsSection
    """
    search = _search_of(pipeline)
    parameters = describe_parameters(search.best_parameters_)
    return MarginsSection(
        power=parameters["power"],
        lam=search.best_lam_,
        weight_power=parameters.get("weight_power"),
        rule=str(search.best_rule_),
        search=draw_search(search),
        margins=draw_margins(search, comparison.counts),
        thresholds=_thresholds(search, comparison.class_names),
        certificate=_certificate(pipeline, comparison),
    )


def describe_path(models: Mapping[str, Pipeline], comparison: Comparison) -> Picture | None:
    """Draw the coefficients of a fitted model with few features.

    Parameters
    ----------
    models : mapping of str to Pipeline
    comparison : Comparison

    Returns
    -------
    Picture or None
        None if no model has a penalty that uses few features.
    """
    for pipeline in models.values():
        search = _search_of(pipeline)
        few = hasattr(search, "best_lam_") and getattr(search, "penalty", "l2") != "l2"
        if few and not isinstance(comparison.X, StreamedTable):
            features = pipeline[:-1].transform(comparison.X)
            names = [str(name) for name in pipeline[:-1].get_feature_names_out()]
            labels = comparison.classes[comparison.codes]
            return draw_path(search, features, labels, names)
    return None


def _search_of(pipeline: Pipeline) -> FittedSearch:
    """Return the search for margins, which may be inside a model with a rule for an aim."""
    last = pipeline[-1]
    search: FittedSearch = last.model if isinstance(last, DecidedModel) else last
    return search


def _thresholds(search: FittedSearch, names: list[str]) -> tuple[tuple[str, float], ...]:
    """Return, for two classes, the probability above which the rule "score" predicts each."""
    if len(names) != 2 or not isinstance(search.best_rule_, str):
        return ()
    rho = np.asarray(search.margins_)
    return tuple(zip(names, (rho / rho.sum()).tolist(), strict=True))


def _certificate(pipeline: Pipeline, comparison: Comparison) -> str:
    """Return the certificate, and the one from a split, which does not assume fixed features."""
    from immax.theory import describe_certificates

    search = _search_of(pipeline)
    if search is not pipeline[-1]:  # the bounds are for the margins, not for the rule of an aim
        pipeline = type(pipeline)([*pipeline.steps[:-1], ("model", search)])
    if isinstance(comparison.X, StreamedTable):
        return "Certificates need all rows in memory: immax explain has one for a smaller table."
    return describe_certificates(pipeline, comparison.X, comparison.classes[comparison.codes])
