"""What is released: the wheel, the source archive, and an environment with the core only."""

import re
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile

import pytest
from source_tree import ROOT

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def run(*command, cwd=None):
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, check=False, cwd=cwd, timeout=900
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def test_the_version_has_one_place():
    assert "version" in PYPROJECT["project"]["dynamic"]
    assert PYPROJECT["tool"]["hatch"]["version"]["path"] == "src/immax/__init__.py"
    conf = (ROOT / "docs" / "conf.py").read_text(encoding="utf-8")
    assert "immax.__version__" in conf


def test_the_metadata_is_complete():
    project = PYPROJECT["project"]
    assert project["requires-python"] == ">=3.11"
    assert project["license-files"] == ["LICENSE"]
    for part in ("Typing :: Typed", "Python :: 3.11", "OS Independent"):
        assert any(part in one for one in project["classifiers"]), part
    extras = set(project["optional-dependencies"])
    assert {"boosting", "cli", "distributed", "docs", "fast", "onnx", "torch"} <= extras


def test_every_extra_has_floors_and_is_pinned():
    pinned = {
        re.split("==", line)[0].lower().replace("_", "-")
        for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
        if "==" in line
    }
    for extra, requirements in PYPROJECT["project"]["optional-dependencies"].items():
        for requirement in requirements:
            if requirement.startswith("immax["):
                continue
            name, floor = re.fullmatch(r"([\w-]+)(?:\[[\w,]+\])?>=([\d.]+)", requirement).groups()
            assert floor
            assert name.lower() in pinned, f"{name} of the extra {extra} has no pin"


def test_floors_are_constraints_that_pip_takes():
    lines = run(sys.executable, ROOT / "tools" / "floors.py").stdout.split()
    assert "scikit-learn==1.6" in lines
    for line in lines:
        assert re.fullmatch(r"[\w-]+(==|<)[\d.]+", line), line  # without extras


@pytest.mark.slow
def test_the_wheel_works_with_the_core_only(tmp_path):
    run(sys.executable, "-m", "build", "--outdir", tmp_path / "dist", ROOT)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    (archive,) = (tmp_path / "dist").glob("*.tar.gz")
    names = zipfile.ZipFile(wheel).namelist()
    assert "immax/py.typed" in names
    assert not [name for name in names if name.startswith(("tests/", "docs/"))]
    with tarfile.open(archive) as sources:
        assert any(name.endswith("/README.md") for name in sources.getnames())
    folder = tmp_path / "empty"
    venv.create(folder, with_pip=True)
    python = folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    constraints = ROOT / "constraints.txt"
    run(python, "-m", "pip", "install", "--quiet", "-c", constraints, wheel)
    listed = run(python, "-m", "pip", "list", "--format=freeze").stdout.lower()
    assert not {"torch", "pandas", "typer"} & {line.split("==")[0] for line in listed.split()}
    example = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)[1]
    printed = run(python, "-W", "error", "-c", example, cwd=tmp_path).stdout
    assert "accuracy" in printed
    command = subprocess.run(
        [str(python), "-m", "immax", "--help"], capture_output=True, text=True, cwd=tmp_path
    )
    assert 'pip install "immax[cli]"' in command.stderr
    assert run(python, "-m", "immax", "--version", cwd=tmp_path).stdout.startswith("immax ")
