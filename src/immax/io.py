"""Model files, which are read without trusting them.

A model file is a skops file: a ZIP archive of arrays and ``schema.json``, a description of objects.
A further member, ``immax.json``, says what the model was fitted to, and holds a hash of every other
member.

Format 2 has margins of mean one. Files of format 1 are converted when they are read: classes that
have moved since are looked up where they are now. Their margins, which sum to one in linear and
kernel machines, are kept as they are, because scores, coefficients and margins of a model go
together: the model's scores, probabilities and labels are those of the version that wrote it.
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
from typing import Any, Protocol, TypedDict

from immax.atomic import replacing
from immax.errors import WrongCall
from immax.tabular.columns import Schema

__all__ = ["ModelFile", "ModelFileError", "load_model", "save_model"]

FORMAT = 2
READABLE = (1, 2)  # formats
ABOUT = "immax.json"
OBJECTS = "schema.json"  # skops's description of the objects
MOST_BYTES = 4 * 2**30  # unpacked
MOVED = {
    ("immax.kernel", "IMMAXSVC"): "immax.kernels.svc",
    ("immax.compare.refit", "CodedLabels"): "immax.compare.final_model",
}
"""The present modules of classes that were elsewhere in earlier versions."""
TRUSTED = frozenset(
    {
        "sklearn.compose._column_transformer._RemainderColsList",  # of scikit-learn 1.6
        "immax.linear.IMMAXClassifier",
        "immax.linear.BaselineClassifier",
        "immax.kernels.svc.IMMAXSVC",
        "immax.losses.spec.LossSpec",
        "immax.boosting.catboost.IMMAXCatBoostClassifier",
        "immax.boosting.lightgbm.IMMAXLGBMClassifier",
        "immax.boosting.lightgbm.LGBMObjective",
        "immax.boosting.loss.BoostingLoss",
        "immax.boosting.xgboost.IMMAXXGBClassifier",
        "immax.compare.final_model.CodedLabels",
        "immax.decisions.aims.Accuracy",
        "immax.decisions.aims.BalancedAccuracy",
        "immax.decisions.aims.Budget",
        "immax.decisions.aims.Costs",
        "immax.decisions.aims.FBeta",
        "immax.decisions.aims.GMean",
        "immax.decisions.aims.Jaccard",
        "immax.decisions.aims.Kappa",
        "immax.decisions.aims.LogLoss",
        "immax.decisions.aims.MCC",
        "immax.decisions.aims.PrecisionAt",
        "immax.decisions.aims.RecallAt",
        "immax.decisions.rules.Rule",
        "immax.search.classifier.IMMAXClassifierCV",
        "immax.search.svc.IMMAXSVCCV",
        "immax.search.families.PowerFamily",
        "immax.search.families.BoxFamily",
        "immax.search.families.SharedTailFamily",
        "immax.search.families.FreeFamily",
        "immax.tabular.pipeline.TypedColumns",
        "collections.OrderedDict",
        "lightgbm.basic.Booster",
        "numpy.dtype",
        "sklearn.model_selection._split.StratifiedKFold",
        "xgboost.core.Booster",
        "xgboost.sklearn.XGBClassifier",
    }
)
"""Types that are loaded in addition to those that skops itself trusts."""


class ModelFileError(WrongCall):
    """A model file that cannot be saved or loaded; the message gives the reason."""


class About(TypedDict, total=False):
    """The contents of ``immax.json``."""

    format: int
    versions: dict[str, str]
    schema: list[dict[str, Any]] | None
    target: str
    metric: str
    estimator: str
    classes: list[str] | None
    counts: list[int] | None
    margins: list[float] | None
    members: dict[str, str]


@dataclass(frozen=True)
class ModelFile:
    """A model and what it was fitted to.

    Attributes
    ----------
    model : estimator
        The fitted estimator or pipeline.
    schema : Schema or None
        The columns of the table that it was fitted to.
    target, metric : str
        The column of the labels, and the metric that the model was chosen by.
    about : dict
        The contents of ``immax.json``.
    """

    model: Any
    schema: Schema | None = None
    target: str = ""
    metric: str = ""
    about: About = field(default_factory=About)


class _Skops(Protocol):
    """The part of ``skops.io`` that is used here."""

    def dumps(self, obj: object, *, compression: int) -> bytes: ...
    def loads(self, data: bytes, *, trusted: list[str]) -> Any: ...
    def get_untrusted_types(self, *, data: bytes) -> list[str]: ...


def save_model(
    model: Any,
    path: str | Path,
    *,
    schema: Schema | None = None,
    target: str = "",
    metric: str = "",
    counts: Iterable[int] | None = None,
) -> None:
    """Write a fitted model to a file, atomically.

    Parameters
    ----------
    model : estimator
        A fitted estimator of this package or of scikit-learn, or a pipeline of them.
    path : str or Path
        The file to write.
    schema : Schema, optional
        The columns of the table that it was fitted to.
    target, metric : str, default=""
        The column of the labels, and the metric that the model was chosen by.
    counts : iterable of int, optional
        Number of samples of each class, in the order of ``classes_``.

    Raises
    ------
    ModelFileError
        If the model contains types that ``load_model`` would refuse.
    """
    skops = _import_skops()
    data = skops.dumps(model, compression=zipfile.ZIP_DEFLATED)
    refused = _untrusted(skops, data)
    if refused:
        raise ModelFileError(f"the model holds types that would not be loaded: {refused}")
    last = model[-1] if hasattr(model, "steps") else model
    classes = getattr(model, "classes_", None)
    margins = getattr(last, "margins_", None)
    about: About = {
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
    with replacing(Path(path)) as part:
        part.write_bytes(data)
        with zipfile.ZipFile(part, "a") as archive:
            archive.writestr(ABOUT, json.dumps(about, indent=1))


def load_model(path: str | Path) -> ModelFile:
    """Read a model file that ``save_model`` wrote.

    No code of the file is run, and only known types are built. A file that is truncated, altered,
    or not a model file is refused before anything is built. Files of earlier versions are
    converted, and predict the same as with the version that wrote them.

    Parameters
    ----------
    path : str or Path
        The file to read.

    Returns
    -------
    ModelFile

    Raises
    ------
    ModelFileError
        If the file cannot be loaded.
    """
    skops = _import_skops()
    try:
        data = Path(path).read_bytes()
    except IsADirectoryError:
        raise ModelFileError(f"{path} is a folder, not a model file") from None
    about = _checked(data, path)
    try:
        if about["format"] < FORMAT:
            data = _converted(data)
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


def _import_skops() -> _Skops:
    try:
        import skops.io
    except ModuleNotFoundError as error:
        raise ImportError('model files need skops: pip install "immax[cli]"') from error
    module: _Skops = skops.io
    return module


def _converted(data: bytes) -> bytes:
    """Return a file of an earlier format with its classes in their present modules."""
    target = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(data)) as source,
        zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        for name in source.namelist():
            content = source.read(name)
            if name == OBJECTS:
                content = json.dumps(json.loads(content, object_hook=_in_its_module)).encode()
            archive.writestr(name, content)
    return target.getvalue()


def _in_its_module(entry: dict[str, Any]) -> dict[str, Any]:
    """Return an object's description with the module that its class is in now."""
    moved = MOVED.get((str(entry.get("__module__")), str(entry.get("__class__"))))
    return entry if moved is None else {**entry, "__module__": moved}


