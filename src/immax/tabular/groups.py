"""Models of prepared tables that keep or drop all features of a column together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sklearn.base import ClassifierMixin
from sklearn.pipeline import Pipeline

from immax.arrays import Array

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["fit_prepared"]


def fit_prepared(
    preparation: Pipeline, classifier: ClassifierMixin, X: DataFrame, y: Array
) -> Pipeline:
    """Fit the preprocessing of a table and a classifier after it.

    A classifier with ``penalty="group"`` and no groups of its own is given those of the columns, so
    that all one-hot columns of a variable are kept or none is.

    Parameters
    ----------
    preparation : Pipeline
        The result of ``prepare``.
    classifier : classifier
        Any classifier; it is fitted itself, not a copy.
    X : DataFrame
        The table.
    y : ndarray
        Labels.

    Returns
    -------
    Pipeline
        The steps of the preprocessing, and the classifier as the step "model", all fitted.

    Examples
    --------
    >>> import pandas as pd
    >>> from immax import IMMAXClassifier
    >>> from immax.tabular import describe_columns, prepare
    >>> table = pd.DataFrame({"age": [31.5, 42, 53, 64] * 5, "colour": ["red", "blue"] * 10})
    >>> y = [0, 1] * 10
    >>> classifier = IMMAXClassifier(penalty="group", lam=0.1)
    >>> fit_prepared(prepare(describe_columns(table)), classifier, table, y)[-1].groups
    ['age', 'colour', 'colour']
    """
    features = preparation.fit_transform(X)
    parameters = classifier.get_params()
    for name, value in parameters.items():
        if name.split("__")[-1] != "penalty" or value != "group":
            continue
        groups = name.removesuffix("penalty") + "groups"  # of the classifier, or of one inside it
        if parameters.get(groups, "") is None:
            classifier.set_params(**{groups: preparation["features"].variables_.tolist()})
    classifier.fit(features, y)
    return Pipeline([*preparation.steps, ("model", classifier)])
