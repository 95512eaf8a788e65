"""The entry point of the command."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from commands import immax

import immax as package
from immax import helper_processes
from immax.cli import entry_point
from immax.threads import available_cores

ROOT = Path(__file__).parents[2]


def test_the_script_and_the_module_are_the_same_command(tmp_path):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["scripts"] == {"immax": "immax.cli.entry_point:main"}
    assert callable(entry_point.main)
    assert immax("--version", cwd=tmp_path, check=0).stdout == f"immax {package.__version__}\n"


def test_without_typer_the_command_names_the_extra():
    script = (
        "import sys; sys.modules['typer'] = None\nfrom immax.cli.entry_point import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 1
    assert 'pip install "immax[cli]"' in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "starts"),
    [
        (["compare", "data.csv", "--target", "y"], True),
        (["compare", "--help"], False),
        (["compare", "data.csv", "--jobs=1"], False),
        (["fit", "data.csv", "--target", "y"], False),
        ([], False),
    ],
)
def test_comparisons_have_their_processes_from_the_start(monkeypatch, arguments, starts):
    started = []
    monkeypatch.setattr(helper_processes, "start_ahead", lambda *given: started.append(given))
    entry_point._start_workers(arguments)
    assert started == ([("immax.compare.worker", available_cores() - 1)] if starts else [])
