"""Which workers are alive."""

import os
import subprocess
import sys
import time

from immax.bench.workers import is_dead, worker_name


def test_this_process_is_alive():
    host, _, pid = worker_name().rpartition(":")
    assert int(pid) == os.getpid()
    assert not is_dead(worker_name(), time.time())
    assert not is_dead(f"{host}:{os.getppid()}", time.time())


def test_a_process_that_has_ended_is_dead():
    host = worker_name().rpartition(":")[0]
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    assert is_dead(f"{host}:{process.pid}", time.time())
    assert is_dead(None, time.time())


def test_a_worker_elsewhere_is_dead_when_it_is_silent():
    assert not is_dead("elsewhere:1", time.time() - 60)
    assert is_dead("elsewhere:1", time.time() - 3600)


def test_no_signal_is_sent_on_windows(monkeypatch):
    def kill(pid, signal):
        raise AssertionError("signal 0 is Ctrl-C on Windows")

    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(os, "kill", kill)
    host = worker_name().rpartition(":")[0]
    other = f"{host}:{os.getppid()}"
    assert not is_dead(worker_name(), time.time() - 3600)
    assert not is_dead(other, time.time() - 60)
    assert is_dead(other, time.time() - 3600)
