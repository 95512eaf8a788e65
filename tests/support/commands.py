"""The command ``immax``, run for real."""

import os
import subprocess
import sys


def immax(*arguments, cwd, check=None):
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
