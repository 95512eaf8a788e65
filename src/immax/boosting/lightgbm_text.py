"""LightGBM's boosters as text, the one form in which all of a booster can be changed."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from immax.arrays import Array

__all__ = ["add_constants", "get_parameter", "set_parameter"]

PARAMETERS_END = "\nend of parameters\n"
VALUES = re.compile(r"^(leaf_value|leaf_const|internal_value)=(.*)$", re.MULTILINE)


def get_parameter(booster: Any, name: str) -> str | None:
    """Return a parameter of a booster that LightGBM itself does not know.

    Parameters
    ----------
    booster : lightgbm.Booster
    name : str

    Returns
    -------
    str or None
        None if it was not set.
    """
    found = _line(name).search(booster.model_to_string(num_iteration=1))
    return None if found is None else found[1]


def set_parameter(booster: Any, name: str, value: str) -> None:
    """Set a parameter that LightGBM itself does not know, but keeps in copies and in files.

    Parameters
    ----------
    booster : lightgbm.Booster
    name : str
    value : str
        In one line.
    """
    text = _line(name).sub("", booster.model_to_string(num_iteration=-1))
    head, end, tail = text.partition(PARAMETERS_END)
    _replace_model(booster, f"{head.rstrip()}\n[{name}: {value}]\n{end}{tail}")


def add_constants(booster: Any, constants: Array) -> None:
    """Add constants to a booster's scores, in the leaves of the first trees.

    Parameters
    ----------
    booster : lightgbm.Booster
    constants : ndarray of shape (c,), or (1,) for two classes
    """
    if not constants.any():
        return
    head, *trees = re.split(r"^(?=Tree=\d+$)", booster.model_to_string(-1), flags=re.MULTILINE)
    head = re.sub(r"^tree_sizes=.*\n", "", head, flags=re.MULTILINE)  # they change
    for number, constant in enumerate(constants):

        def shift(line: re.Match[str], constant: float = float(constant)) -> str:
            values = np.array(line[2].split(), dtype=np.float64) + constant
            return f"{line[1]}={' '.join(map(repr, values.tolist()))}"

        tree, separator, rest = trees[number].partition("\n\n")
        trees[number] = VALUES.sub(shift, tree) + separator + rest
    _replace_model(booster, head + "".join(trees))


def _line(name: str) -> re.Pattern[str]:
    return re.compile(rf"^\[{re.escape(name)}: (.*)\]$\n?", re.MULTILINE)


def _replace_model(booster: Any, text: str) -> None:
    best = booster.best_iteration  # which reading a model resets
    booster.model_from_string(text)
    booster.best_iteration = best
