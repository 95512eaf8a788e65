"""Results of a plan in one SQLite file, which several processes may write at once.

A cell is waiting, running, done or failed. A worker claims a waiting cell in one transaction and
updates a heartbeat while it runs; the cell of a worker that has died is released.
"""

from __future__ import annotations

import json
import time
import zlib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import numpy as np

from immax.bench.cells import Cell, cell_from_json
from immax.bench.outcomes import STATES, CellResult, Labels, PlanResults, Record
from immax.bench.plan import Plan
from immax.bench.store_file import StoreFile
from immax.bench.store_format import StoreError
from immax.bench.workers import worker_name

__all__ = ["Store", "StoreError"]


class Store(StoreFile):
    """The results of a plan, in a file.

    Parameters
    ----------
    path : str or Path
        Created if it does not exist and a plan is given. A file of an earlier version is converted.
    plan : Plan, optional
        The plan whose cells are entered.
    adopt : bool, default=False
        Accept a file that another version of the plan has written: the cells that both have in
        common are kept.

    Raises
    ------
    StoreError
        If the file is not a store, or belongs to another plan, or to another version of the plan.
    """

    def __init__(self, path: str | Path, plan: Plan | None = None, adopt: bool = False) -> None:
        super().__init__(path, must_have_results=plan is None)
        if plan is not None:
            self._enter(plan, adopt)

    def _enter(self, plan: Plan, adopt: bool) -> None:
        with self._transaction():
            name, digest = self._meta("plan"), self._meta("digest")
            if name is not None and name != plan.name:
                raise StoreError(f"{str(self.path)!r} holds the results of the plan {name!r}")
            if digest is not None and digest != plan.digest and not adopt:
                raise StoreError(
                    f"{str(self.path)!r} was written by another version of the plan {name!r}; "
                    "use another file, or --adopt to keep the cells that both have in common"
                )
            self._release_abandoned()
            self._db.execute("update cells set place = -1")
            self._db.executemany(
                "insert into cells (id, place, stage, family, spec) values (?, ?, ?, ?, ?) "
                "on conflict (id) do update set place = excluded.place",
                [
                    (cell.id, place, cell.stage, cell.group, json.dumps(cell.to_json()))
                    for place, cell in enumerate(plan.cells())
                ],
            )
            self._db.execute("delete from cells where place = -1 and state = 'waiting'")
            self._set_meta(plan=plan.name, digest=plan.digest, title=plan.title)

    def claim(self) -> Cell | None:
        """Claim a waiting cell whose trials, if it has any, are all done.

        Returns
        -------
        Cell or None
            None if there is no such cell at present.
        """
        with self._transaction():
            self._release_abandoned()
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
                (worker_name(), time.time(), row[0]),
            )
        return cell_from_json(json.loads(row[1]))

    def retry_failed(self) -> None:
        """Return failed cells to the queue."""
        self._db.execute("update cells set state = 'waiting' where state = 'failed'")

    def discard(self, methods: Collection[str]) -> int:
        """Discard the results of some methods, and return their cells to the queue.

        Parameters
        ----------
        methods : collection of str

        Returns
        -------
        int
            The number of cells.
        """
        with self._transaction():
            rows = self._db.execute(
                "select id, spec from cells where state in ('done', 'failed') and place >= 0"
            ).fetchall()
            chosen = [(name,) for name, spec in rows if json.loads(spec)["method"] in methods]
            self._db.executemany(
                "update cells set state = 'waiting', result = null, labels = null, "
                "seconds = null, memory = null, environment = null, error = null where id = ?",
                chosen,
            )
            self._db.executemany("delete from curves where cell = ?", chosen)
        return len(chosen)

    def take(self, results: PlanResults, without: Collection[str] = ()) -> int:
        """Take over results from elsewhere for cells that are waiting here.

        Parameters
        ----------
        results : PlanResults
        without : collection of str, default=()
            Methods whose results are not taken.

        Returns
        -------
        int
            The number of cells.
        """
        rows = self._db.execute("select id from cells where state = 'waiting' and place >= 0")
        waiting = {name for (name,) in rows}
        taken = 0
        with self._transaction():
            for record in results.done():
                if record.cell.id in waiting and record.cell.method not in without:
                    seconds = record.seconds or 0.0
                    self.finish(
                        record.cell, record.result, seconds, record.memory, record.environment
                    )
                    taken += 1
            if taken and self._meta("date") is None and results.date:
                self._set_meta(commit=results.commit, date=results.date)
        return taken

    def heartbeat(self, cell: Cell) -> None:
        """Record that the worker of a cell is alive.

        Parameters
        ----------
        cell : Cell
        """
        self._db.execute("update cells set seen = ? where id = ?", (time.time(), cell.id))

    def add_epoch(self, cell: Cell, number: int, point: Mapping[str, float]) -> None:
        """Add an epoch to the learning curve of a cell.

        Parameters
        ----------
        cell : Cell
        number : int
            The epoch.
        point : mapping of str to float
            Its loss and accuracy.
        """
        self._db.execute(
            "insert or replace into curves values (?, ?, ?)",
            (cell.id, number, json.dumps(dict(point))),
        )

    def curve(self, cell: Cell) -> list[tuple[int, dict[str, float]]]:
        """Return the learning curve of a cell.

        Parameters
        ----------
        cell : Cell

        Returns
        -------
        list of (int, dict)
            The epochs that have ended, with loss and accuracy.
        """
        rows = self._db.execute(
            "select epoch, point from curves where cell = ? order by epoch", (cell.id,)
        )
        return [(epoch, json.loads(point)) for epoch, point in rows]

    def finish(
        self,
        cell: Cell,
        result: CellResult,
        seconds: float,
        memory: float | None,
        environment: Mapping[str, str],
    ) -> None:
        """Store the result of a cell.

        Parameters
        ----------
        cell : Cell
        result : CellResult
        seconds : float
            The time that it took; kept to milliseconds.
        memory : float or None
            The peak memory of the process in MiB; kept to a tenth.
        environment : mapping of str to str
        """
        self._db.execute(
            "update cells set state = 'done', result = ?, labels = ?, seconds = ?, memory = ?, "
            "environment = ?, seen = ?, error = null where id = ?",
            (
                json.dumps(result.to_json()),
                _packed(result.labels()),
                round(seconds, 3),
                None if memory is None else round(memory, 1),
                json.dumps(dict(environment)),
                time.time(),
                cell.id,
            ),
        )

    def stamp(self, commit: str, date: str) -> None:
        """Record the version of the code that computed the last cell, and the date.

        Parameters
        ----------
        commit, date : str
        """
        self._set_meta(commit=commit, date=date)

    def fail(self, cell: Cell, error: str) -> None:
        """Mark a cell as failed.

        Parameters
        ----------
        cell : Cell
        error : str
            The traceback.
        """
        self._db.execute(
            "update cells set state = 'failed', error = ? where id = ?", (error, cell.id)
        )

    def release(self, cell: Cell) -> None:
        """Give a claimed cell back.

        Parameters
        ----------
        cell : Cell
        """
        self._db.execute(
            "update cells set state = 'waiting' where id = ? and state = 'running'", (cell.id,)
        )

    def counts(self) -> dict[str, int]:
        """Return the number of cells in each state.

        Returns
        -------
        dict of str to int
        """
        counts = dict.fromkeys(STATES, 0)
        query = "select state, count(*) from cells where place >= 0 group by state"
        counts.update(dict(self._db.execute(query).fetchall()))
        return counts

    @property
    def plan_name(self) -> str:
        """The name of the plan."""
        return self._meta("plan") or ""

    def records(
        self, states: Sequence[str] = ("done",), stage: str | None = None, group: str | None = None
    ) -> list[Record]:
        """Return cells with their results, in the plan's order.

        Parameters
        ----------
        states : sequence of str, default=("done",)
        stage : {"trial", "final"}, optional
            By default, cells of both stages.
        group : str, optional
            Cells of this group only.

        Returns
        -------
        list of Record
        """
        rows = self._db.execute(
            "select spec, state, result, labels, seconds, memory, environment, error from cells "
            "where place >= 0 and (:stage is null or stage = :stage) "
            "and (:family is null or family = :family) order by place",
            {"stage": stage, "family": group},
        )
        return [
            Record(
                cell_from_json(json.loads(spec)),
                state,
                CellResult.from_json(json.loads(result or "{}"), _unpacked(labels)),
                seconds,
                memory,
                json.loads(environment or "{}"),
                error,
            )
            for spec, state, result, labels, seconds, memory, environment, error in rows
            if state in states
        ]

    def results(self) -> PlanResults:
        """Return the plan's cells with their states and results.

        Returns
        -------
        PlanResults
        """
        meta = {key: self._meta(key) or "" for key in ("plan", "title", "digest", "commit", "date")}
        return PlanResults(**meta, records=self.records(STATES))


def _packed(labels: Labels) -> bytes:
    text = json.dumps({name: values.tolist() for name, values in labels.items()})
    return zlib.compress(text.encode())


def _unpacked(blob: bytes | None) -> Labels:
    if not blob:
        return {}
    content = json.loads(zlib.decompress(blob))
    return {name: np.array(values) for name, values in content.items()}
