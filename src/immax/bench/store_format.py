"""The format of stores, and the conversion of stores that an earlier version has written.

In format 1, the margins of linear models and kernel machines summed to one. Margins have mean one
now, and λ and C have the same meaning for every method; the conversion translates the cells that
are affected, so that they describe the same computation as before.
"""

from __future__ import annotations

import datetime
import json
import sqlite3
import zlib

from immax.bench.cells import Json, cell_from_json, digest_cells
from immax.errors import WrongCall
from immax.evaluation.selection import LAMS

__all__ = ["FORMAT", "SCHEMA", "StoreError", "convert_store", "translate_result", "translate_spec"]


FORMAT = 2

SCHEMA = """
create table if not exists meta (key text primary key, value text not null);
create table if not exists cells (
    id text primary key,
    place integer not null,
    stage text not null,
    family text not null,
    spec text not null,
    state text not null default 'waiting',
    worker text,
    seen real,
    seconds real,
    memory real,
    environment text,
    result text,
    labels blob,
    error text
);
create index if not exists by_state on cells (state, place);
create table if not exists curves (
    cell text not null,
    epoch integer not null,
    point text not null,
    primary key (cell, epoch)
);
"""

# Linear methods of format 1, by what λ meant for them.
BY_C = frozenset(  # C was 2 / (λ n), for any number of classes
    {
        "logistic",
        "logistic_balanced",
        "threshold",
        "smote",
        "over",
        "under",
        "svc",
        "svc_balanced",
    }
)
SEARCHED = frozenset(  # λ was that of margins of sum one for two classes, else that of mean one
    {
        "immax",
        "immax_score",
        "immax_bayes",
        "immax_best",
        "immax_loo",
        "immax_theory",
        "immax_hinge",
        "hinge",
    }
)
SUM_ONE = frozenset({"hinge_balanced", "ldam_hinge"})  # λ was always that of margins of sum one

N_CLASSES = {
    "keel": 2,
    "cifar10": 10,
    "cifar100": 100,
    "tiny_imagenet": 200,
    "fashion_mnist": 10,
    "mnist": 10,
    "made_up_images": 10,
}


class StoreError(WrongCall):
    """Raised for a results file that cannot be used; the message gives the reason."""


def convert_store(db: sqlite3.Connection, path: str) -> None:
    """Convert a store of format 1 in place, within the transaction of the caller.

    Parameters
    ----------
    db : sqlite3.Connection
    path : str
        The name of the file, for error messages.

    Raises
    ------
    StoreError
        If a worker of an earlier version is still writing to the file.
    """
    if db.execute("select 1 from cells where state = 'running'").fetchone():
        raise StoreError(
            f"{path!r} is being written by an earlier version of immax; wait until that has ended"
        )
    rows = db.execute("select id, spec, state, result, labels, seen from cells").fetchall()
    sizes: dict[str, int] = {}
    for _, spec, _, _, labels, _ in rows:
        data = json.loads(spec)["data"]
        if data["name"] == "table" and labels:
            key = json.dumps(data, sort_keys=True)
            sizes[key] = max(sizes.get(key, 2), _count_classes(labels))
    for identity, spec, state, result, _, _ in rows:
        old = json.loads(spec)
        n_classes = _n_classes(old, sizes)
        new = translate_spec(old, n_classes)
        if state == "done" and old["model"] == "surface" and n_classes == 2:
            # Probabilities of two classes were those of half the margins: they are not kept.
            db.execute(
                "update cells set state = 'waiting', result = null, labels = null, seconds = null, "
                "memory = null, environment = null where id = ?",
                (identity,),
            )
        elif result:
            converted = json.dumps(translate_result(json.loads(result), new, n_classes))
            db.execute("update cells set result = ? where id = ?", (converted, identity))
        if new != old:
            db.execute(
                "update cells set id = ?, spec = ? where id = ?",
                (cell_from_json(new).id, json.dumps(new), identity),
            )
    db.execute("update cells set seconds = round(seconds, 3), memory = round(memory, 1)")
    ids = [own for (own,) in db.execute("select id from cells where place >= 0")]
    meta = {"format": str(FORMAT), "digest": digest_cells(ids)}
    times = [seen for _, _, state, _, _, seen in rows if state == "done" and seen]
    if times:
        meta["date"] = f"{datetime.datetime.fromtimestamp(max(times), datetime.UTC):%Y-%m-%d}"
    db.executemany("insert or replace into meta values (?, ?)", meta.items())


def translate_spec(spec: Json, n_classes: int) -> Json:
    """Return the description of the cell that now computes what one of format 1 did.

    Parameters
    ----------
    spec : dict
        The JSON of the cell.
    n_classes : int
        The number of classes of its data.

    Returns
    -------
    dict
        ``spec`` itself if λ has kept its meaning.
    """
    if spec["model"] != "linear":
        return spec
    factor = 1.0
    if spec["method"] in BY_C or (spec["method"] in SEARCHED and n_classes == 2):
        factor = 4.0
    elif spec["method"] in SUM_ONE:
        factor = float(n_classes**2)
    if factor == 1:
        return spec
    lams = [lam / factor for lam in spec["selection"]["lams"] or LAMS]
    return {**spec, "grid": {**spec["grid"], "lam": lams}}


def translate_result(result: Json, spec: Json, n_classes: int) -> Json:
    """Return a result of format 1 with λ and C for margins of mean one.

    Parameters
    ----------
    result : dict
        The JSON of the result.
    spec : dict
        The description of the cell after ``translate_spec``.
    n_classes : int

    Returns
    -------
    dict
    """
    chosen = dict(result.get("chosen", {}))
    if spec["model"] == "kernel" and "C" in chosen:
        chosen["C"] *= n_classes**2
    elif spec["model"] == "linear" and spec["method"] in SEARCHED | SUM_ONE:
        grid = spec["grid"].get("lam") or spec["selection"]["lams"] or LAMS
        for key in ("lam", "model__lam"):
            if key in chosen:
                lam = chosen[key] / n_classes**2
                chosen[key] = min(grid, key=lambda own, lam=lam: abs(own - lam))  # rounding
    else:
        return result
    return {**result, "chosen": chosen}


def _n_classes(spec: Json, sizes: dict[str, int]) -> int:
    if spec["variant"].get("kind") == "one_vs_rest":
        return 2
    key = json.dumps(spec["data"], sort_keys=True)
    return N_CLASSES.get(spec["data"]["name"], sizes.get(key, 2))


def _count_classes(labels: bytes) -> int:
    content = json.loads(zlib.decompress(labels))
    return 1 + max(max(own) for name, own in content.items() if name.endswith(" true"))
