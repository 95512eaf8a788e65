"""The description of the environment."""

import platform
import subprocess
import sys
from importlib.metadata import version

import numpy as np

from immax.evaluation.environment import (
    available_memory,
    describe_environment,
    peak_memory,
)


def test_versions_are_those_of_the_running_interpreter():
    environment = describe_environment()
    assert environment["python"] == platform.python_version()
    assert environment["numpy"] == np.__version__
    assert environment["scikit-learn"] == version("scikit-learn")
    assert all(isinstance(value, str) and value for value in environment.values())


def test_libraries_that_are_not_installed_are_missing(monkeypatch):
    monkeypatch.setattr("immax.evaluation.environment.LIBRARIES", ("numpy", "no-such-library"))
    environment = describe_environment()
    assert "numpy" in environment
    assert "no-such-library" not in environment


def test_peak_memory_is_in_mebibytes():
    script = (
        "from immax.evaluation.environment import peak_memory\n"
        "import numpy as np\n"
        "block = np.ones(2**25); print(peak_memory())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    # At least the 256 MiB of the block; a child may inherit the peak of the process of the tests.
    assert 256 < float(done.stdout) < 16_384


def test_peak_memory_is_unknown_on_windows(monkeypatch):
    monkeypatch.setitem(sys.modules, "resource", None)
    assert peak_memory() is None
    assert available_memory() is None


def test_a_limited_address_space_is_respected():
    script = (
        "import resource\n"
        "from immax.evaluation.environment import available_memory\n"
        "free = available_memory(); resource.setrlimit(resource.RLIMIT_AS, (2**31, 2**31))\n"
        "print(free, available_memory())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    free, limited = map(int, done.stdout.split())
    assert free > 2**26
    assert limited <= 2**31
