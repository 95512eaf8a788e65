"""The SQLite file of a store: its owner, its format and its transactions."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from immax.bench.store_format import FORMAT, SCHEMA, StoreError, convert_store
from immax.bench.workers import is_dead

__all__ = ["StoreFile"]


class StoreFile:
    """A SQLite file of the present format.

    Parameters
    ----------
    path : str or Path
        Created if it does not exist, unless it must have results. A file of an earlier version is
        converted.
    must_have_results : bool
        Whether a file without the results of a plan is refused.

    Raises
    ------
    StoreError
        If the file is not a store.
    """

    def __init__(self, path: str | Path, must_have_results: bool) -> None:
        self.path = Path(path)
        if must_have_results and not self.path.exists():
            raise StoreError(f"there are no results at {str(self.path)!r}")
        try:
            self._db = sqlite3.connect(self.path, timeout=60, isolation_level=None)
            self._check_owner(must_have_results)
            self._db.execute("pragma journal_mode = wal")
            self._db.execute("pragma synchronous = normal")
            self._db.executescript(SCHEMA)
        except sqlite3.DatabaseError as error:
            raise StoreError(f"{str(self.path)!r} is not a results file: {error}") from error
        self._check_format()

    def _check_owner(self, must_have_results: bool) -> None:
        """Refuse the databases of other programs, before anything is written to them."""
        tables = {name for (name,) in self._db.execute("select name from sqlite_master")}
        known = {"meta", "cells", "curves"}
        if tables and not tables & known:
            raise StoreError(f"{str(self.path)!r} is not a results file: it has other tables")
        if must_have_results and ("meta" not in tables or self._meta("plan") is None):
            raise StoreError(f"{str(self.path)!r} is not a results file: it has no plan")

    def _check_format(self) -> None:
        version = self._meta("format")
        if version == str(FORMAT):
            return
        with self._transaction():
            version = self._meta("format")
            if version is None:
                self._set_meta(format=str(FORMAT))
            elif version == "1":
                self._release_abandoned()
                convert_store(self._db, str(self.path))
            elif version != str(FORMAT):
                raise StoreError(
                    f"{str(self.path)!r} has format {version}; this version of immax reads {FORMAT}"
                )

    def _meta(self, key: str) -> str | None:
        row = self._db.execute("select value from meta where key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    def _set_meta(self, **values: str) -> None:
        self._db.executemany("insert or replace into meta values (?, ?)", values.items())

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("begin immediate")
        try:
            yield
        except BaseException:
            self._db.execute("rollback")
            raise
        self._db.execute("commit")

    def _release_abandoned(self) -> None:
        """Return the cells of workers that have died to the queue."""
        rows = self._db.execute("select id, worker, seen from cells where state = 'running'")
        for identity, worker, seen in rows.fetchall():
            if is_dead(worker, seen):
                self._db.execute("update cells set state = 'waiting' where id = ?", (identity,))

    def close(self) -> None:
        """Close the file."""
        self._db.close()
