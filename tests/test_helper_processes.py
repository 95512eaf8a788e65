"""Processes that are started before their work is known."""

import subprocess
import sys
import time

import pytest

from immax import helper_processes
from immax.helper_processes import (
    is_started_ahead,
    obtain_process,
    start_ahead,
    stop_process,
    stop_waiting,
)

MODULE = "json.tool"  # answers when its input ends


@pytest.fixture(autouse=True)
def nothing_left(monkeypatch):
    monkeypatch.setattr(helper_processes, "_ahead", {})
    yield
    stop_waiting()


def test_what_was_started_ahead_is_obtained_first():
    assert not is_started_ahead(MODULE)
    start_ahead(MODULE, 1)
    assert is_started_ahead(MODULE)
    assert not is_started_ahead("another")
    first, second = obtain_process(MODULE), obtain_process(MODULE)
    assert not is_started_ahead(MODULE)
    try:
        for process in (first, second):
            assert process.communicate(b"[1]", timeout=60)[0].split() == [b"[", b"1", b"]"]
    finally:
        for process in (first, second):
            stop_process(process)


def test_processes_that_are_not_needed_after_all_are_stopped():
    start_ahead(MODULE, 1)
    process = helper_processes._ahead[MODULE][0]
    stop_waiting()
    assert not is_started_ahead(MODULE)
    assert process.returncode is not None


def test_what_nobody_has_obtained_ends_with_the_process(tmp_path):
    (tmp_path / "sleeper.py").write_text("import time; time.sleep(600)")
    script = (
        "from immax.helper_processes import _ahead, start_ahead; start_ahead('sleeper', 1); "
        "print(_ahead['sleeper'][0].pid)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    for _ in range(100):
        if subprocess.run(["kill", "-0", done.stdout.strip()], capture_output=True).returncode:
            return
        time.sleep(0.05)
    pytest.fail("the process goes on")


def test_it_has_one_thread_for_each_library_and_a_session_of_its_own(tmp_path, monkeypatch):
    """So that Ctrl-C reaches this process alone."""
    (tmp_path / "settings.py").write_text(
        "import os; print(os.environ['OMP_NUM_THREADS'], os.getsid(0))"
    )
    monkeypatch.syspath_prepend(tmp_path)
    process = obtain_process("settings")
    try:
        assert process.communicate(timeout=60)[0].split() == [b"1", str(process.pid).encode()]
    finally:
        stop_process(process)
