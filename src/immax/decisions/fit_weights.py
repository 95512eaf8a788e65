"""Sample weights in the form in which an estimator's ``fit`` takes them."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

from sklearn.pipeline import Pipeline

from immax.arrays import Array

__all__ = ["weight_params"]


def weight_params(estimator: Any, weight: Array | None) -> dict[str, Any]:
    """Return the parameters of ``fit`` that give sample weights to an estimator.

    Parameters
    ----------
    estimator : classifier
        For a pipeline, the weights are those of its last step.
    weight : ndarray of shape (n,), optional

    Returns
    -------
    dict of str to ndarray
        Empty without weights, and if the estimator does not take any.

    Warns
    -----
    UserWarning
        If the estimator does not take weights.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> weight_params(make_pipeline(LogisticRegression()), np.ones(2))
    {'logisticregression__sample_weight': array([1., 1.])}
    """
    if weight is None:
        return {}
    prefix, model = "", estimator
    while isinstance(model, Pipeline):
        name, model = model.steps[-1]
        prefix += f"{name}__"
    known = inspect.signature(model.fit).parameters
    if "sample_weight" in known or any(own.kind is own.VAR_KEYWORD for own in known.values()):
        return {f"{prefix}sample_weight": weight}
    warnings.warn(
        f"the fit of {type(model).__name__} takes no sample_weight: the weights apply to the "
        "rule alone",
        stacklevel=2,
    )
    return {}
