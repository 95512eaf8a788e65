"""Libraries that the cells of a plan need."""

import sys
import tomllib

import pytest

from immax.bench.plan_file import parse_plan
from immax.bench.requirements import check_libraries, needed_modules

NETWORKS = """
name = "n"
title = "Networks"
models = ["resnet8"]
methods = ["ce"]
[data]
names = ["made_up_images"]
[imbalance]
kind = "step"
ratios = [10]
[training]
epochs = 1
"""
LINEAR = """
name = "l"
title = "Linear models and trees"
models = ["linear"]
methods = ["logistic", "smote"]
[data]
names = ["made_up_images"]
[imbalance]
kind = "step"
ratios = [10]
"""


def modules(text):
    return {
        name for cell in parse_plan(tomllib.loads(text)).cells() for name in needed_modules(cell)
    }


def test_what_cells_need():
    assert modules(NETWORKS) == {"torch", "safetensors"}
    assert modules(LINEAR) == {"imblearn"}
    assert modules(LINEAR.replace('["logistic", "smote"]', '["logistic"]')) == set()


def test_what_is_missing_is_named_before_any_cell_is_run(monkeypatch):
    cells = list(parse_plan(tomllib.loads(LINEAR)).cells())
    check_libraries(cells)
    monkeypatch.setitem(sys.modules, "imblearn", None)
    with pytest.raises(ImportError, match=r'not installed: imbalanced-learn: pip install "immax\['):
        check_libraries(cells)
