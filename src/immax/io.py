"""Model files, read without trusting them.

A model file is skops's: a ZIP archive of arrays and a description of objects. Beside these it holds
``immax.json``: what the model was fitted to, and a hash of every other member.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from immax.atomic import beside
from immax.errors import WrongCall
from immax.tabular.columns import Schema

__all__ = ["ModelFile", "ModelFileError", "load_model", "save_model"]

FORMAT = 1
ABOUT = "immax.json"
MOST_BYTES = 4 * 2**30  # unpacked
TRUSTED = frozenset(
    {
        "sklearn.compose._column_transformer._RemainderColsList",  # of scikit-learn 1.6
        "immax.linear.IMMAXClassifier",
        "immax.linear.BaselineClassifier",
        "immax.kernels.svc.IMMAXSVC",
        "immax.losses.spec.LossSpec",
        "immax.boosting.loss.BoostingLoss",
        "immax.boosting.xgboost.IMMAXXGBClassifier",
        "immax.compare.final_model.CodedLabels",
        "immax.search.classifier.IMMAXClassifierCV",
        "immax.search.svc.IMMAXSVCCV",
        "immax.search.families.PowerFamily",
        "immax.search.families.BoxFamily",
        "immax.search.families.SharedTailFamily",
        "immax.search.families.FreeFamily",
        "immax.tabular.pipeline.TypedColumns",
        "numpy.dtype",
        "sklearn.model_selection._split.StratifiedKFold",
        "xgboost.core.Booster",
        "xgboost.sklearn.XGBClassifier",
    }
)
"""Types beside those that skops itself trusts."""


class ModelFileError(WrongCall):
    """A file that is not loaded, and why."""


@dataclass(frozen=True)
class ModelFile:
    """A model and what it was fitted to."""

    model: Any
    schema: Schema | None = None
    target: str = ""
    metric: str = ""
    about: dict[str, Any] = field(default_factory=dict)


def save_model(
    model: Any,
    path: str | Path,
    *,
    schema: Schema | None = None,
    target: str = "",
    metric: str = "",
    counts: Iterable[int] | None = None,
) -> None:
    """Write a fitted model, whole or not at all.

    Parameters
    ----------
    model : estimator
        Of this package or of scikit-learn, or a pipeline of them.
    path : path
    schema : Schema, optional
        The columns of the table that it was fitted to.
    target, metric : str
        The column of the labels, and what the model was chosen by.
    counts : iterable of int, optional
        Samples of each class, in the order of ``classes_``.
    """
    skops = _skops()
    data = skops.dumps(model, compression=zipfile.ZIP_DEFLATED)
    refused = _untrusted(skops, data)
    if refused:
        raise ModelFileError(f"the model holds types that would not be loaded: {refused}")
    last = model[-1] if hasattr(model, "steps") else model
    classes = getattr(model, "classes_", None)
    margins = getattr(last, "margins_", None)
    about = {
        "format": FORMAT,
        "versions": _versions(),
        "schema": None if schema is None else schema.to_list(),
        "target": target,
        "metric": metric,
        "estimator": type(last).__name__,
        "classes": None if classes is None else [str(name) for name in classes],
        "counts": None if counts is None else [int(count) for count in counts],
        "margins": None if margins is None else [float(rho) for rho in margins],
        "members": _hashes(data),
    }
    with beside(Path(path)) as part:
        part.write_bytes(data)
        with zipfile.ZipFile(part, "a") as archive:
            archive.writestr(ABOUT, json.dumps(about, indent=1))


def load_model(path: str | Path) -> ModelFile:
    """Read what ``save_model`` wrote. No code of the file is run, and only known types are built.

    A file that is truncated, altered, or not one of ours is refused before anything is built.
    """
    skops = _skops()
    try:
        data = Path(path).read_bytes()
    except IsADirectoryError:
        raise ModelFileError(f"{path} is a folder, not a model file") from None
    about = _checked(data, path)
    try:
        refused = _untrusted(skops, data)
    except Exception as error:
        raise ModelFileError(f"{path} is damaged: {error}") from error
    if refused:
        raise ModelFileError(f"{path} holds types that are not trusted: {', '.join(refused)}")
    try:
        model = skops.loads(data, trusted=sorted(TRUSTED))
    except Exception as error:
        raise ModelFileError(f"{path} cannot be loaded: {error}") from error
    columns = about.get("schema")
    schema = None if columns is None else Schema.from_list(columns)
    return ModelFile(model, schema, about["target"], about["metric"], about)


def _skops() -> Any:
    try:
        import skops.io as skops
    except ModuleNotFoundError as error:
        raise ImportError('model files need skops: pip install "immax[cli]"') from error
    return skops


def _untrusted(skops: Any, data: bytes) -> list[str]:
    return [name for name in skops.get_untrusted_types(data=data) if name not in TRUSTED]


def _hashes(data: bytes) -> dict[str, str]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {
            name: hashlib.sha256(archive.read(name)).hexdigest()
            for name in archive.namelist()
            if name != ABOUT
        }


def _checked(data: bytes, path: Any) -> dict[str, Any]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if ABOUT not in archive.namelist():
                raise ModelFileError(f"{path} is no model file of immax: it has no {ABOUT}")
            if sum(member.file_size for member in archive.infolist()) > MOST_BYTES:
                raise ModelFileError(f"{path} unpacks to more than {MOST_BYTES} bytes")
            about = json.loads(archive.read(ABOUT))
        whole = isinstance(about, dict) and about.get("format") == FORMAT
        if not whole:
            found = about.get("format") if isinstance(about, dict) else about
            raise ModelFileError(f"{path} has format {found!r}; this version reads {FORMAT}")
        if _hashes(data) != about["members"]:
            raise ModelFileError(f"{path} was altered: its contents do not match their hashes")
        return about
    except ModelFileError:
        raise
    except Exception as error:  # whatever arbitrary bytes make of a ZIP archive
        raise ModelFileError(f"{path} is no model file, or is truncated: {error}") from error


def _versions() -> dict[str, str]:
    found = {}
    for name in ("immax", "numpy", "scipy", "scikit-learn", "pandas", "skops"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