def _untrusted(skops: _Skops, data: bytes) -> list[str]:
    return [name for name in skops.get_untrusted_types(data=data) if name not in TRUSTED]


def _hashes(data: bytes) -> dict[str, str]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {
            name: hashlib.sha256(archive.read(name)).hexdigest()
            for name in archive.namelist()
            if name != ABOUT
        }


def _checked(data: bytes, path: str | Path) -> About:
    """Return the contents of ``immax.json`` if the file is intact."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if ABOUT not in archive.namelist():
                raise ModelFileError(f"{path} is not a model file of immax: it has no {ABOUT}")
            if sum(member.file_size for member in archive.infolist()) > MOST_BYTES:
                raise ModelFileError(f"{path} unpacks to more than {MOST_BYTES} bytes")
            about: About = json.loads(archive.read(ABOUT))
        number = about.get("format") if isinstance(about, dict) else about
        if number not in READABLE:
            raise ModelFileError(
                f"{path} has format {number!r}; this version reads "
                f"{' and '.join(map(str, READABLE))}"
            )
        if _hashes(data) != about["members"]:
            raise ModelFileError(f"{path} was altered: its contents do not match their hashes")
        return about
    except ModelFileError:
        raise
    except Exception as error:  # arbitrary bytes make zipfile and json fail in many ways
        raise ModelFileError(f"{path} is not a model file, or is truncated: {error}") from error


def _versions() -> dict[str, str]:
    versions = {}
    for name in ("immax", "numpy", "scipy", "scikit-learn", "pandas", "skops"):
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return versions
