"""Groups of the features that a table's preprocessing makes of one column."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sklearn.base import ClassifierMixin, clone
from sklearn.pipeline import Pipeline

from immax.arrays import Array

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["column_groups", "fit_prepared"]


def column_groups(preparation: Pipeline) -> list[str]:
    """Return the column of the table that each feature was made of.

    Parameters
    ----------
    preparation : Pipeline
        The fitted result of ``prepare``.

    Returns
    -------
    list of str
        A label for each feature, as ``IMMAXClassifier(penalty="group", groups=…)`` takes them: the
        one-hot columns of a variable share its name.

    Examples
    --------
    >>> import pandas as pd
    >>> from immax.tabular import describe_columns, prepare
    >>> table = pd.DataFrame({"age": [31.5, 42, 53, 64] * 5, "colour": ["red", "blue"] * 10})
    >>> column_groups(prepare(describe_columns(table)).fit(table))
    ['age', 'colour', 'colour']
    """
    groups: list[str] = []
    for _, transformer, columns in preparation.named_steps["features"].transformers_:
        if not hasattr(transformer, "categories_"):
            groups += [str(name) for name in columns]
            continue
        rare = transformer.infrequent_categories_
        for name, categories, together in zip(columns, transformer.categories_, rare, strict=True):
            # Rare categories share one feature.
            shared = 0 if together is None else len(together) - 1
            groups += [str(name)] * (len(categories) - shared)
    return groups


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
        Any classifier.
    X : DataFrame
        The table.
    y : ndarray
        Labels.

    Returns
    -------
    Pipeline
        The steps of the preprocessing, and the classifier as the step "model", all fitted.
    """
    features = preparation.fit_transform(X)
    model = clone(classifier)
    if getattr(model, "penalty", None) == "group" and model.groups is None:
        model.set_params(groups=column_groups(preparation))
    model.fit(features, y)
    return Pipeline([*preparation.steps, ("model", model)])
