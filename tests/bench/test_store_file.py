"""The SQLite files of stores: what they are, and what is refused."""

import sqlite3

import pytest

from immax.bench.store_file import StoreFile
from immax.bench.store_format import FORMAT, StoreError


@pytest.fixture
def path(tmp_path):
    return tmp_path / "results.db"


def test_what_is_not_a_results_file(path):
    with pytest.raises(StoreError, match="there are no results"):
        StoreFile(path, must_have_results=True)
    path.write_bytes(b"not a database at all, but long enough to be read as one" * 20)
    with pytest.raises(StoreError, match="is not a results file"):
        StoreFile(path, must_have_results=True)
    path.write_bytes(b"")
    with pytest.raises(StoreError, match="is not a results file: it has no plan"):
        StoreFile(path, must_have_results=True)
    assert path.read_bytes() == b""
    with sqlite3.connect(path) as db:
        db.execute("create table songs (title text)")
    before = path.read_bytes()
    for must_have_results in (True, False):
        with pytest.raises(StoreError, match="is not a results file: it has other tables"):
            StoreFile(path, must_have_results)
    assert path.read_bytes() == before


def test_files_have_the_present_format(path):
    StoreFile(path, must_have_results=False).close()
    with sqlite3.connect(path) as db:
        assert db.execute("select value from meta where key = 'format'").fetchone() == (
            str(FORMAT),
        )
        db.execute("update meta set value = '99' where key = 'format'")
        db.execute("insert into meta values ('plan', 'other')")
    db.close()
    with pytest.raises(StoreError, match=f"has format 99; this version of immax reads {FORMAT}"):
        StoreFile(path, must_have_results=True)
