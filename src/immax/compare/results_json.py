"""The results of a comparison as JSON, for programs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from typing import TypedDict

from immax.compare.protocol import Protocol
from immax.compare.results import Comparison
from immax.compare.verdict import Answer, RowContent
from immax.evaluation.environment import describe_environment

__all__ = ["FORMAT", "DataContent", "ResultsContent", "make_results", "results_text"]

FORMAT = 1
"""The version of the layout of results."""


class DataContent(TypedDict):
    """The data of a comparison."""

    source: str
    target: str
    rows: int
    classes: dict[str, int]
    columns: list[dict[str, str]]


class ResultsContent(TypedDict):
    """The layout of ``results.json``."""

    format: int
    metric: str
    rows: list[RowContent]
    recommended: str
    sentence: str
    ties: list[str]
    rule: str
    data: DataContent
    protocol: dict[str, str | int]
    folds: dict[str, list[dict[str, float]]]
    chosen: dict[str, list[Mapping[str, object]]]
    left_out: dict[str, str]
    command: str
    seconds_folds: float
    environment: dict[str, str]
    seconds_refit: float
    seconds: float


def make_results(
    comparison: Comparison,
    answer: Answer,
    *,
    source: str,
    target: str,
    command: str,
    seconds: float,
    seconds_refit: float,
) -> ResultsContent:
    """Return the results of a comparison as JSON holds them.

    Parameters
    ----------
    comparison : Comparison
    answer : Answer
    source, target : str
        The name of the data, and of the column of labels.
    command : str
        The command that made the comparison.
    seconds, seconds_refit : float
        The time of everything, and of fitting models to all rows.

    Returns
    -------
    ResultsContent
    """
    counts = (int(count) for count in comparison.counts)
    return {
        "format": FORMAT,
        **answer.to_dict(),
        "data": {
            "source": source,
            "target": target,
            "rows": len(comparison.codes),
            "classes": dict(zip(comparison.class_names, counts, strict=True)),
            "columns": comparison.schema.to_list(),
        },
        "protocol": _protocol_content(comparison.protocol),
        "folds": {name: list(comparison.scores(name)) for name in comparison.complete},
        "chosen": {
            name: [result.chosen for result in results]
            for name, results in comparison.fold_results.items()
        },
        "left_out": dict(comparison.left_out),
        "command": command,
        "seconds_folds": sum(row.seconds for row in answer.rows),
        "environment": describe_environment(),
        "seconds_refit": seconds_refit,
        "seconds": seconds,
    }


def _protocol_content(protocol: Protocol) -> dict[str, str | int]:
    content = {field.name: getattr(protocol, field.name) for field in fields(protocol)}
    if protocol.aim is not None:
        content["aim"] = repr(protocol.aim)
    return {name: value for name, value in content.items() if value is not None}


def results_text(results: ResultsContent, indent: int | None = None) -> str:
    """Return results as the text of a JSON file.

    Parameters
    ----------
    results : ResultsContent
    indent : int, optional
        The indentation; by default all is on one line.

    Returns
    -------
    str
    """
    return json.dumps(results, indent=indent)
