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
