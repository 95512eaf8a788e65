"""Ctrl-C while the command starts."""

import signal
import subprocess
import sys

import pytest

from immax.cli.interrupts import INTERRUPTED, exit_when_interrupted, raise_when_interrupted

# Sends Ctrl-C to itself when a module is imported for the first time. Shells let processes in the
# background ignore Ctrl-C.
SCRIPT = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
module = sys.argv[1]
sys.argv = ["immax", "margins", "3", "2"]
class Interruption:
    def find_spec(self, name, path=None, target=None):
        if name == module:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interruption())
from immax.cli.entry_point import main
main()
"""


@pytest.mark.parametrize("module", ["typer", "immax.cli.app", "immax.cli.prescribed_margins"])
def test_an_interruption_of_an_import_is_one_line(module):
    done = subprocess.run([sys.executable, "-c", SCRIPT, module], capture_output=True, text=True)
    assert done.returncode == INTERRUPTED, done.stderr
    assert done.stderr == "immax: interrupted\n"
    assert done.stdout == ""


def test_a_command_is_interrupted_by_an_exception():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        exit_when_interrupted()
        raise_when_interrupted()
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        exit_when_interrupted()  # a process in the background ignores it
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
