"""The versions that docs/integrations.md names are those that are tested."""

import re
import sys
import tomllib

import pytest
from source_tree import ROOT

# Packages of the rows whose first cell is not the name of one package.
PACKAGES = {
    "pandas, polars, pyarrow": ["pandas", "polars", "pyarrow"],
    "SciPy sparse arrays and matrices": ["scipy"],
    "ONNX": ["onnx", "onnxruntime"],
    "PyTorch": ["torch"],
    "XGBoost, LightGBM, CatBoost": ["xgboost", "lightgbm", "catboost"],
}
NOT_PINNED = {"Python", "Hugging Face", "MLflow"}  # they are not part of `make test`
NEEDED = {"Python", "NumPy", "Numba", "skops", "scikit-learn"}
VERSION = r"\d+(?:\.\d+)+"


def _rows():
    page = (ROOT / "docs" / "integrations.md").read_text(encoding="utf-8")
    table = page.split("| library |")[1].split("\n\n")[0]
    for line in table.splitlines()[2:]:
        name, _, tested = (cell.strip() for cell in line.strip("|").split(" | "))
        yield re.sub(r"\[([^]]+)\]\([^)]*\)", r"\1", name), tested


ROWS = dict(_rows())
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def _pins():
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pairs = [line.split("==") for line in lines if "==" in line]
    return {name.strip().lower(): version.strip() for name, version in pairs}


def _floors():
    extras = PROJECT["optional-dependencies"].values()
    for requirement in (*PROJECT["dependencies"], *(one for extra in extras for one in extra)):
        match = re.fullmatch(rf"([\w.-]+)(?:\[.*\])?>=({VERSION})", requirement)
        if match:
            yield match[1].lower(), match[2]


def test_the_table_has_the_libraries_that_everything_needs():
    assert set(ROWS) >= NEEDED


@pytest.mark.parametrize("row", [row for row in ROWS if row not in NOT_PINNED])
def test_tested_versions_are_those_of_the_constraints(row):
    tested, _, floor = ROWS[row].partition(";")
    packages = PACKAGES.get(row, [row.lower()])
    assert re.findall(VERSION, tested) == [_pins()[name] for name in packages]
    for version in re.findall(rf"floor ({VERSION})", floor):
        assert f"{version}.".startswith(f"{dict(_floors())[packages[0]]}.")


def test_classifiers_name_the_versions_of_python_that_are_tested():
    prefix = "Programming Language :: Python :: 3."
    named = [one[len(prefix) - 2 :] for one in PROJECT["classifiers"] if one.startswith(prefix)]
    minors = {".".join(version.split(".")[:2]) for version in re.findall(VERSION, ROWS["Python"])}
    assert set(named) == minors
    assert f">={min(named)}" == PROJECT["requires-python"]
    assert sys.version_info >= (3, 11)
