"""The cache of converted data."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from immax.datasets import cache_dir
from immax.datasets.cache import ABANDONED, converted


def test_where_the_cache_is(tmp_path, monkeypatch):
    monkeypatch.setenv("IMMAX_CACHE", str(tmp_path))
    assert cache_dir() == tmp_path
    monkeypatch.setenv("IMMAX_CACHE", "~/elsewhere")
    assert cache_dir() == Path.home() / "elsewhere"
    monkeypatch.delenv("IMMAX_CACHE")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_dir() == tmp_path / "xdg" / "immax"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_dir() == Path.home() / ".cache" / "immax"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert cache_dir() == Path.home() / "Library" / "Caches" / "immax"
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert cache_dir() == tmp_path / "local" / "immax"


@pytest.fixture
def source(tmp_path, monkeypatch):
    monkeypatch.setenv("IMMAX_CACHE", str(tmp_path / "cache"))
    source = tmp_path / "source"
    source.write_text("some")
    return source


def test_a_conversion_that_fails_is_tried_again(source):
    def fail(folder):
        (folder / "half").write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        converted("data", [source], fail)
    folder = converted("data", [source], lambda to: (to / "whole").touch())
    assert os.listdir(folder) == ["whole"]
    assert folder == converted("data", [source], fail)
    source.write_text("other")
    assert folder != converted("data", [source], lambda to: None)


def test_of_two_at_once_one_is_kept(source):
    def slow(to):
        converted("data", [source], lambda to: (to / "quick").touch())
        (to / "slow").touch()

    folder = converted("data", [source], slow)
    assert os.listdir(folder) == ["quick"]
    assert os.listdir(folder.parent) == [folder.name]


def test_a_killed_conversion_is_not_taken_for_a_whole_one(source):
    script = (
        "import os, sys; from pathlib import Path; from immax.datasets.cache import converted\n"
        "def die(folder):\n"
        "    (folder / 'half').touch()\n"
        "    os._exit(9)\n"
        "converted('data', [Path(sys.argv[1])], die)"
    )
    assert subprocess.run([sys.executable, "-c", script, str(source)]).returncode == 9
    (left,) = (cache_dir() / "converted").iterdir()
    folder = converted("data", [source], lambda to: (to / "whole").touch())
    assert os.listdir(folder) == ["whole"]
    assert left.exists()
    os.utime(left, (0, left.stat().st_mtime - 2 * ABANDONED))
    source.write_text("other")
    converted("data", [source], lambda to: None)
    assert not left.exists()
