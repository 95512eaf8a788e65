"""LightGBM's boosters as text, the one form in which all of a booster can be changed."""

from __future__ import annotations

import re
from itertools import islice, pairwise
from typing import Any

import numpy as np

from immax.arrays import Array

__all__ = ["add_constants", "get_parameter", "set_parameter"]

PARAMETERS_END = "\nend of parameters\n"
TREES = re.compile(r"^Tree=\d+$", re.MULTILINE)
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
    match = _line(name).search(booster.model_to_string(num_iteration=1))
    return None if match is None else match[1]


def set_parameter(booster: Any, name: str, value: str, constants: Array | None = None) -> None:
    """Set a parameter that LightGBM itself does not know, but keeps in copies and in files.

    Parameters
    ----------
    booster : lightgbm.Booster
    name : str
    value : str
        In one line.
    constants : ndarray of shape (c,), or (1,) for two classes, optional
        As in ``add_constants``, at the same time.
    """
    text = _line(name).sub("", booster.model_to_string(num_iteration=-1))
    head, end, tail = text.partition(PARAMETERS_END)
    text = f"{head.rstrip()}\n[{name}: {value}]\n{end}{tail}"
    _replace_model(booster, text if constants is None else _shifted(text, constants))


def add_constants(booster: Any, constants: Array) -> None:
    """Add constants to a booster's scores, in the leaves of the first trees.

    Parameters
    ----------
    booster : lightgbm.Booster
    constants : ndarray of shape (c,), or (1,) for two classes
    """
    _replace_model(booster, _shifted(booster.model_to_string(num_iteration=-1), constants))


def _shifted(text: str, constants: Array) -> str:
    """Return the text of a booster whose scores are larger by the constants."""
    starts = [match.start() for match in islice(TREES.finditer(text), len(constants))]
    head = re.sub(r"^tree_sizes=.*\n", "", text[: starts[0]], flags=re.MULTILINE)  # they change
    end = text.index("\n\n", starts[-1])
    trees = [text[begin:stop] for begin, stop in pairwise([*starts, end])]
    for number, constant in enumerate(constants.tolist()):

        def shift(line: re.Match[str], constant: float = constant) -> str:
            values = np.array(line[2].split(), dtype=np.float64) + constant
            return f"{line[1]}={' '.join(map(repr, values.tolist()))}"

        trees[number] = VALUES.sub(shift, trees[number])
    return head + "".join(trees) + text[end:]


def _line(name: str) -> re.Pattern[str]:
    return re.compile(rf"^\[{re.escape(name)}: (.*)\]$\n?", re.MULTILINE)


def _replace_model(booster: Any, text: str) -> None:
    best = booster.best_iteration  # which reading a model resets
    booster.model_from_string(text)
    booster.best_iteration = best
