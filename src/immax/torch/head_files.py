"""Files of heads: tensors by safetensors, everything else as JSON in their header."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from immax.atomic import replacing
from immax.decisions.rules import Rule
from immax.losses.spec import LossSpec
from immax.torch.head_fits import HeadRecord
from immax.torch.table import COLUMNS

__all__ = ["HeadContents", "read_head", "write_head"]

FORMAT = 1
KEY = "immax"  # of the header's entry


@dataclass(frozen=True, eq=False)
class HeadContents:
    """The parts of a head.

    Attributes
    ----------
    weight, bias : Tensor
        The parameters of the layer.
    spec : LossSpec
        The method that it was fitted with.
    counts : tuple of float, or None
        The class counts, if they are known.
    rule : str or Rule
        How it decides.
    record : HeadRecord
        How it was fitted.
    """

    weight: Tensor
    bias: Tensor
    spec: LossSpec
    counts: tuple[float, ...] | None
    rule: str | Rule
    record: HeadRecord


def write_head(path: str | Path, contents: HeadContents) -> None:
    """Write a head to a file, atomically.

    Parameters
    ----------
    path : path
        The file to write.
    contents : HeadContents
        The parts of the head.
    """
    save_file = _safetensors().torch.save_file
    spec, rule = contents.spec, contents.rule
    tensors = {"weight": contents.weight, "bias": contents.bias}
    for name in COLUMNS:
        tensors[f"spec.{name}"] = torch.tensor(getattr(spec, name))
    about = {
        "format": FORMAT,
        "spec": {"focus": spec.focus, "drop_rate": spec.drop_rate, "name": spec.name},
        "counts": None if contents.counts is None else list(contents.counts),
        "rule": rule if isinstance(rule, str) else _rule_entry(rule),
        "record": asdict(contents.record),
    }
    with replacing(Path(path)) as part:
        save_file(
            {name: value.detach().cpu().contiguous() for name, value in tensors.items()},
            part,
            metadata={KEY: json.dumps(about)},
        )


def read_head(path: str | Path) -> HeadContents:
    """Read a file that ``write_head`` wrote, without executing anything in it.

    Parameters
    ----------
    path : path

    Returns
    -------
    HeadContents

    Raises
    ------
    ValueError
        If it is not the file of a head, or its parts do not fit.
    """
    safetensors = _safetensors()
    try:
        with safetensors.safe_open(path, "pt") as file:
            header = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except safetensors.SafetensorError as error:
        raise ValueError(f"{path} is not a safetensors file, or is damaged: {error}") from error
    if KEY not in header:
        raise ValueError(f"{path} is not the file of a head: its header has no entry {KEY!r}")
    try:
        about = json.loads(header[KEY])
        if about["format"] != FORMAT:
            raise ValueError(f"format {about['format']!r}; this version reads {FORMAT}")
        columns: dict[str, Any] = {
            name: tensors[f"spec.{name}"].numpy() for name in COLUMNS if name != "temperature"
        }
        spec = LossSpec(tensors["spec.temperature"].numpy(), **columns, **about["spec"])
        rule = about["rule"] if isinstance(about["rule"], str) else _rule(about["rule"])
        counts = None if about["counts"] is None else tuple(map(float, about["counts"]))
        weight, bias = tensors["weight"], tensors["bias"]
        rows = len(weight)
        fits = weight.ndim == 2 and bias.shape == (rows,) and spec.n_classes == max(rows, 2)
        if not fits or (counts is not None and len(counts) != spec.n_classes):
            raise ValueError("the shapes of its parts do not fit")
        return HeadContents(weight, bias, spec, counts, rule, HeadRecord(**about["record"]))
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} cannot be read as a head: {error}") from error


def _rule_entry(rule: Rule) -> dict[str, Any]:
    return {
        "gains": rule.gains.tolist(),
        "prior": rule.prior.tolist(),
        "aim": rule.aim,
        "positive": rule.positive,
        "count": rule.count,
    }


def _rule(entry: Mapping[str, Any]) -> Rule:
    return Rule(np.arange(len(entry["gains"])), **entry)


def _safetensors() -> Any:
    try:
        import safetensors
        import safetensors.torch
    except ModuleNotFoundError as error:  # pragma: no cover
        raise ImportError('files of heads need safetensors: pip install "immax[torch]"') from error
    return safetensors
