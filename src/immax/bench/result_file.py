"""Result files: all results of a plan in a compact file that can be committed.

A result file is JSON lines, compressed by LZMA: a header, then one line for every cell in the
plan's order. Predictions are written as differences from those of the cell before on the same test
set; methods mostly agree, so that this takes a fraction of a bit for each sample. Metrics are
written to six digits, and once where they are the same for several tests of a cell. Otherwise a
file contains everything that a store does, except learning curves, and equal results give equal
bytes.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from immax.arrays import Array
from immax.atomic import replacing
from immax.bench.cells import Cell, Json, cell_from_json
from immax.bench.outcomes import CellResult, Labels, PlanResults, Record
from immax.bench.provenance import with_origin
from immax.bench.store import Store, StoreError

__all__ = ["SUFFIX", "read_result_file", "read_results", "write_result_file"]

SUFFIX = ".results.jsonl.xz"
KIND = "immax results"
FORMAT = 2
READABLE = (1, 2)
MAGIC = b"\xfd7zXZ\x00"
DIFFERENCE = re.compile("([0-9]*)([a-j]*[A-J])")
TO_LETTERS = str.maketrans("0123456789", "abcdefghij")
TO_DIGITS = str.maketrans("abcdefghij", "0123456789")
SPEC_PARTS = ("data", "tests", "selection", "training", "grid", "select")


def write_result_file(results: PlanResults, path: Path) -> None:
    """Write results to a file.

    Parameters
    ----------
    results : PlanResults
    path : Path
        By convention, its name ends in ``.results.jsonl.xz``.

    Notes
    -----
    Cells that are running are written as waiting.
    """
    results = with_origin(results).rounded()
    coder = _LabelWriter()
    shared = _Shared()
    lines = [_encoded(record, coder, shared) for record in results.records]
    header = {
        "kind": KIND,
        "format": FORMAT,
        "plan": results.plan,
        "title": results.title,
        "digest": results.digest,
        "commit": results.commit,
        "date": results.date,
        "cells": len(lines),
        "shared": shared.values,
    }
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in (header, *lines))
    content = lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME)
    with replacing(path) as part:
        part.write_bytes(content)


def read_result_file(path: Path) -> PlanResults:
    """Read results from a file.

    Parameters
    ----------
    path : Path

    Returns
    -------
    PlanResults

    Raises
    ------
    StoreError
        If there is no such file, or it is damaged, or not a result file.
    """
    try:
        lines = iter(lzma.decompress(path.read_bytes()).decode().splitlines())
        header = json.loads(next(lines))
    except FileNotFoundError:
        raise StoreError(f"there are no results at {str(path)!r}") from None
    except (lzma.LZMAError, EOFError, ValueError, StopIteration) as error:
        raise StoreError(f"{str(path)!r} is damaged, or not a result file: {error}") from error
    if not isinstance(header, dict) or header.get("kind") != KIND:
        raise StoreError(f"{str(path)!r} is not a result file")
    if header["format"] not in READABLE:
        raise StoreError(
            f"{str(path)!r} has format {header['format']}; this version of immax reads "
            f"{' and '.join(map(str, READABLE))}"
        )
    try:
        records = list(_decoded(lines, header["shared"]))
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise StoreError(f"{str(path)!r} is damaged: {error!r}") from error
    if len(records) != header["cells"]:
        raise StoreError(
            f"{str(path)!r} is incomplete: it has {len(records)} of {header['cells']} cells"
        )
    meta = {key: header[key] for key in ("plan", "title", "digest", "commit", "date")}
    return PlanResults(**meta, records=records)


def read_results(path: Path) -> PlanResults:
    """Read the results of a plan from a store or from a result file.

    Parameters
    ----------
    path : Path

    Returns
    -------
    PlanResults

    Raises
    ------
    StoreError
        If it is neither.
    """
    if path.is_file():
        with path.open("rb") as file:
            start = file.read(len(MAGIC))
        if start == MAGIC or path.name.endswith(".xz"):
            return read_result_file(path)
    return Store(path).results()


class _Shared:
    """Parts that many lines have in common: they are written once, and referred to by number."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._numbers: dict[str, int] = {}

    def number(self, value: Any) -> int:
        key = json.dumps(value)
        if key not in self._numbers:
            self._numbers[key] = len(self.values)
            self.values.append(value)
        return self._numbers[key]


