"""Values per class that come with labels: dicts, and Series of pandas.

``y.value_counts()`` is in the order of frequency. Arrays of one value per class are in the order
of the classes, so labels that say another order must not be dropped.
"""

from __future__ import annotations

from typing import Any

__all__ = ["by_label", "check_class_order", "check_unlabelled"]


def by_label(values: Any) -> Any:
    """Return a Series as a dict by label, and anything else as it is.

    Parameters
    ----------
    values : object
        Values per class. The default index of a Series is their order, and says nothing of labels.

    Returns
    -------
    object
    """
    labels = _labels(values)
    if labels is None or _is_default(labels):
        return values
    if not labels.is_unique:
        raise ValueError(f"a Series by label needs each label once; got {list(labels)}")
    return values.to_dict()


def check_class_order(values: object, name: str) -> None:
    """Raise an error if a Series is not in the order of the classes, which is that of its labels.

    Parameters
    ----------
    values : object
        Values per class.
    name : str
        The argument's name in the message.

    Raises
    ------
    TypeError
        If the labels of a Series are not sorted.
    """
    labels = _labels(values)
    if labels is not None and not labels.is_monotonic_increasing:
        raise TypeError(
            f"{name} must be in the order of the classes, the sorted labels; got a Series with the "
            f"labels {list(labels)}: {name}.sort_index() sorts them"
        )


def check_unlabelled(values: object, name: str) -> None:
    """Raise an error if a Series or a data frame has labels, which would be ignored.

    Parameters
    ----------
    values : object
        Values per class, or per pair of classes.
    name : str
        The argument's name in the message.

    Raises
    ------
    TypeError
        If an index is not the default one.
    """
    axes = getattr(values, "axes", []) if hasattr(values, "iloc") else []
    for labels in axes:
        if not _is_default(labels):
            raise TypeError(
                f"{name} with labels of their own must be an array in the order of the classes, "
                f"{name}.to_numpy(), or where labels are taken a dict, {name}.to_dict(); got "
                f"{type(values).__name__} with the labels {list(labels)}"
            )


def _labels(values: object) -> Any:
    """Return the index of a Series of pandas, or None."""
    is_series = hasattr(values, "iloc") and getattr(values, "ndim", None) == 1
    return values.index if is_series else None  # type: ignore[attr-defined]


def _is_default(labels: Any) -> bool:
    """Return whether an index of pandas is the default one, which says nothing of classes."""
    return list(labels) == list(range(len(labels)))
