"""The tree of commands and its options."""

import subprocess
import sys

import pytest
from commands import immax_here

import immax
from immax.evaluation.candidates import CANDIDATES, DEFAULT
from immax.evaluation.metrics import METRICS

COMMANDS = ("bench", "compare", "explain", "fit", "margins", "predict")


def help_text(tmp_path, *command):
    """The help of a command as one line, without the frames around it."""
    text = immax_here(*command, "--help", cwd=tmp_path, check=0).stdout
    return " ".join(text.replace("│", " ").split())


def test_the_version(tmp_path):
    outcome = immax_here("--version", cwd=tmp_path, check=0)
    assert outcome.stdout == f"immax {immax.__version__}\n"
    assert "Show the version and exit." in help_text(tmp_path)


def test_every_command_is_listed_and_has_help(tmp_path):
    overview = help_text(tmp_path)
    for name in COMMANDS:
        assert f" {name} " in overview
        assert "Usage:" in help_text(tmp_path, name)


def test_every_option_of_a_command_has_help(tmp_path):
    from typer.main import get_command

    from immax.cli.app import app

    group = get_command(app)
    for name in group.list_commands(None):
        if name != "bench":
            params = group.get_command(None, name).params
            missing = [one.name for one in params if not getattr(one, "help", None)]
            assert not missing, (name, missing)


def test_the_help_of_a_comparison_names_all_methods_and_metrics(tmp_path):
    text = help_text(tmp_path, "compare")
    assert ", ".join(CANDIDATES) in text
    assert ", ".join(DEFAULT) in text
    assert ", ".join(METRICS) in text


@pytest.mark.parametrize("arguments", [(), ("bench",)])
def test_without_a_command_the_help_is_shown(tmp_path, arguments):
    outcome = immax_here(*arguments, cwd=tmp_path, check=2)
    assert "Usage:" in outcome.stdout + outcome.stderr


def test_modules_import_where_the_system_has_no_resource_fcntl_and_alarms():
    """As on Windows."""
    script = """
import sys, signal, pkgutil, importlib
sys.modules["resource"] = sys.modules["fcntl"] = None
for name in ("SIGALRM", "setitimer", "ITIMER_REAL"):
    delattr(signal, name)
import immax.cli, immax.compare, immax.evaluation
for package in (immax.cli, immax.compare, immax.evaluation):
    for module in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
        importlib.import_module(module.name)
        print(module.name)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "immax.cli.app" in done.stdout.split()
    assert "immax.compare.time_limit" in done.stdout.split()
