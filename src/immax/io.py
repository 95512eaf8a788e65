"""Model files, which are read without trusting them.

A model file is a skops file: a ZIP archive of arrays and ``schema.json``, a description of objects.
A further member, ``immax.json``, says what the model was fitted to. It holds a hash of every other
member, and one of itself. Hashes tell that a file was damaged or edited; they do not tell who wrote
it.

Format 3 has schemas that say how each column is read, and the hash of ``immax.json`` itself; format
2 has margins of mean one. Files of formats 1 and 2 are read as the versions that wrote them did:
classes that have moved since are looked up where they are now. The margins of format 1, which sum
to one in linear and kernel machines, are kept as they are, because scores, coefficients and margins
of a model go together: the model's scores, probabilities and labels are those of the version that
wrote it.
"""

from __future__ import annotations

import hashlib
import io
import json
import sys
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Protocol, TypedDict

from immax.atomic import replacing
from immax.errors import WrongCall
from immax.model_types import TRUSTED, relocate_classes
from immax.tabular.columns import Column, Schema

__all__ = ["TRUSTED", "ModelFile", "ModelFileError", "load_model", "require_skops", "save_model"]

FORMAT = 3
READABLE = (1, 2, 3)  # formats
SIGNED = 3  # the first format with a hash of immax.json itself
ABOUT = "immax.json"
MOST_BYTES = 512 * 2**20
"""The largest size of a model file, packed and unpacked, unless another limit is given."""
MOST_MEMBERS = 10_000
BLOCK = 2**20  # bytes that are hashed at a time
# skops lists the estimators of scikit-learn, which imports all of its packages. These would import
# PyTorch and Dask where they are installed, which takes seconds, and have no estimators.
UNUSED = tuple(f"sklearn.externals.array_api_compat.{name}" for name in ("cupy", "dask", "torch"))


class ModelFileError(WrongCall):
    """A model file that cannot be saved or loaded; the message gives the reason."""


class About(TypedDict, total=False):
    """The contents of ``immax.json``."""

    format: int
    versions: dict[str, str]
    schema: list[dict[str, Any]] | None
    labels: dict[str, Any] | None
    target: str
    metric: str
    estimator: str
    classes: list[str] | None
    counts: list[int] | None
    margins: list[float] | None
    members: dict[str, str]
    hash: str


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
    skops = require_skops()
    data = skops.dumps(model, compression=zipfile.ZIP_DEFLATED)
    refused = _untrusted(skops, data)
    if refused:
        callbacks = any(name.startswith("sklearn.callback.") for name in refused)
        advice = "; remove callbacks by model.set_callbacks()" if callbacks else ""
        raise ModelFileError(f"the model holds types that would not be loaded: {refused}{advice}")
    last = model[-1] if hasattr(model, "steps") else model
    classes = getattr(model, "classes_", None)
    margins = getattr(last, "margins_", None)
    about: About = {
        "format": FORMAT,
        "versions": _versions(),
        "schema": None if schema is None else schema.to_list(),
        "labels": None if schema is None or schema.labels is None else schema.labels.to_dict(),
        "target": target,
        "metric": metric,
        "estimator": type(last).__name__,
        "classes": None if classes is None else [str(name) for name in classes],
        "counts": None if counts is None else [int(count) for count in counts],
        "margins": None if margins is None else [float(rho) for rho in margins],
        "members": _hashes(data),
    }
    about["hash"] = _hash_of(about)
    with replacing(Path(path)) as part:
        part.write_bytes(data)
        with zipfile.ZipFile(part, "a") as archive:
            archive.writestr(ABOUT, json.dumps(about, indent=1))


def load_model(path: str | Path, *, max_bytes: int = MOST_BYTES) -> ModelFile:
    """Read a model file that ``save_model`` wrote.

    No code of the file is run, and only known types are built. A file that is truncated, altered,
    or not a model file is refused before anything is built. Files of earlier versions are
    converted, and predict the same as with the version that wrote them.

    Parameters
    ----------
    path : str or Path
        The file to read.
    max_bytes : int, default=536870912
        The largest size of the file, packed and unpacked. Larger files are refused before they are
        read, because small ones can be made to unpack to any size.

    Returns
    -------
    ModelFile

    Raises
    ------
    ModelFileError
        If the file cannot be loaded.
    """
    skops = require_skops()
    if Path(path).is_dir():
        raise ModelFileError(f"{path} is a folder, not a model file")
    if Path(path).stat().st_size > max_bytes:
        raise ModelFileError(_too_large(path, max_bytes))
    data = Path(path).read_bytes()
    about = _checked(data, path, max_bytes)
    try:
        data = relocate_classes(data)
        refused = _untrusted(skops, data)
    except Exception as error:
        raise ModelFileError(f"{path} is damaged: {error}") from error
    if refused:
        raise ModelFileError(f"{path} holds types that are not trusted: {', '.join(refused)}")
    try:
        model = skops.loads(data, trusted=sorted(TRUSTED))
    except Exception as error:
        raise ModelFileError(f"{path} cannot be loaded: {error}") from error
    if not (hasattr(model, "predict") and hasattr(model, "classes_")):
        raise ModelFileError(f"{path} holds a {type(model).__name__}, which is not a classifier")
    if not _describes(about, model):
        raise ModelFileError(f"{path} was altered: it does not describe its model")
    try:
        return ModelFile(model, _schema(about, model), about["target"], about["metric"], about)
    except Exception as error:
        raise ModelFileError(f"{path} is damaged: {error}") from error


