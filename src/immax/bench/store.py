"""Results of a plan in one SQLite file, which several processes may write at once.

A cell is waiting, running, done or failed. A worker claims a waiting cell in one transaction,
and says now and then that it is alive; the cell of a worker that has died is claimed again.
"""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from immax.arrays import Array
from immax.bench.plan import Cell, Plan
from immax.errors import WrongCall

__all__ = ["Record", "Store", "StoreError"]

FORMAT = 1
SILENCE = 600.0  # seconds after which a worker on another machine counts as dead

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


class StoreError(WrongCall):
    """A results file that cannot be used, and why."""


@dataclass(frozen=True)
class Record:
    """A cell with what is known of it."""

    cell: Cell
    state: str
    result: dict[str, Any]
    labels: dict[str, Array]
    seconds: float | None
    memory: float | None
    environment: dict[str, Any]
    error: str | None


def this_worker() -> str:
    """Where and what this process is."""
    return f"{socket.gethostname()}:{os.getpid()}"


class Store:
    """The results file of a plan.

    Parameters
    ----------
    path : path
        Made if it does not exist.
    plan : Plan, optional
        Its cells are entered; refused if the file is another plan's, unless ``adopt``.
    adopt : bool, default=False
        Take a file that another version of the plan wrote: what both have in common is kept.
    """

    def __init__(self, path: str | Path, plan: Plan | None = None, adopt: bool = False) -> None:
        self.path = Path(path)
        if plan is None and not self.path.exists():
            raise StoreError(f"there are no results at {str(self.path)!r}")
        try:
            self._db = sqlite3.connect(self.path, timeout=60, isolation_level=None)
            self._db.execute("pragma journal_mode = wal")
            self._db.execute("pragma synchronous = normal")
            self._db.executescript(SCHEMA)
        except sqlite3.DatabaseError as error:
            raise StoreError(f"{str(self.path)!r} is no results file: {error}") from error
        self._check_format()
        if plan is not None:
            self._enter(plan, adopt)

    def _check_format(self) -> None:
        found = self._meta("format")
        if found is None:
            self._db.execute("insert or ignore into meta values ('format', ?)", (str(FORMAT),))
        elif found != str(FORMAT):
            raise StoreError(
                f"{str(self.path)!r} has format {found}; this version of immax reads {FORMAT}"
            )

    def _meta(self, key: str) -> str | None:
        row = self._db.execute("select value from meta where key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    def _enter(self, plan: Plan, adopt: bool) -> None:
        with self._transaction():
            name, digest = self._meta("plan"), self._meta("digest")
            if name is not None and name != plan.name:
                raise StoreError(f"{str(self.path)!r} holds the results of the plan {name!r}")
            if digest is not None and digest != plan.digest and not adopt:
                raise StoreError(
                    f"{str(self.path)!r} was written by another version of the plan {name!r}; "
                    "take another file, or --adopt to keep the cells that both have in common"
                )
            cells = plan.cells()
            self._free_the_dead()
            self._db.execute("update cells set place = -1")
            self._db.executemany(
                "insert into cells (id, place, stage, family, spec) values (?, ?, ?, ?, ?) "
                "on conflict (id) do update set place = excluded.place",
                [
                    (cell.id, place, cell.stage, cell.group, json.dumps(cell.spec))
                    for place, cell in enumerate(cells)
                ],
            )
            self._db.execute("delete from cells where place = -1 and state = 'waiting'")
            pairs = (("plan", plan.name), ("digest", plan.digest), ("title", plan.title))
            self._db.executemany("insert or replace into meta values (?, ?)", pairs)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("begin immediate")
        try:
            yield
        except BaseException:
            self._db.execute("rollback")
            raise
        self._db.execute("commit")

    def claim(self) -> Cell | None:
        """A cell to work on, none of whose trials are open; None if there is none just now."""
        with self._transaction():
            self._free_the_dead()
            row = self._db.execute(
                """
                select id, spec from cells as own
                where state = 'waiting' and place >= 0
                  and (stage = 'trial' or not exists (
                      select 1 from cells as other where other.family = own.family
                      and other.stage = 'trial' and other.state != 'done' and other.place >= 0))
                order by place limit 1
                """
            ).fetchone()
            if row is None:
                return None
            self._db.execute(
                "update cells set state = 'running', worker = ?, seen = ?, error = null "
                "where id = ?",
                (this_worker(), time.time(), row[0]),
            )
        return Cell(json.loads(row[1]))

    def retry(self) -> None:
        """Let failed cells wait again."""
        self._db.execute("update cells set state = 'waiting' where state = 'failed'")

    def _free_the_dead(self) -> None:
        rows = self._db.execute("select id, worker, seen from cells where state = 'running'")
        for identity, worker, seen in rows.fetchall():
            if _dead(worker, seen):
                self._db.execute("update cells set state = 'waiting' where id = ?", (identity,))

    def alive(self, cell: Cell) -> None:
        """Say that the cell is being worked on."""
        self._db.execute("update cells set seen = ? where id = ?", (time.time(), cell.id))

    def epoch(self, cell: Cell, number: int, point: dict[str, float]) -> None:
        """A point of the cell's curve."""
        self._db.execute(
            "insert or replace into curves values (?, ?, ?)", (cell.id, number, json.dumps(point))
        )

    def curve(self, cell: Cell) -> list[tuple[int, dict[str, float]]]:
        """Of all epochs that have ended."""
        rows = self._db.execute(
            "select epoch, point from curves where cell = ? order by epoch", (cell.id,)
        )
        return [(epoch, json.loads(point)) for epoch, point in rows]

    def finish(
        self,
        cell: Cell,
        result: dict[str, Any],
        labels: dict[str, Array],
        seconds: float,
        memory: float | None,
        environment: dict[str, Any],
    ) -> None:
        """Enter what was found."""
        self._db.execute(
            "update cells set state = 'done', result = ?, labels = ?, seconds = ?, memory = ?, "
            "environment = ?, error = null where id = ?",
            (
                json.dumps(result),
                _packed(labels),
                seconds,
                memory,
                json.dumps(environment),
                cell.id,
            ),
        )

    def fail(self, cell: Cell, error: str) -> None:
        """Enter that it went wrong, and how."""
        self._db.execute(
            "update cells set state = 'failed', error = ? where id = ?", (error, cell.id)
        )

    def release(self, cell: Cell) -> None:
        """Give the cell back, to be claimed again."""
        self._db.execute(
            "update cells set state = 'waiting' where id = ? and state = 'running'", (cell.id,)
        )

    def counts(self) -> dict[str, int]:
        """How many cells are waiting, running, done and failed."""
        found = dict.fromkeys(("waiting", "running", "done", "failed"), 0)
        query = "select state, count(*) from cells where place >= 0 group by state"
        found.update(dict(self._db.execute(query).fetchall()))
        return found

    @property
    def title(self) -> str:
        return self._meta("title") or ""

    @property
    def plan_name(self) -> str:
        return self._meta("plan") or ""

    def records(self, states: Sequence[str] = ("done",), stage: str | None = None) -> list[Record]:
        """Cells in these states, in the plan's order."""
        rows = self._db.execute(
            "select spec, state, result, labels, seconds, memory, environment, error, stage "
            "from cells where place >= 0 order by place"
        )
        return [
            Record(
                Cell(json.loads(spec)),
                state,
                json.loads(result or "{}"),
                _unpacked(labels),
                seconds,
                memory,
                json.loads(environment or "{}"),
                error,
            )
            for spec, state, result, labels, seconds, memory, environment, error, own in rows
            if state in states and stage in (None, own)
        ]

    def close(self) -> None:
        self._db.close()


def _dead(worker: str | None, seen: float | None) -> bool:
    if worker is None or seen is None:
        return True
    host, _, pid = worker.rpartition(":")
    if host != socket.gethostname():
        return time.time() - seen > SILENCE
    if int(pid) == os.getpid():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


def _packed(labels: dict[str, Array]) -> bytes:
    text = json.dumps({name: values.tolist() for name, values in labels.items()})
    return zlib.compress(text.encode())


def _unpacked(blob: bytes | None) -> dict[str, Array]:
    if not blob:
        return {}
    content = json.loads(zlib.decompress(blob))
    return {name: np.array(values) for name, values in content.items()}
