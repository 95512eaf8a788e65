"""The command ``immax``: as a process of its own, or within this one, which is much quicker."""

import contextlib
import os
import subprocess
import sys
from types import SimpleNamespace


def immax(*arguments, cwd, check=None):
    """In a process of its own."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "100"}
    found = subprocess.run(
        [sys.executable, "-m", "immax", *map(str, arguments)],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    if check is not None:
        assert found.returncode == check, found.stderr
    return found


def start_immax(*arguments, cwd):
    """In a process of its own that can be interrupted; return the process.

    Shells let processes in the background ignore the signal, and their children inherit that.
    """
    script = (
        "import runpy, signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "runpy.run_module('immax', run_name='__main__', alter_sys=True)"
    )
    return subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def immax_here(*arguments, cwd, check=None):
    """Within this process: the same code from the first argument on."""
    from typer.testing import CliRunner

    from immax.cli.app import app

    with contextlib.chdir(cwd):
        found = CliRunner(env={"COLUMNS": "100"}).invoke(app, [*map(str, arguments)])
    assert found.exception is None or isinstance(found.exception, SystemExit), found.exception
    if check is not None:
        assert found.exit_code == check, found.output
    return SimpleNamespace(returncode=found.exit_code, stdout=found.stdout, stderr=found.stderr)