def _describes(about: About, model: Any) -> bool:
    """Whether counts and versions have the types that they should have."""
    counts: Any = about.get("counts")
    known = counts is None or (
        isinstance(counts, list)
        and len(counts) == len(model.classes_)
        and all(isinstance(count, int) and count >= 0 for count in counts)
    )
    return known and isinstance(about.get("versions", {}), dict)


def _schema(about: About, model: Any) -> Schema | None:
    columns, labels = about.get("schema"), about.get("labels")
    if columns is None:
        return None
    if labels is None:  # of earlier versions
        kind = {"b": "boolean", "i": "number"}.get(model.classes_.dtype.kind, "category")
        return replace(Schema.from_list(columns), labels=Column(about["target"], kind))
    return replace(Schema.from_list(columns), labels=Column.from_dict(labels))


def _too_large(path: str | Path, max_bytes: int) -> str:
    return (
        f"{path} is larger than {max_bytes / 2**20:g} MiB when unpacked; if you trust it, raise "
        "the limit (--max-model-size, or max_bytes of load_model)"
    )


def require_skops() -> _Skops:
    """Import skops, which reads and writes what is in model files.

    Returns
    -------
    module

    Raises
    ------
    ImportError
        If skops is not installed; the message names the extra to install.
    """
    try:
        with _not_imported(UNUSED):
            import skops.io
    except ModuleNotFoundError as error:
        raise ImportError('model files need skops: pip install "immax[cli]"') from error
    module: _Skops = skops.io
    return module


@contextmanager
def _not_imported(names: Sequence[str]) -> Iterator[None]:
    """Refuse the import of modules that have not been imported yet."""
    refused = [name for name in names if name not in sys.modules]
    sys.modules.update(dict.fromkeys(refused))  # type: ignore[arg-type]
    try:
        yield
    finally:
        for name in refused:
            sys.modules.pop(name, None)


def _untrusted(skops: _Skops, data: bytes) -> list[str]:
    return [name for name in skops.get_untrusted_types(data=data) if name not in TRUSTED]


def _hashes(data: bytes) -> dict[str, str]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: _hash_member(archive, name) for name in archive.namelist() if name != ABOUT}


def _hash_member(archive: zipfile.ZipFile, name: str) -> str:
    digest = hashlib.sha256()
    with archive.open(name) as member:
        while block := member.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()


def _hash_of(about: About) -> str:
    """Return the hash of everything in ``immax.json`` but the hash itself."""
    content = {key: value for key, value in about.items() if key != "hash"}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _checked(data: bytes, path: str | Path, max_bytes: int) -> About:
    """Return the contents of ``immax.json`` if the file is intact."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            if ABOUT not in archive.namelist():
                raise ModelFileError(f"{path} is not a model file of immax: it has no {ABOUT}")
            if sum(member.file_size for member in members) > max_bytes:
                raise ModelFileError(_too_large(path, max_bytes))
            if len(members) > MOST_MEMBERS or len(set(archive.namelist())) < len(members):
                raise ModelFileError(f"{path} has too many members, or two of the same name")
            about: About = json.loads(archive.read(ABOUT))
        number = about.get("format") if isinstance(about, dict) else about
        if number not in READABLE:
            raise ModelFileError(
                f"{path} has format {number!r}; this version reads {', '.join(map(str, READABLE))}"
            )
        altered = _hashes(data) != about["members"]
        signed = number >= SIGNED or "hash" in about  # also if its format was altered
        if altered or (signed and _hash_of(about) != about["hash"]):
            raise ModelFileError(f"{path} was altered: its contents do not match their hashes")
        if not (isinstance(about["target"], str) and isinstance(about["metric"], str)):
            raise ModelFileError(f"{path} was altered: its target and metric are not strings")
        return about
    except ModelFileError:
        raise
    except Exception as error:  # arbitrary bytes make zipfile and json fail in many ways
        raise ModelFileError(f"{path} is not a model file, or is truncated: {error}") from error


def _versions() -> dict[str, str]:
    versions = {}
    for name in ("immax", "numpy", "scipy", "scikit-learn", "pandas", "pyarrow", "skops"):
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return versions