def _encoded(record: Record, coder: _LabelWriter, shared: _Shared) -> Json:
    spec = record.cell.to_json()
    for part in SPEC_PARTS:
        if part in spec:
            spec[part] = shared.number(spec[part])
    line: Json = {"cell": spec, "state": "waiting" if record.state == "running" else record.state}
    if record.state == "failed":
        line["error"] = record.error
    if record.state == "done":
        line["result"] = _without_repeats(record.result.to_json())
        line["labels"] = coder.encode(record.cell, record.result)
        line |= {"seconds": record.seconds, "memory": record.memory}
        line["environment"] = shared.number(dict(record.environment))
    return line


def _without_repeats(result: Json) -> Json:
    """Write the metrics of a test as the name of an earlier one that has the same."""
    names: dict[str, str] = {}
    tests = {
        name: metrics if (first := names.setdefault(json.dumps(metrics), name)) == name else first
        for name, metrics in result.get("tests", {}).items()
    }
    return result | {"tests": tests} if tests else result


def _with_repeats(result: Json) -> Json:
    own = result.get("tests", {})
    tests = {
        name: own[metrics] if isinstance(metrics, str) else metrics for name, metrics in own.items()
    }
    return result | {"tests": tests} if tests else result


def _decoded(lines: Iterator[str], shared: list[Any]) -> Iterator[Record]:
    coder = _LabelReader()
    for text in lines:
        line = json.loads(text)
        spec = line["cell"]
        for part in SPEC_PARTS:
            if part in spec:
                spec[part] = shared[spec[part]]
        cell = cell_from_json(spec)
        if line["state"] != "done":
            yield Record(cell, line["state"], error=line.get("error"))
            continue
        labels = coder.decode(cell, line["labels"])
        result = CellResult.from_json(_with_repeats(line["result"]), labels)
        environment = shared[line["environment"]]
        yield Record(cell, "done", result, line["seconds"], line["memory"], environment)


class _LabelWriter:
    """Encode predictions as differences from those of the cell before on the same samples."""

    def __init__(self) -> None:
        self._truths: set[str] = set()
        self._before: dict[str, Array] = {}

    def encode(self, cell: Cell, result: CellResult) -> dict[str, list[str]]:
        """Return for each test set a hash of its true labels and the differences.

        The number of samples and the true labels follow where they are new.
        """
        content = {}
        for name, test in result.tests.items():
            if test.predicted is None or test.truth is None:
                continue
            text = json.dumps(test.truth.tolist())
            truth = hashlib.sha256(text.encode()).hexdigest()[:12]
            key = _key(cell, name, truth)
            entry = [truth, _differences(self._before.get(key, test.truth), test.predicted)]
            if truth not in self._truths:
                self._truths.add(truth)
                entry.append(f"{len(test.truth)}")
                entry.append(_differences(np.zeros_like(test.truth), test.truth))
            self._before[key] = test.predicted
            content[name] = entry
        return content


class _LabelReader:
    """Decode what ``_LabelWriter`` wrote."""

    def __init__(self) -> None:
        self._truths: dict[str, Array] = {}
        self._before: dict[str, Array] = {}

    def decode(self, cell: Cell, content: Mapping[str, list[str]]) -> Labels:
        labels: Labels = {}
        for name, (truth, differences, *new) in content.items():
            if new:
                size, own = new
                self._truths[truth] = _applied(own, np.zeros(int(size), dtype=np.int64))
            actual = self._truths[truth]
            key = _key(cell, name, truth)
            self._before[key] = _applied(differences, self._before.get(key, actual))
            labels |= {name: self._before[key], f"{name} true": actual}
        return labels


def _key(cell: Cell, test: str, truth: str) -> str:
    """Return what cells have in common whose predictions resemble each other most."""
    return f"{truth} {test} {cell.model} {cell.variant} {getattr(cell, 'run', 0)}"


def _differences(before: Array, labels: Array) -> str:
    """Return the gaps between the samples whose labels differ, each followed by the new label.

    The digits of a label are letters, the last one a capital: ``2B`` means that two samples agree
    and the next has label 1, and ``bC`` that the next sample has label 12.
    """
    places = np.flatnonzero(before != labels)
    gaps = np.diff(places, prepend=-1) - 1
    return "".join(
        f"{gap or ''}{_letters(label)}"
        for gap, label in zip(gaps.tolist(), labels[places].tolist(), strict=True)
    )


def _applied(differences: str, before: Array) -> Array:
    """Return the labels whose differences from others ``_differences`` has described."""
    labels = before.copy()
    place = -1
    for gap, letters in DIFFERENCE.findall(differences):
        place += 1 + int(gap or 0)
        labels[place] = int(letters.lower().translate(TO_DIGITS))
    return labels


def _letters(label: int) -> str:
    text = str(label).translate(TO_LETTERS)
    return text[:-1] + text[-1].upper()
